# SPDX-License-Identifier: BSD-3-Clause
import errno
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest

from linklab import __version__, cli
from linklab.errors import BootError, InputError, MissingError

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def command(monkeypatch):
    """Registers a command "try" whose `run` is what the test gives."""

    def register(run):
        module = types.ModuleType("linklab.commands.try_")
        module.add_parser = lambda subparsers, summary: subparsers.add_parser("try", help=summary)
        module.run = run
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(cli.COMMANDS, "try", (module.__name__, "only here"))

    return register


def raising(error):
    """A `run` that fails."""

    def run(args):
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("lab.mn: no"), 2), (BootError("kernel: no"), 3), (MissingError("iperf3: no"), 4)],
)
def test_an_error_is_one_line_and_its_exit_code(command, capsys, error, code):
    """Nobody sees a traceback for a wrong file, a dead kernel or a missing tool."""
    command(raising(error))
    assert cli.main(["try"]) == code
    assert capsys.readouterr() == ("", f"linklab: {error}\n")


def test_an_error_of_several_lines_becomes_one(command, capsys):
    """What a tool printed may hold newlines; the terminal gets one line."""
    command(raising(InputError("first\n  second")))
    cli.main(["try"])
    assert capsys.readouterr().err == "linklab: first second\n"


def test_ctrl_c_gives_130(command, capsys):
    """As the shell does for a program that died of SIGINT, and without a traceback."""
    command(raising(KeyboardInterrupt()))
    assert cli.main(["try"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_bug_is_not_hidden(command):
    """An error of another kind keeps its traceback."""
    command(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        cli.main(["try"])


def test_a_commands_code_is_the_exit_code(command):
    """0 and 1 are the command's own to give."""
    command(lambda args: 1)
    assert cli.main(["try"]) == 1


def test_help_lists_every_command_and_exit_code(capsys):
    """The top level knows all commands without importing one."""
    with pytest.raises(SystemExit) as exited:
        cli.main(["--help"])
    assert exited.value.code == 0
    text = capsys.readouterr().out
    words = " ".join(text.split())  # a long summary is wrapped
    assert all(f"\n    {name} " in text and summary in words for name, (_, summary) in cli.COMMANDS.items())
    assert all(f"\n  {code} " in text for code in (0, 1, 2, 3, 4, 130))


def test_the_version_is_the_packages(capsys):
    """`linklab --version` needs no command."""
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"linklab {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_an_unknown_command_is_an_input_error(arguments, capsys):
    """With argparse's usage line and exit code 2."""
    with pytest.raises(SystemExit) as exited:
        cli.main(arguments)
    assert exited.value.code == 2
    assert "usage: linklab" in capsys.readouterr().err


def test_a_command_without_module_says_so(monkeypatch, capsys):
    """A command that this version lacks is an input error, while a fault inside a module stays visible."""
    monkeypatch.setitem(cli.COMMANDS, "later", ("linklab.commands.later", "not yet"))
    assert cli.main(["later"]) == 2
    assert capsys.readouterr().err == 'linklab: the command "later" is not part of this version of Linklab\n'


def test_a_reader_that_leaves_early_is_no_error():
    """`linklab --help | head -1` ends quietly."""
    command = f"{sys.executable} -m linklab doctor --json | true"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def shell(line):
    """Run a line in bash, where `linklab` is this one; what it says on standard error, and its exit codes."""
    done = subprocess.run(
        ["/bin/bash", "-c", f'linklab() {{ {sys.executable} -m linklab "$@"; }}; {line}; echo "${{PIPESTATUS[@]}}"'],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stderr, done.stdout.split()


@pytest.mark.parametrize("command", ["--help", "labs", "set-env 14"])
def test_a_command_that_only_prints_ends_with_its_reader(command):
    """With the code that the shell gives for SIGPIPE; regression: `linklab labs | true` gave 1."""
    assert shell(f"linklab {command} | true") == ("", ["141", "0"])


def test_nobody_has_to_read_a_complaint():
    """Regression: a traceback of the complaint that could not be told."""
    assert shell("linklab run 99 2>&1 | true") == ("", ["2", "0"])


@pytest.mark.parametrize("streams", [">&-", "<&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error(streams):
    """Regression: without a standard output, a traceback."""
    assert shell(f"linklab set-env 14 {streams} | cat > /dev/null") == ("", ["0", "0"])


def test_a_working_directory_that_is_gone_is_named():
    """Regression: "No such file or directory", of nothing."""
    with tempfile.TemporaryDirectory() as name:
        gone = f"{name}/gone"
        said, codes = shell(f"mkdir {gone}; cd {gone}; rmdir {gone}; export PYTHONPATH={REPOSITORY}; linklab labs")
    assert said == f"linklab: {gone}: this working directory has been deleted; go to another one with cd\n"
    assert codes == ["2"]


def test_output_that_finds_no_room_is_one_line():
    """Regression: a second complaint, when the program ended, and the exit code 120."""
    assert shell("linklab labs > /dev/full") == ("linklab: No space left on device\n", ["4"])


def test_starting_imports_no_library_but_argparse():
    """Start-up stays fast because a command's module is imported when it is asked for."""
    program = "import sys, linklab.cli as c; c.build_parser(None); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "rich",
        "matplotlib",
        "numpy",
        "jinja2",
        "markdown_it",
        "linklab.topology",
        "linklab.doctor.machine",
    }


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/x/run.json"), 2, "/x/run.json: Permission denied"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "out"), 2, "out: No such file or directory"),
        (OSError(errno.ENOSPC, "No space left on device", "/x/run.json"), 4, "/x/run.json: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), 4, "No space left on device"),
        (OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b"), 2, "a -> b: Invalid cross-device link"),
        (OSError("no reason"), 2, "no reason"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(command, capsys, error, code, says):
    """A full disk, a folder that has gone, a file of somebody else; regression: a traceback."""
    command(raising(error))
    assert cli.main(["try"]) == code
    assert capsys.readouterr() == ("", f"linklab: {says}\n")


def test_ctrl_c_while_a_command_is_read_says_so(command, capsys, monkeypatch):
    """A command says itself what it leaves; before it runs there is nothing."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    command(stopped)
    assert (cli.main(["try"]), capsys.readouterr().err) == (130, "")
    monkeypatch.setattr(sys.modules["linklab.commands.try_"], "add_parser", stopped)
    assert cli.main(["try"]) == 130
    assert capsys.readouterr().err == "linklab: stopped with Ctrl+C before anything had begun\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-H", "h2"], "linklab test run has no -H; here it is --to, such as --to h2"),
        (["--data-dir=data"], "linklab test run has no --data-dir; here it is -o with a folder, such as -o data"),
        (["--nonsense"], "linklab test run: unrecognized arguments: --nonsense; linklab test run --help lists"),
    ],
)
def test_an_option_that_a_command_lacks_is_one_line(words, said, capsys):
    """With what Flent's is here, and not the usage of the whole program."""
    assert cli.main(["test", "run", "tcp_1up", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("words", [["-l", "0"], ["-l", "abc"], ["--seed", "x"], ["--clock", "none"]])
def test_a_value_that_cannot_be_is_one_line(words, capsys):
    """Without ten lines of usage before it."""
    with pytest.raises(SystemExit) as exited:
        cli.main(["test", "run", "tcp_1up", *words])
    assert exited.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("linklab test run: ")
    assert told.count("\n") == 1
