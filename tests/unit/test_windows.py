# SPDX-License-Identifier: BSD-3-Clause
"""What programs inside may have done on the desktop, without a desktop: which files, which options, which words."""

import os

import pytest

from linklab.base import installation
from linklab.terminal import windows
from linklab.terminal.windows import Windows


class Link:
    """A link that nothing comes from."""

    def on(self, event, handler):
        """Nobody asks."""


class Server:
    """A network called 3."""

    id, name, nodes = "3", "Lab 8", ("h1", "h2")

    def obey_clock(self, words, *, wait=False):
        """Say what was ordered, and whether its end is waited for."""
        return f"{'wait for ' if wait else ''}clock {' '.join(words)}", 0


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Windows on a display whose programs are only noted; its working folder is tmp_path/lab."""
    (tmp_path / "lab").mkdir()
    desk = Windows(Link(), Server(), tmp_path / "lab", display=True)
    desk.started = []
    monkeypatch.setattr(desk, "_spawn", lambda command, stdout=0: desk.started.append(list(command)))
    monkeypatch.setattr(windows.shutil, "which", lambda name: f"/usr/bin/{name}")
    return desk


def test_what_nobody_knows_is_refused(desk):
    """With what there is."""
    assert desk.answer(["format", "/"]) == (
        "format /: the host does not know how to do that; it knows "
        "terminal NODE, open FILE, edit FILE, queue FILE or clock",
        2,
    )
    assert desk.answer([])[1] == desk.answer(["open"])[1] == 2
    assert desk.answer(["clock", "speed", "8"]) == ("clock speed 8", 0)
    assert desk.answer(["clock", "until", "9s"]) == ("wait for clock until 9s", 0)


@pytest.mark.parametrize("verb", ["open", "edit", "queue"])
@pytest.mark.parametrize("name", ["/etc/passwd", "/laboratory/x", "lab/x", "/lab/../etc/passwd", "/lab/out/x"])
def test_only_files_of_the_working_folder_are_shown(desk, verb, name):
    """Neither another path, nor one that climbs out, nor a link that leads out."""
    (desk.workdir / "out").symlink_to("/")
    text, status = desk.answer([verb, name])
    assert status == 1
    assert "exists only inside the network" in text or "leads out of" in text
    assert desk.started == []


def test_a_file_is_opened_where_it_lies_outside(desk):
    """A name inside becomes a path of the host."""
    (desk.workdir / "a b.log").touch()
    desk.answer(["open", "/lab/a b.log"])
    assert desk.started == [["xdg-open", str(desk.workdir / "a b.log")]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("throughput.pdf", b"%PDF-1.7\n"),
        ("queue.PNG", b"\x89PNG\r\n\x1a\n\0\0"),
        ("photo.jpeg", b"\xff\xd8\xff\xe0"),
        ("h1.pcap", b"\xd4\xc3\xb2\xa1\2\0\4\0"),
        ("h1.pcapng", b"\n\r\r\n\x1c\0"),
        ("report.html", b"<!doctype html>"),
        ("cwnd.svg", b"<svg/>"),
        ("notes.md", b"# What I saw\n"),
        ("iperf3", b'{"start": {}}'),
        ("empty.txt", b""),
        ("folder", None),
    ],
)
def test_what_is_only_shown_is_opened(desk, name, content):
    """Images, PDF, HTML, text and captures, and folders."""
    if content is None:
        (desk.workdir / name).mkdir()
    else:
        (desk.workdir / name).write_bytes(content)
    desk.answer(["open", f"/lab/{name}"])
    assert desk.started[0] == ["xdg-open", str(desk.workdir / name)]


KIND = (
    "since a desktop may run files of its kind: images, PDF, HTML, text and captures can be opened; open it yourself, "
    "outside the network, if you trust it"
)
CONTENT = "since what is in it is not what its name says"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("run.desktop", b"[Desktop Entry]\nExec=sh -c id\n", KIND),
        ("run.sh", b"#!/bin/sh\nid\n", KIND),
        ("run.jar", b"PK\3\4", KIND),
        ("run.exe", b"MZ", KIND),
        ("letter.docm", b"PK\3\4", KIND),
        ("plot.pdf", b"#!/bin/sh\nid\n", CONTENT),
        ("plot.png", b"[Desktop Entry]\n", CONTENT),
        ("h1.pcap", b"\x7fELF", CONTENT),
        ("notes.txt", b"# notes\n[Desktop Entry]\nExec=id\n", CONTENT),
        ("notes", b"#!/usr/bin/python3\n", CONTENT),
        ("notes.log", b"\x7fELF\2\1\1\0", CONTENT),
    ],
)
def test_what_a_desktop_might_run_is_not_opened(desk, name, content, why):
    """Regression: a program inside could have the host run what it had written, as the user."""
    (desk.workdir / name).write_bytes(content)
    assert desk.answer(["open", f"/lab/{name}"]) == (f"{desk.workdir / name} is not opened, {why}", 1)
    assert desk.started == []


def test_a_link_is_what_it_leads_to(desk):
    """Its own name says nothing of that."""
    (desk.workdir / "run.desktop").write_text("[Desktop Entry]\n")
    (desk.workdir / "plot.pdf").symlink_to("run.desktop")
    assert desk.answer(["open", "/lab/plot.pdf"]) == (f"{desk.workdir / 'plot.pdf'} is not opened, {KIND}", 1)
    (desk.workdir / "true.pdf").write_bytes(b"%PDF-1.7")
    (desk.workdir / "latest.pdf").symlink_to("true.pdf")
    desk.answer(["open", "/lab/latest.pdf"])
    assert desk.started[0] == ["xdg-open", str(desk.workdir / "true.pdf")]


def test_an_editor_shows_any_file_but_the_desktop_is_not_asked_to(desk, monkeypatch):
    """A script is opened to be edited; where there is no editor with windows, in a terminal."""
    (desk.workdir / "run.sh").write_text("#!/bin/sh\n")
    desk.answer(["edit", "/lab/run.sh"])
    assert desk.started == [["featherpad", str(desk.workdir / "run.sh")]]
    desk.started.clear()
    monkeypatch.setattr(windows.shutil, "which", lambda name: name in ("xdg-open", "xterm", "nano") or None)
    monkeypatch.delenv("EDITOR", raising=False)
    desk.answer(["edit", "/lab/run.sh"])
    assert desk.started == [["xterm", "-T", "run.sh", "-e", "nano", str(desk.workdir / "run.sh")]]


def test_a_fifo_is_not_opened(desk):
    """Nor looked into, which would wait for ever."""
    os.mkfifo(desk.workdir / "x.txt")
    path = desk.workdir / "x.txt"
    assert desk.answer(["open", "/lab/x.txt"]) == (f"{path} is not a file, so it is not opened", 1)


def test_a_terminal_opens_on_a_node_alone(desk):
    """What a program inside says becomes an argument of a command of the host."""
    assert desk.answer(["terminal", "--list"]) == ("--list: no such node here; there are client, mininet, h1, h2", 2)
    desk.answer(["terminal", "h2"])
    command = installation.command("attach", "h2", "--network", "3")
    assert desk.started == [["x-terminal-emulator", "-T", "h2: Lab 8", "-e", *command]]


def test_without_a_display_the_file_is_named(tmp_path):
    """And a terminal has its command."""
    desk = Windows(Link(), Server(), tmp_path, display=False)
    assert desk.answer(["open", "/lab/x.pdf"]) == (f"{tmp_path}/x.pdf does not exist", 1)
    (tmp_path / "x.pdf").touch()
    assert desk.answer(["open", "/lab/x.pdf"]) == (f"no display: the file is {tmp_path}/x.pdf", 0)
    assert desk.answer(["queue", "/lab/q.jsonl"]) == ("no display: the samples are /lab/q.jsonl", 1)
    assert desk.answer(["terminal", "h1"]) == (
        "no display: use `linklab attach h1 --network 3` in another terminal",
        1,
    )


def test_a_live_plot_takes_its_two_options(desk):
    """As one word each, so that no value is an option."""
    desk.answer(["queue", "/lab/q.jsonl", "--qdisc", "2:", "--limit", "25MiB"])
    command = ["plot", "queue", str(desk.workdir / "q.jsonl"), "--follow", "--qdisc=2:", "--limit=25MiB"]
    assert desk.started == [installation.command(*command)]


@pytest.mark.parametrize(
    "options",
    [
        ["--out", "/etc/cron.d/x.pdf"],
        ["--out=/tmp/x.pdf"],
        ["--limit"],
        ["--limit", "--out=/tmp/x.pdf"],
        ["--qdisc", "2:", "--qdisc", "3:"],
        ["--qdisc", "2:", "extra"],
        ["--seconds", "9"],
    ],
)
def test_a_live_plot_takes_no_other_option(desk, options):
    """Regression: `--out` reached the host's command, which wrote wherever a program inside said."""
    text, status = desk.answer(["queue", "/lab/q.jsonl", *options])
    assert (status, desk.started) == (2, [])
    assert text.endswith("a live plot takes --qdisc HANDLE and --limit SIZE, once each")


def test_a_live_plot_does_not_save_through_a_link(desk):
    """The figure that s saves beside the samples stays in the folder too."""
    (desk.workdir / "q.jsonl").touch()
    (desk.workdir / "q.pdf").symlink_to("/tmp/elsewhere.pdf")
    text, status = desk.answer(["queue", "/lab/q.jsonl"])
    assert (text, status) == (f"/lab/q.pdf leads out of {desk.workdir}, so it is not opened", 1)
    assert desk.started == []
