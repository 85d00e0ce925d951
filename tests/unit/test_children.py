# SPDX-License-Identifier: BSD-3-Clause
"""What a forked child does ends with it, whatever happens."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "linklab"


@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        ("print('done', flush=True)", 0, ""),
        ("children.become(['false'], os.environ)", 1, ""),
        ("os.chdir('/no/such')", 126, "linklab: /no/such: No such file or directory\n"),
        ("children.become(['no-such'], os.environ)", 126, "linklab: no-such: No such file or directory\n"),
        ("int('x')", 126, "linklab: ValueError: invalid literal for int() with base 10: 'x'\n"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("os.kill(os.getpid(), signal.SIGINT)", 126, "linklab: KeyboardInterrupt: \n"),
    ],
)
def test_a_child_ends_as_itself(work, status, said):
    """With its reason on standard error; what the parent would do next is never reached."""
    program = f"""
import os, signal, sys
from linklab.linux import children
child = os.fork()
try:
    if child == 0:
        children.live(lambda: {work})
except BaseException:
    print("a second parent", flush=True)
finally:
    if child == 0:
        print("a second parent", flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (status, said)
    assert "a second parent" not in done.stdout


ENDS = ("children.live(", "_as_copy(")
"""The child's part, which never returns; `_as_copy` is `linklab.base.fork_server`'s."""
FORKS = ("os.fork()", "fork_on_pty()", "_fork_with_high_id()")


def forks():
    """(file, line, whether what follows is `if it is the child: …; ENDS`) of every fork in the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for block in ast.walk(ast.parse(file.read_text())):
            for statements in (getattr(block, "body", None), getattr(block, "orelse", None)):
                if not isinstance(statements, list):
                    continue
                for at, statement in enumerate(statements):
                    if isinstance(statement, ast.Assign) and ast.unparse(statement.value) in FORKS:
                        then = statements[at + 1]
                        last = ast.unparse(then.body[-1]) if isinstance(then, ast.If) else ""
                        yield file.relative_to(PACKAGE), statement.lineno, last.startswith(ENDS)


def test_every_fork_is_followed_by_a_child_that_cannot_become_a_second_parent():
    """Each of them; one that is written otherwise is not counted, and so noticed too."""
    found = list(forks())
    assert [(str(file), line) for file, line, guarded in found if not guarded] == []
    texts = [file.read_text() for file in PACKAGE.rglob("*.py")]
    named = sum(text.count(f"{fork}\n") for text in texts for fork in FORKS)
    assert (len(found), named) == (10, 11)
    assert sum(text.count("return os.fork()\n") for text in texts) == 1  # in _fork_with_high_id, which is followed
    assert sum(text.count("pty.fork()\n") for text in texts) == 1  # in fork_on_pty
