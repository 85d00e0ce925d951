# SPDX-License-Identifier: BSD-3-Clause
"""What the keeper says where the machine refuses it something: one message for its starter, and no traceback."""

import contextlib
import errno
import gc
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.engine import keeper
from linklab.engine.failures import of_oserror, start_failure
from linklab.errors import BootError, MissingError
from linklab.grade.hearsay import keepers_word

DENIED = Path(__file__).parents[1] / "denied.py"
TIMEOUT_S = 30


def keep(folder, *, before=(), numbers=(), **changes):
    """Start a keeper with that configuration; what it told, as (events, standard error).

    numbers: the descriptors that its control socket and its channel shall have.
    """
    ours, keepers = socket.socketpair()
    channel, guests = socket.socketpair()
    for end, number in zip((keepers, guests), numbers, strict=False):
        end.__init__(fileno=renumbered(end.detach(), number))
    config = {
        "run_base": str(folder),
        "channel_fd": 63,
        "argv": ["/bin/sleep", "60"],
        "env": {"TMPDIR": str(folder)},
        "links": {},
        "user": "",
        "known_as": "",
        "share": False,
        "limits": {},
        "clock": "virtual",
        "cpu": None,
    } | changes
    program = [*before, sys.executable, "-I", "-S", keeper.__file__, str(keepers.fileno()), str(guests.fileno())]
    with ours, keepers, channel, guests:
        process = subprocess.Popen(program, pass_fds=[keepers.fileno(), guests.fileno()], stderr=subprocess.PIPE)
        keepers.close()
        ours.sendall(json.dumps(config).encode() + b"\n")
        ours.shutdown(socket.SHUT_WR)  # whatever was started is to end
        with ours.makefile("rb") as lines:
            told = [json.loads(line) for line in lines]
        _, complaint = process.communicate(timeout=TIMEOUT_S)
    return told, complaint.decode()


def renumbered(descriptor, number):
    """The open file under exactly this number, which must be free."""
    gc.collect()  # other tests of this process leave sockets to it
    with contextlib.suppress(OSError):
        os.fstat(number)
        raise AssertionError(f"descriptor {number} is in use here")
    os.dup2(descriptor, number)
    os.close(descriptor)
    return number


def failure(told):
    """The one failure among the messages, as (what was being done, errno)."""
    (found,) = [message for message in told if message["event"] == "failed"]
    assert told[-1]["event"] == "ended"
    return found["doing"], found["errno"]


def test_a_keeper_that_can_do_its_work_tells_of_no_failure(tmp_path):
    """It tells of the start and of the end, and leaves nothing."""
    told, complaint = keep(tmp_path)
    assert [message["event"] for message in told] == ["started", "ended"]
    assert (complaint, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize("numbers", [(703, 700), (700, 703)], ids=["control", "channel"])
def test_a_keeper_starts_whatever_numbers_its_sockets_have(tmp_path, numbers):
    """Regression: with 60 files open, it got the number that its kernel's channel must have, and went silently."""
    told, complaint = keep(tmp_path, numbers=numbers, channel_fd=703)
    assert [message["event"] for message in told] == ["started", "ended"]
    assert (complaint, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"run_base": "/none/such"}, ("making its folder", errno.ENOENT)),
        ({"argv": ["/none/such"]}, ("starting the kernel", errno.ENOENT)),
        ({"argv": ["/etc/passwd"]}, ("starting the kernel", errno.EACCES)),
        ({"before": ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh"]}, ("starting the kernel", errno.EMFILE)),
        ({"before": [sys.executable, str(DENIED), "pidfd_open"]}, ("watching the kernel", errno.EPERM)),
    ],
    ids=["no folder", "no kernel", "no program", "few files", "a call denied"],
)
def test_what_was_refused_is_told_and_nothing_is_left(tmp_path, options, expected):
    """Regression: each was a traceback in the person's terminal, and "ended while booting" without a reason."""
    told, complaint = keep(tmp_path, **options)
    assert failure(told) == expected
    assert (complaint, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0,
    reason="needs user namespaces",
)
def test_a_file_system_without_inodes_is_told(tmp_path):
    """There is room for bytes, but for no more files."""
    mounted = f'mount -t tmpfs -o nr_inodes=2,size=10m none {tmp_path} && exec "$@"'
    told, complaint = keep(tmp_path, before=["unshare", "-rm", "sh", "-c", mounted, "sh"])
    assert failure(told) == ("making its folder", errno.ENOSPC)
    assert complaint == ""


def test_a_limit_that_cannot_be_set_keeps_the_kernel_from_running(tmp_path):
    """Without the sandbox's limits it must not run; the reason is among its last words."""
    told, _ = keep(tmp_path, limits={"NOFILE": 2**62})
    assert [message["event"] for message in told] == ["started", "ended"]
    assert told[-1]["code"] == 1
    assert told[-1]["console"].startswith("the limit NOFILE of 4611686018427387904 cannot be set: ")


def test_a_processor_that_cannot_be_had_costs_speed_alone(tmp_path):
    """Regression: a processor taken away meanwhile ended the run."""
    told, complaint = keep(tmp_path, cpu=1023)
    assert [message["event"] for message in told] == ["started", "ended"]
    assert complaint == ""


@pytest.mark.parametrize(
    ("number", "file", "kind", "sentence"),
    [
        (
            errno.ENOSPC,
            "/tmp/x",
            MissingError,
            "the pocket could not start: making its folder: /tmp/x: No space left on device; free space or files there "
            "(df -h and df -i show both), or set TMPDIR to a folder with room",
        ),
        (
            errno.EMFILE,
            None,
            BootError,
            "the pocket could not start: making its folder: Too many open files; raise the limit of open files "
            "(ulimit -n 4096)",
        ),
        (
            errno.EPERM,
            None,
            BootError,
            "the pocket could not start: making its folder: Operation not permitted; a sandbox or a container denies "
            "it: run outside, or with the container's default seccomp profile",
        ),
        (
            errno.EACCES,
            "/x",
            BootError,
            "the pocket could not start: making its folder: /x: Permission denied; you need the right to use /x; "
            "TMPDIR and LINKLAB_TMP name other folders",
        ),
        (
            errno.ENOMEM,
            None,
            BootError,
            "the pocket could not start: making its folder: Cannot allocate memory; close other programs, or raise the "
            "limits of processes and memory (ulimit -u, ulimit -v)",
        ),
        (errno.EIO, None, BootError, "the pocket could not start: making its folder: Input/output error"),
    ],
)
def test_each_refusal_is_one_sentence_with_its_cure(number, file, kind, sentence):
    """Whether the keeper was refused or the program that starts it."""
    error = start_failure("making its folder", number, os.strerror(number), file)
    assert (type(error), str(error)) == (kind, sentence)
    same = of_oserror("making its folder", OSError(number, os.strerror(number), file))
    assert (type(same), str(same)) == (kind, sentence)


def test_a_keeper_in_a_sandbox_may_say_what_failed():
    """In words of a bounded length, since a submission may speak in its place."""
    said = {"event": "failed", "doing": "x" * 10**6, "errno": "no", "why": ["y"], "file": "/home"}
    (found,) = keepers_word(json.dumps(said).encode())
    assert found == {"event": "failed", "doing": "x" * 200, "errno": None, "why": "['y']"}
