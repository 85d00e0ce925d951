# SPDX-License-Identifier: BSD-3-Clause
"""Captured typing into a real shell on a pty of this machine."""

import os
import selectors
import signal
import time

import pytest

from linklab.agent.terminal import RC, TerminalError, TypedText, start_shell


class Typist:
    """Types into a shell and waits, as the agent does."""

    def __init__(self, tmp_path):
        rc = tmp_path / "rc"
        rc.write_text(RC)
        env = {"PATH": os.environ["PATH"], "LINKLAB_RC": str(rc), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.terminal = start_shell("h1", [], env, str(tmp_path))
        self.wait(lambda: self.terminal.ready)

    def wait(self, done, seconds=10):
        """Read until `done()`."""
        poll = selectors.DefaultSelector()
        poll.register(self.terminal.master, selectors.EVENT_READ)
        end = time.monotonic() + seconds
        while not done():
            assert poll.select(end - time.monotonic()), f"nothing within {seconds} s; seen {self.terminal.tail!r}"
            if self.terminal.read(time.monotonic()) is None:
                return

    def type(self, text, kind="prompt", **finish):
        """Start a job."""
        job = TypedText(text, {"kind": kind, **finish}, time.monotonic(), text.split("\n"))
        self.terminal.job = None
        self.terminal.type(job)
        return job

    def run(self, text, kind="prompt", **finish):
        """Type and wait for the end."""
        job = self.type(text, kind, **finish)
        self.wait(lambda: job.end_s is not None)
        return job


@pytest.fixture
def typist(tmp_path):
    """A shell that is ended afterwards."""
    typist = Typist(tmp_path)
    yield typist
    os.close(typist.terminal.master)
    os.kill(typist.terminal.pid, signal.SIGKILL)
    os.waitpid(typist.terminal.pid, 0)


def test_a_command_gives_its_output_and_status_without_echo_or_prompt(typist):
    """What the student sees below the command, and nothing else."""
    job = typist.run("echo hello; echo there >&2; false")
    assert (job.output, job.exit_status) == ("hello\nthere\n", 1)


def test_lines_are_typed_one_after_the_other(typist):
    """The second line waits for the first to end; the status is the last one's."""
    job = typist.run("sleep 0.2; echo first\necho second; (exit 3)")
    assert (job.output, job.exit_status) == ("first\nsecond\n", 3)


def test_a_command_over_several_lines_is_one_command(typist):
    """A loop, a continued line and a here document are typed through to their end."""
    job = typist.run("for i in 1 2; do\n  echo $i\ndone\necho a \\\n  b\ncat <<E\nx\nE")
    assert (job.output, job.exit_status) == ("1\n2\na b\nx\n", 0)


def test_the_shell_is_kept_with_its_folder_and_variables(typist):
    """`cd` and variables last from step to step."""
    typist.run("mkdir deep && cd deep && X=7")
    assert typist.run("basename $PWD; echo $X").output == "deep\n7\n"


def test_ctrl_c_ends_a_command_with_status_130(typist):
    """As it does for a person."""
    job = typist.type("sleep 60")
    time.sleep(0.2)
    typist.terminal.interrupt()
    typist.wait(lambda: job.end_s is not None)
    assert job.exit_status == 130


def test_output_that_looks_like_a_prompt_is_output(typist):
    """Only the marker of our shell ends a command."""
    job = typist.run("echo 'root@h1:~# '; echo 'mininet> '")
    assert job.output == "root@h1:~# \nmininet> \n"


def test_a_program_with_its_own_prompt_is_finished_when_it_shows_it(typist):
    """`shows` waits for a pattern; the next text goes to that program."""
    job = typist.run("python3 -q -c 'print(input(\"ask> \"))'", "shows", pattern="ask> $")
    assert typist.terminal.asks
    assert job.output.endswith("ask> ")
    assert typist.run("answer").output.endswith("answer\n")


def test_characters_split_between_reads_stay_whole(typist):
    """UTF-8 is decoded over the borders of reads."""
    job = typist.run("printf '\\342\\202'; sleep 0.2; printf '\\254\\n'")
    assert job.output == "€\n"


def test_typing_where_something_runs_is_refused(typist):
    """The sentence names what runs there."""
    typist.type("sleep 60")
    with pytest.raises(TerminalError, match='terminal h1: "sleep 60" is still running there'):
        typist.terminal.type(TypedText("ls", {"kind": "prompt"}, 0.0, ["ls"]))
    typist.terminal.interrupt()


def test_a_line_that_the_terminal_would_cut_is_refused(typist):
    """4095 bytes with its Enter come through whole, more do not; regression: the end of such a line was lost."""
    assert typist.run("echo " + "x" * 4000).output == "x" * 4000 + "\n"
    assert typist.run("echo " + "x" * 4089).output == "x" * 4089 + "\n"
    with pytest.raises(TerminalError, match="terminal h1: a line of 4096 bytes cannot be typed"):
        typist.run("echo " + "x" * 4090)
    assert typist.run("echo still here").output == "still here\n"


def test_colours_are_taken_out(typist):
    """Programs that colour their output on a terminal are captured as plain text."""
    job = typist.run(r"printf '\033[1;39m[\033[0;32m\"end\"\033[0m]\n\033[31mred'; sleep 0.1; printf '\033[0m\n'")
    assert job.output == '["end"]\nred\n'


def test_echo_that_a_program_left_on_is_turned_off(typist):
    """What is typed after such a program is no output."""
    typist.run("stty echo")
    assert typist.run("echo quiet").output == "quiet\n"


def test_interrupted_command_at_a_prompt_of_its_own(typist):
    """Ctrl+C ends a command of a program that shows its own prompt again, not the shell's."""
    typist.run("exec python3 -ic \"import sys; sys.ps1 = 'mn> '\" 2>&1", kind="shows", pattern=r"mn> \Z")
    job = typist.type("import time; time.sleep(30)", kind="after", seconds=0.2, pattern=r"mn> \Z")
    time.sleep(0.3)
    job.interrupted = True
    typist.terminal.interrupt()
    typist.wait(lambda: job.end_s is not None)
    assert "KeyboardInterrupt" in job.output
