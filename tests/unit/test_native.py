# SPDX-License-Identifier: BSD-3-Clause
"""Our shared objects: compiled once, whole, under a name that says of what."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from linklab import native

SPIN = """
import ctypes, os, select, sys, time
libc = ctypes.CDLL(None)
class Timeval(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("us", ctypes.c_long)]
reading, writing = os.pipe()
def selects(how):
    end, count = time.monotonic() + 0.2, 0
    while time.monotonic() < end:
        writable = (ctypes.c_ulong * 16)()
        writable[0] = 1 << writing
        if how == "writable":
            libc.select(writing + 1, None, writable, None, None)
        elif how == "no time":
            libc.select(0, None, None, None, ctypes.byref(Timeval(0, 0)))
        elif how == "timer":
            libc.select(0, None, None, None, ctypes.byref(Timeval(0, 100)))
        elif how == "data":
            libc.select(writing + 1, None, writable, None, None)
            libc.write(writing, b"x", 1)
            libc.read(reading, ctypes.create_string_buffer(1), 1)
        count += 1
    return count
print(*(selects(how) for how in ("writable", "no time", "timer", "data")))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place for what is compiled here."""
    monkeypatch.setattr(native, "BUILT", tmp_path / "built")
    return tmp_path / "built"


def how_often(preload):
    """Calls of select() of each loop of SPIN in a fifth of a second."""
    done = subprocess.run(
        [sys.executable, "-c", SPIN],
        env={**os.environ, "LD_PRELOAD": preload},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(("writable", "no time", "timer", "data"), map(int, done.stdout.split()), strict=True))


def version(folder, said):
    """A library that says that it is this version of iperf3's."""
    source = folder / "version.c"
    source.write_text(f'char *iperf_get_iperf_version(void) {{ return "{said}"; }}')
    made = folder / f"iperf-{said}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    return made


needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


@needs_cc
def test_what_polls_without_a_pause_gets_one_and_what_sends_or_waits_gets_none(folder):
    """A stream that can be written or a timer that has passed, without data; a timer that runs; data."""
    assert native.build() == []
    counts = how_often(f"{native.find('iperf3_wait')}:{version(folder, '3.12')}")
    assert counts["writable"] <= 201  # a millisecond each
    assert counts["no time"] <= 201
    assert counts["timer"] > 400  # 0.1 ms each, and what a busy machine adds
    assert counts["data"] > 1000


@needs_cc
@pytest.mark.parametrize("said", ["3.16", "3.20", "4.1", None], ids=str)
def test_an_iperf3_with_threads_and_any_other_program_is_left_alone(folder, said):
    """Since 3.16 a thread of its own sends, and waits in write()."""
    assert native.build() == []
    beside = "" if said is None else f":{version(folder, said)}"
    assert how_often(f"{native.find('iperf3_wait')}{beside}")["writable"] > 1000


@needs_cc
@pytest.mark.parametrize(
    ("family", "kind"), [("AF_INET", "SOCK_STREAM"), ("AF_INET6", "SOCK_STREAM"), ("AF_INET6", "SOCK_DGRAM")]
)
def test_a_server_marks_what_it_sends(folder, family, kind):
    """The connection that it accepts, too; without the variable nothing is marked."""
    assert native.build() == []
    program = f"""
import socket
here = socket.socket(socket.{family}, socket.{kind})
here.bind(("", 0))
if socket.{kind} == socket.SOCK_STREAM:
    here.listen()
    there = socket.create_connection(("127.0.0.1", here.getsockname()[1]))
    here = here.accept()[0]
print(here.getsockopt(socket.IPPROTO_IP, socket.IP_TOS))
"""
    for byte, expected in (("184", "184"), ("256", "0"), ("", "0")):
        environment = {**os.environ, "LD_PRELOAD": str(native.find("iperf3_tos")), "IPERF3_TOS": byte}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [expected]


@needs_cc
def test_it_is_compiled_once_and_what_was_made_of_other_source_goes(folder):
    """What is there is kept as it is."""
    folder.mkdir()
    digest = native.shared_object("iperf3_wait").stem.rpartition("-")[2]
    old = folder / native.shared_object("iperf3_wait").name.replace(digest, "0" * 12)
    old.write_bytes(b"old")
    assert native.build() == []
    made = native.find("iperf3_wait")
    before = made.stat().st_mtime_ns
    assert native.build() == []
    assert made.stat().st_mtime_ns == before
    assert old not in folder.iterdir()
    assert made in folder.iterdir()
    ctypes.CDLL(str(made))


def test_without_a_compiler_it_says_so_and_leaves_nothing(folder, monkeypatch):
    """Tests then run without it."""
    monkeypatch.setattr(native, "COMPILE", ("no-such-cc",))
    assert native.build() == [
        "iperf3_tos.c could not be compiled: No such file or directory",
        "iperf3_wait.c could not be compiled: No such file or directory",
    ]
    assert list(folder.iterdir()) == []
    assert native.find("iperf3_wait") is None


@needs_cc
def test_a_compiler_that_fails_is_quoted(folder, monkeypatch):
    """With the end of what it printed."""
    monkeypatch.setattr(native, "COMPILE", ("cc", "--no-such-option"))
    assert all("--no-such-option" in said for said in native.build())
    assert list(folder.iterdir()) == []
