# SPDX-License-Identifier: BSD-3-Clause
"""What programs inside may have done on the desktop, without a desktop: which files, which options, which words."""

import sys

import pytest

from linklab.terminal import windows
from linklab.terminal.windows import Windows


class Link:
    """A link that nothing comes from."""

    def on(self, event, handler):
        """Nobody asks."""


class Server:
    """A network called 3."""

    id, name = "3", "Lab 8"

    def obey_clock(self, words):
        """Say what was ordered."""
        return f"clock {' '.join(words)}", 0


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


def test_without_a_display_the_file_is_named(tmp_path):
    """And a terminal has its command."""
    desk = Windows(Link(), Server(), tmp_path, display=False)
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
    assert desk.started == [[sys.executable, "-m", "linklab", *command]]


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
