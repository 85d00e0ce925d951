# SPDX-License-Identifier: BSD-3-Clause
"""`linklab shell` and `linklab attach` as a person uses them: through a terminal of their own."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl

import pytest
from pockets import TOPOLOGY, alive, group_of, needs_pocket

from linklab.exercise.terminals import last_network, parse_log, work_script
from linklab.guide.session import read_steps

pytestmark = needs_pocket

LINKLAB = [sys.executable, "-m", "linklab"]


class Person:
    """Somebody at a terminal in which a command runs; reads until something shows, with a deadline."""

    def __init__(self, *argv: str, cwd, env):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                kept = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
                os.execvpe(LINKLAB[0], [*LINKLAB, *argv], {**kept, "TERM": "xterm-256color", **env})
            finally:
                os._exit(126)
        self.size(30, 100)
        self.settings = termios.tcgetattr(self.terminal)
        self.seen = ""

    def size(self, rows, columns):
        """Another size of the window."""
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def types(self, text):
        """Keys."""
        self.seen = ""
        self.presses(text)

    def presses(self, text):
        """Keys; what has shown so far counts as well."""
        os.write(self.terminal, text.encode())

    def sees(self, pattern, within_s=20.0):
        """What shows since the last keys, as soon as the pattern is in it."""
        deadline = time.monotonic() + within_s
        while not re.search(pattern, self.seen):
            left = deadline - time.monotonic()
            assert left > 0, f"{pattern!r} does not show in {self.seen!r}"
            if select.select([self.terminal], [], [], left)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"{pattern!r} did not show before the end of {self.seen!r}") from None
        return self.seen

    def ends(self, within_s=10.0):
        """The exit status; what still shows is read meanwhile."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            while select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
            if done:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"still running; it showed {self.seen!r}")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder, and sockets of our own."""
    (tmp_path / "work").mkdir()
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    people = []

    def person(*argv, cwd=tmp_path / "work"):
        env = {"XDG_RUNTIME_DIR": str(runtime), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
        people.append(Person(*argv, cwd=cwd, env=env))
        return people[-1]

    yield person
    for one in people:
        try:
            os.kill(one.pid, signal.SIGKILL)
            os.waitpid(one.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(one.terminal)


def shell(place, *options):
    """A person at the Mininet CLI of Lab 8."""
    person = place("shell", str(TOPOLOGY), *options)
    person.sees(r"mininet> $", 40)
    return person


def test_the_cli_forwards_keys_signals_and_the_exit(place):
    """Output, Ctrl+C, the clock's words, exit; the terminal's settings come back."""
    person = shell(place)
    person.types("h1 ping h2\r")
    person.sees("icmp_seq=2")
    person.types("\x03")
    person.sees(r"0% packet loss[^>]*mininet> $")
    person.types("clock\r")
    person.sees(r"network time [\d.]+ s, 1x")
    person.types("clock sped 3\r")
    person.sees("not understood; use clock")
    person.types("xterm h1\r")
    person.sees("no display: use `linklab attach h1")
    pids = group_of(person.pid)
    person.types("exit\r")
    assert person.ends() == 0
    assert termios.tcgetattr(person.terminal)[3] == person.settings[3]
    assert not alive(pids)


@pytest.mark.parametrize("command", ["sleep 1000", "sh -c 'while :; do :; done'"])
def test_ctrl_c_at_the_prompt_ends_what_a_node_runs(place, command):
    """Regression: the nodes' shells ignored SIGINT, so only programs with a handler of their own, as ping, ended."""
    person = shell(place)
    person.types(f"h1 {command}\r")
    time.sleep(1)
    person.types("\x03")
    person.sees(r"\^C[^>]*mininet> $", 20)
    person.types("h1 echo $((6*7))\r")
    person.sees(r"42\s+mininet> $")


def test_paused_time_is_resumed_from_the_terminal(place):
    """The CLI cannot run while time stands still: r, s and Ctrl+] are heard outside; other keys wait."""
    person = shell(place)
    person.types("clock pause\r")
    person.sees("paused.*r resumes")
    person.types("s")
    person.sees(r"network time [\d.]+ s, paused")
    person.types("h1 pwd\r")
    time.sleep(0.5)
    assert "/lab" not in person.sees(r".*")
    person.types("r")
    person.sees("1x")
    person.sees("/lab")
    person.types("clock pause\r")
    person.sees("paused.*r resumes")
    for key in "clock resume":
        person.presses(key)
        time.sleep(0.02)
    assert "1x" not in person.sees("clock resume$")
    person.presses("\r")
    # The line of the clock and what the CLI prints come by two ways, in either order; the CLI may have had its answer
    # in what it was still allowed to run when time was stopped.
    shown = person.sees(r"(?s)\A(?=.*, 1x)(?=.*time was stopped at [\d.]+ s).*mininet> ")
    assert shown.count(", paused") == 1
    person.types("\x1d")
    person.sees("clock>")
    person.types("speed max\r")
    person.sees("as fast as it goes")
    person.types("\x1dspeed 1\r")
    person.types("\x1dquit\r")
    assert person.ends() == 0


def test_attach_has_size_colours_ctrl_c_and_exit_status(place):
    """Two terminals on nodes of a running network; both end with it."""
    main = shell(place)
    h1 = place("attach", "h1")
    h1.sees("root@h1:")
    h1.types("stty size; tput colors; echo $LINKLAB_NODE\r")
    h1.sees(r"30 100\s+256\s+h1")
    h1.size(40, 90)
    os.kill(h1.pid, signal.SIGWINCH)
    time.sleep(0.3)
    h1.types("stty size\r")
    h1.sees("40 90")
    h1.types("sleep 100\r")
    time.sleep(0.3)
    h1.types("\x03")
    h1.sees(r"root@h1:\S* $")
    h1.types("sleep 100 & exit 7\r")
    assert h1.ends() == 7
    again = place("attach", "h1")
    again.sees("root@h1:")
    listed = place("attach", "--list")
    assert listed.ends() == 0
    assert "terminals: client h1 h2" in listed.seen
    wrong = place("attach", "h9")
    assert wrong.ends() == 2
    assert "h9: no such node here; there are client, mininet, h1, h2" in wrong.seen
    second = place("attach", "mininet")
    assert second.ends() == 2
    main.types("\x04")
    assert main.ends() == 0
    assert again.ends() == 3
    assert "the network has" in again.seen
    none = place("attach", "h1")
    assert none.ends() == 2
    assert "no network is running" in none.seen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_the_network_ends_with_the_shell(place, number):
    """Whatever signal ends the shell; those that can be handled give the terminal back."""
    person = shell(place)
    pids = group_of(person.pid)
    os.kill(person.pid, number)
    assert person.ends() in (128 + number, -number)
    deadline = time.monotonic() + 2
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pids)
    if number != signal.SIGKILL:
        assert termios.tcgetattr(person.terminal)[3] == person.settings[3]


def test_the_clock_refuses_what_it_cannot_do_and_goes_on(place):
    """Regression: each of these ended the keeper, and the network with it."""
    person = shell(place)
    person.types("clock speed 1e-8\r")
    person.sees(r'clock speed "1e-8": use a number from 0.001 to 1000 such as 8 or 0.5, or max\s+mininet> $')
    person.types("clock speed 1e308\r")
    person.sees(r'clock speed "1e308": use a number from 0.001 to 1000')
    person.types("\x1dspeed nan\r")
    person.sees(r'clock speed "nan": use a number from 0.001 to 1000')
    person.types("\x1duntil 1e300s\r")
    person.sees(r'time "1e300s…" is too large to be one')
    person.types("\x1duntil 1e30s\r")
    person.sees(r"clock until 1e30s: use a time at most 1,000,000 s away; it is [\d.]+ s now")
    person.types("clock speed 0.01\r")
    person.sees(r"network time [\d.]+ s, 0.01x")
    person.types("\x1dspeed 1000\r")
    person.sees(r"network time [\d.]+ s, 1000x")
    person.types("\x1dspeed 1\r")
    person.sees(r"network time [\d.]+ s, 1x")
    person.types("h1 ping -c 1 h2\r")
    person.sees(r"1 packets transmitted, 1 received[^>]*mininet> $")
    person.types("exit\r")
    assert person.ends() == 0


@pytest.mark.parametrize("happens", ["removed", "renamed", "replaced"])
def test_a_terminal_opened_after_the_folder_has_gone_says_so_and_the_network_goes_on(place, tmp_path, happens):
    """Regression: it hung for ever and took no key, since there were two agents from then on."""
    work = tmp_path / "work"
    main = shell(place)
    if happens == "removed":
        (work / "set_env.sh").unlink()  # of the lab
        work.rmdir()
    else:
        work.rename(tmp_path / "elsewhere")
    if happens == "replaced":
        work.mkdir()
    h1 = place("attach", "h1", cwd=tmp_path)
    if happens == "replaced":  # by another folder of the same name, which the network's terminals are in from now on
        h1.sees(r"root@h1:\S*# $")
        h1.types("touch here; exit\r")
        assert h1.ends() == 0
        assert (work / "here").exists()
    else:
        h1.sees(r"linklab: /lab: [^;]+; the working folder was removed, renamed or replaced after the network was")
        assert h1.ends() == 126
    main.types("nodes\r")
    main.sees(r"available nodes are:\s+[^>]*h1 h2[^>]*mininet> $")
    main.types("\x04")
    assert main.ends() == 0


def test_a_terminal_can_be_left_while_time_stands(place):
    """One that is open, one that waits to be opened, and after keys beyond number."""
    main = shell(place)
    h1 = place("attach", "h1")
    h1.sees("root@h1:")
    main.types("\x1dpause\r")
    main.sees("paused.*r resumes")
    h1.sees("paused.*r resumes")
    for _ in range(30):
        h1.types("\x1b[A" * 40)
        time.sleep(0.02)
    h1.types("\x1dstep 1us\r")
    h1.sees(r"network time [\d.]+ s, paused")
    h1.types("\x1dquit\r")
    assert h1.ends() == 0
    h2 = place("attach", "h2")
    h2.sees("paused.*r resumes")
    h2.types("\x1dquit\r")
    assert h2.ends() == 0
    main.types("r")
    main.sees("1x")
    main.types("h1 ping -c 1 h2\r")
    main.sees(r"1 packets transmitted, 1 received[^>]*mininet> $")
    main.types("\x1dquit\r")
    assert main.ends() == 0


def test_a_stopped_terminal_delays_no_other_and_goes_on_when_it_wakes(place):
    """Regression: others stood for 9 s, and it was told that the network had ended."""
    main = shell(place)
    h1 = place("attach", "h1")
    h1.sees("root@h1:")
    h1.types("seq -f %06g 1 100000; echo at the e''nd\r")
    h1.sees("000100")
    os.kill(h1.pid, signal.SIGSTOP)
    time.sleep(2)
    main.types("h2 echo quick\r")
    main.sees(r"quick\s+mininet> $", within_s=3)
    time.sleep(12)
    main.types("h2 echo again\r")
    main.sees(r"again\s+mininet> $", within_s=3)
    os.kill(h1.pid, signal.SIGCONT)
    h1.sees("at the end", within_s=60)
    complete = [int(number) for number in re.findall(r"(\d{6})\r\n", h1.seen)] == list(range(1, 100_001))
    assert complete
    h1.types("exit 3\r")
    assert h1.ends() == 3
    main.types("exit\r")
    assert main.ends() == 0


def test_without_a_terminal_the_lines_are_typed_one_after_the_other(tmp_path):
    """A command that reads its input does not swallow the lines after it."""
    done = subprocess.run(
        [*LINKLAB, "shell", str(TOPOLOGY), "--speed", "max"],
        input="h1 ping -c 2 h2\nclock\nexit\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2 packets transmitted, 2 received" in done.stdout
    assert "as fast as it goes" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["set_env.sh"]  # of the lab


def test_lines_that_are_piped_into_a_lab_are_followed(tmp_path):
    """Regression: with --guide they ran, and the progress had none of them; without it that is said."""

    def piped(*options, text):
        return subprocess.run(
            [*LINKLAB, "shell", "3", "--speed", "max", *options],
            input=text,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )

    delay = "h1 tc qdisc add dev h1-eth0 root netem delay 100ms"
    lines = ("h1 ping -c 3 10.0.0.2", "h2 ifconfig", delay, "h1 ping -c 5 h2")
    piped("--guide", text="\n".join(lines))
    assert read_steps(tmp_path)["busy"] is False, "linklab step would wait"
    steps = {one["id"]: one["status"] for one in read_steps(tmp_path)["steps"]}
    assert [steps[one] for one in ("step-2", "unshaped", "delay-h1", "one-side")] == ["done", "done", "done", "done"]
    before = (kept := tmp_path / ".linklab/progress.jsonl").read_bytes()
    without = piped(text="h1 true\n")
    assert "Lab 3 was begun in this folder, but what you type now is not added to your progress" in without.stderr
    assert kept.read_bytes() == before


def test_lines_that_are_piped_into_an_exercise_are_recorded_as_typed_ones_are(tmp_path):
    """Regression: `--repeat-recorded` found nothing, and a look at the planted fault did not count."""
    start = ["exercise", "start", "3", "--no-editor"]
    subprocess.run([*LINKLAB, *start], cwd=tmp_path, check=True, capture_output=True)
    folder = tmp_path / "exercise-3"
    lines = "sh ./set_env.sh\nh1 sysctl -w net.ipv4.tcp_congestion_control=reno\nexit\n"
    subprocess.run(
        [*LINKLAB, "shell", "Exercise 3.mn", "--speed", "max"],
        input=lines,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (typed,) = parse_log("mininet", (folder / "terminals/mininet.log").read_text()).values()
    assert [each.text for each in typed] == lines.splitlines()[:-1]
    assert 0 <= typed[0].time_s < typed[1].time_s < 600
    script, _ = work_script(last_network({"mininet": (folder / "terminals/mininet.log").read_text()}), ["h1"])
    assert script.splitlines()[-1] == "h1 sysctl -w net.ipv4.tcp_congestion_control=reno"


def test_lines_for_the_clients_terminal_are_recorded_with_their_status(tmp_path):
    """Where there is no topology; and nothing is written in a folder of no exercise."""
    for name in ("exercise", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "exercise/instance.json").write_text("{}")
    for name in ("exercise", "other"):
        subprocess.run(
            [*LINKLAB, "shell", "--speed", "max"],
            input="true\nfalse\n",
            cwd=tmp_path / name,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    (typed,) = parse_log("client", (tmp_path / "exercise/terminals/client.log").read_text()).values()
    assert [(each.text, each.status) for each in typed] == [("true", 0), ("false", 1)]
    assert list((tmp_path / "other").iterdir()) == []


@pytest.mark.parametrize("text", ["", "sleep 2; echo do''ne", "sleep 2\necho do''ne; cat\n"])
def test_a_piped_terminal_ends_with_its_input(place, tmp_path, text):
    """Regression: it hung for ever, since Ctrl+D before the prompt, or while a command ran, was lost."""
    main = shell(place, "--speed", "max")
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    done = subprocess.run(
        [*LINKLAB, "attach", "h1"],
        input=text,
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ("done" in done.stdout) == bool(text)
    main.types("exit\r")
    assert main.ends() == 0


def test_without_a_topology_there_is_the_clients_terminal(place):
    """Lab 1 starts its first network there itself."""
    person = place("shell", "--speed", "max")
    person.sees(r"with no network yet(?s:.)*# ")
    person.types("sudo mn\r")
    person.sees(r"mininet> ")
    person.types("h1 ping -c 2 10.0.0.2\r")
    person.sees(r"2 packets transmitted, 2 received(?s:.)*mininet> ")
    person.types("exit\r")
    person.sees(r"completed in(?s:.)*# ")
    person.types("exit\r")
    assert person.ends() == 0


def test_the_guided_shell_of_lab_1_begins_where_its_manual_does(place):
    """Regression: a prompt of Lab 1's drawn network came, at which none of its steps can be done."""
    person = place("shell", "1", "--guide", "--speed", "max")
    person.sees(r"with no network yet(?s:.)*linklab step in any terminal(?s:.)*# ")
    person.types("sudo mn\r")
    person.sees(r"mininet> ")
    person.types("nodes\r")
    person.sees(r"c0 h1 h2 s1\s+mininet> ")
    person.types("\x04")  # Ctrl+D
    person.sees(r"completed in(?s:.)*# ")
    person.types("linklab step\r")
    person.sees(r"Lab 1: Introduction to Mininet: 3 of 8 steps done(?s:.)*# ")
    person.types("exit\r")
    assert person.ends() == 0


def test_a_wrong_topology_or_speed_is_one_sentence(tmp_path):
    """Exit code 2, and nothing is started."""
    for arguments, words in (
        (["missing.mn"], "missing.mn: cannot be read"),
        ([str(TOPOLOGY), "--speed", "fast"], 'clock speed "fast"'),
    ):
        done = subprocess.run(
            [*LINKLAB, "shell", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_student_at_the_terminals_of_a_lab(place):
    """The lab's script is there and works on a node; history is kept; clock, sudo, files and queues have answers."""
    cli = place("shell", "14")
    cli.sees(r"mininet> $", 40)
    first = place("attach", "h1")
    first.sees(r"root@h1:~# $", 20)
    for line, answer in (
        # the folder has the host's date; the pocket's was some ten seconds ahead of it
        (
            "mkdir z; touch z/y; apart=$(($(date +%s) - $(stat -c %Y z))); [ $apart -lt 6 ] && echo one clock",
            "\rone clock",
        ),
        ("sudo ./set_env.sh 3.1", "h3: net.ipv4.tcp_wmem = 10240 87380 52428800"),
        ("sudo ~/set_env.sh 2.2", "h1: undone: net.ipv4.tcp_rmem, net.ipv4.tcp_wmem"),
        ("linklab set-env 14 | head -2", "# Lab 14: undo changes to queues, offloads, MTU, and sysctls"),
        ("echo x > x.txt; xdg-open x.txt", r"no display: the file is /.*/work/x.txt"),
        ("plot_q.sh h1-eth0", "h1-eth0 has no queue: no queueing discipline holds packets there"),
        (
            "mkdir A && cd A && cd .. && mkdir A && cd A",
            "A already exists, perhaps from an earlier try: use it with cd A, or delete it with rm -r A",
        ),
        ("sudo -iu nobody id", r"uid=\d+\(nobody\)"),
        ("clock until 30s", r"30s is reached: network time 3\d\.\d+ s, 1x"),
    ):
        first.types(f"{line}\r")
        first.sees(f"{answer}(?s:.*)# $", 40)
    first.types("exit\r")
    assert first.ends() == 0
    again = place("attach", "h1")
    again.sees(r"root@h1:~# $")
    again.types("history\r")
    again.sees(r"plot_q\.sh h1-eth0(?s:.*)# $")
    cli.types("exit\r")
    assert cli.ends() == 0
