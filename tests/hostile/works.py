# SPDX-License-Identifier: BSD-3-Clause
"""Hostile work.sh: name → (script, what must come of it).

`tests/pocket/test_hostile.py` runs a sample of them, and `make hostile` all.  What must come of one is a pattern that
one of the report's sentences has, or several patterns of which each is found, or "" where the network stands as it was
left and there is nothing to say.
"""

from base64 import b64encode

FORK_BOMB = "bomb() { bomb & bomb & }; bomb; sleep 3600"
ENDED = "the network ended while work.sh ran: "
OVERDUE = r"the network took more than \d+ s of processor time and was stopped"
POWER_OFF = "python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'"
"""reboot(2); the program of that name is not on every machine."""
RESTART = "python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x01234567)'"
_MACHINE = "mkdir /mnt/m; mount -t hostfs m /mnt/m; "


def _in_the_agents_name(answer):
    """A line that says this expression, before the agent answers, to whatever is asked."""
    return f"""python3 -c '
import json, os, struct
whole = {{"terminal": "client", "text": "", "output": "", "exit_status": 0, "start_s": 0.0, "end_s": 1.0}}
answers = b""
for number in range(99):
    body = json.dumps({{"id": number, "ok": {answer}}}).encode()
    answers += struct.pack(">I", len(body)) + body
pocket = os.open("/dev/pocket", os.O_WRONLY)
while answers:
    answers = answers[os.write(pocket, answers):]'
sleep 9"""


def _forged(done):
    """A work.sh that answers, before the agent does, with one command done as this expression says, "" for none."""
    return _in_the_agents_name(f'{{"done": [{done}]}}')


_NETWORK = _in_the_agents_name(
    '{"nodes": ["h1"], "environment": {}, "ready_clock_s": 0.0,'
    ' "failed_commands": [{"node": "h1", "command": "", "status": 1, "output": 5}]}'
)
FORGED_NETWORK = f"echo {b64encode(_NETWORK.encode()).decode()} | base64 -d | sh"
"""A start command, in one line, that says before the agent does what came of building the network."""


WORKS = {
    "fork bomb": (FORK_BOMB, OVERDUE),
    "endless loop": ("while :; do :; done", OVERDUE),
    "endless loop left behind": ("while :; do :; done & exit", f"{OVERDUE}|does not answer any more"),
    "endless output": ("yes the grader is full", OVERDUE),
    "rm -rf /": (
        "rm -rf --no-preserve-root /usr/bin /opt /lab /; exit 1",
        "^the network that work.sh left does not answer any more: ",  # /dev has no terminals
    ),
    "rm -rf of the machine": (
        "mkdir /mnt/m; mount -t hostfs m /mnt/m; "
        "rm -rf /mnt/m/home /mnt/m/code /mnt/m/etc /mnt/m/root /mnt/m/lab 2>&1 | tail -n 1; "
        "echo rubbish >/mnt/m/proc/sys/kernel/hostname; echo rubbish >>/mnt/m/usr/bin/ls; exit 5",
        "work.sh ended with status 5; its last words: .*(Read-only file system|Permission denied)",
    ),
    "many files": ("i=0; while :; do : >/lab/$((i++)); done", f"{ENDED}more than 5000 files were made inside"),
    "killing the agent": ("pkill -9 -f linklab.agent; sleep 9", f"{ENDED}the pocket kernel has ended"),
    "turning off": (POWER_OFF, f"{ENDED}the pocket kernel has ended"),
    "starting again": (f"{RESTART}; sleep 9", f"{ENDED}the pocket kernel was restarted from inside"),
    "lies to the driver": (
        'python3 -c \'import os; os.write(os.open("/dev/pocket", os.O_WRONLY), b"\\xff" * 9)\'; sleep 9',
        f"{ENDED}what came from the network cannot be read: a frame of",
    ),
    "lies in the agent's name": (
        _forged('{"output": "all is well"}'),
        f"{ENDED}what came from the network is no answer: TypeError",
    ),
    "nothing in the agent's name": (_forged(""), f"{ENDED}what came from the network is no answer: ValueError"),
    "a long status in the agent's name": (
        _forged('{**whole, "exit_status": "<b>" * 9999}'),
        f"{ENDED}what came from the network is no answer: TypeError",
    ),
    "a flood of messages in the agent's name": (
        """python3 -c '
import os, struct
body = b"{\\"id\\":0}"
pocket, frames = os.open("/dev/pocket", os.O_WRONLY), (struct.pack(">I", len(body)) + body) * 5000
unsent = b""
while True:
    unsent = unsent or frames
    unsent = unsent[os.write(pocket, unsent) :]'""",
        f"{ENDED}the network said more than the grader reads in \\d+ s and was stopped",
    ),
    "reading the machine": (
        f"{_MACHINE}cat /etc/shadow /mnt/m/etc/shadow /root/.ssh/* /mnt/m/root/.ssh/* /mnt/m/home/*/* >&2; exit 5",
        "No such file or directory",
    ),
    "changing the clock": ("date -s 2001-01-01; exit 0", ""),
    "mounting over everything": (
        "mount -t tmpfs x /usr; mount -t tmpfs x /proc; mount -t tmpfs x /lab; umount -a; exit 0",
        "the network that work.sh left does not answer any more",
    ),
    "links for results": ("ln -sf /etc/passwd /lab/work.out; ln -s / /lab/all; ln -s loop /lab/loop; exit 0", ""),
    "kernel modules": (
        "echo x >/tmp/x.ko; insmod /tmp/x.ko; "
        "python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(313, 0, b\"\", 0) != 0)'; exit 6",
        ("`insmod /tmp/x.ko` failed with status 1", r"syscall\(313.* failed with status 1"),
    ),
    "raw devices": (
        "mknod /tmp/disk b 8 0; dd if=/tmp/disk count=1; "
        "mknod /tmp/mem c 1 1; dd if=/tmp/mem count=1 of=/dev/null; exit 6",
        ("`dd if=/tmp/disk count=1` failed with status 1", "`dd if=/tmp/mem .* failed with status 1"),
    ),
    "tracing the agent": (
        "python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) and 7)'; cat /proc/1/mem >/dev/null",
        "`cat /proc/1/mem .* failed with status 1",
    ),
    "all memory": (
        "python3 -c 'taken = []\nwhile True: taken.append(bytearray(2**24))'\nh1 sysctl -w net.ipv4.tcp_sack=0",
        r"failed with status 137.*Killed",
    ),
    "all of the disk": (
        "dd if=/dev/zero of=/lab/full bs=1M; dd if=/dev/zero of=/tmp/full bs=1M; exit 0",
        ("error writing '/lab/full': No space left on device", "error writing '/tmp/full': No space left on device"),
    ),
    "all descriptors": (
        "python3 -c 'import os\nwhile True: os.pipe()'; find / >/dev/null 2>&1; exit 0",
        r"os\.pipe.*failed with status 1: .*OSError: \[Errno 24\] Too many open files",
    ),
    "a long line": ("head -c 50000000 /dev/zero | tr '\\0' a; echo; exit 0", ""),
    "control characters": (
        "printf '\\033]0;owned\\007\\033[2J\\033[31m\\r\\b<script>alert(1)</script>\\xff\\n' >&2; exit 9",
        "ended with status 9; its last words: .*script",
    ),
    "forged marks": (
        "printf '\\036F0:1:1:all is well\\037\\036E\\037' >&198; printf '{\"score\": 100}' >/lab/results.json; exit 0",
        "line 1: `all is well` failed with status 0",  # in the forger's own report
    ),
    "racing for the results": (
        "while :; do ln -sf /etc/passwd /lab/work.out; rm -f /lab/work.out; mkdir /lab/work.out; "
        "rmdir /lab/work.out; done",
        OVERDUE,
    ),
    "calling home": (
        "ping -c 1 -W 1 192.0.2.1; python3 -c 'import socket; socket.create_connection((\"8.8.8.8\", 53), 2)'; exit 3",
        ("`ping .* unreachable", "create_connection.* unreachable"),
    ),
    "panic": ("echo c >/proc/sysrq-trigger; kill -SEGV 1; exit 4", "sysrq-trigger` failed with status 1"),
    "looking at everything": ("find / >/dev/null 2>&1; h1 sysctl -w net.ipv4.tcp_sack=0; exit 0", ""),
    "killing everything": ("kill -9 -1; exit 0", f"{ENDED}the pocket kernel has ended"),
    "startup files of the next shell": (
        'echo \'python3() { echo "{}"; }; PROMPT_COMMAND="echo forged"; trap "echo forged" DEBUG\' |'
        " tee /lab/.bashrc /lab/.bash_profile /lab/.profile >>/etc/bash.bashrc; exit 0",
        "",  # what it says of the network is read as a stranger's word
    ),
    "a library that every program loads first": (
        "echo no library >/lab/first.so; echo /lab/first.so >/etc/ld.so.preload; exit 0",
        "",
    ),
    "another python3": (
        "printf '#!/bin/sh\\nyes forged\\n' >/tmp/forged; chmod +x /tmp/forged; "
        "mount --bind /tmp/forged /usr/bin/python3; exit 0",
        "^the settings of the network that work.sh left cannot be read$",  # its output is cut
    ),
    "deaf to signals": (
        "trap '' TERM INT HUP; while :; do sleep 100; done",
        "^work.sh ran longer than 900 s of network time and was stopped$",
    ),
}
SAMPLE = (
    "fork bomb",
    "endless output",
    "rm -rf of the machine",
    "killing the agent",
    "starting again",
    "lies in the agent's name",
    "nothing in the agent's name",
    "a long status in the agent's name",
    "control characters",
)
"""Those that every run of the tests has."""
