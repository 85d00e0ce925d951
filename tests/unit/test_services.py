# SPDX-License-Identifier: BSD-3-Clause
"""Folders below /run that daemons expect, read from files of their packages; and names that can be looked up."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("mininet", reason="needs the mininet package")

from linklab.agent import names, services


def files(folder: Path, **texts: str) -> tuple[str, ...]:
    """A folder of configuration files; two underscores in a keyword stand for the dot of a file name."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)
    return (str(folder),)


def test_folders_of_tmpfiles(tmp_path):
    """Only folders below /run count, also written as /var/run; links, other places, and other files are left out."""
    places = files(
        tmp_path / "tmpfiles.d",
        frr__conf="# at boot\nd /run/frr 0755 frr frr\nd /var/lib/frr 0750 frr frr\nL /run/initctl - - - - x\n",
        named__conf="D! /var/run/named 0775 root bind - -\nd /run/user/%U\nd /run\n",
        notes__txt="d /run/notes",
    )
    assert list(services._of_tmpfiles(places)) == [
        services.Folder("frr", 0o755, "frr", "frr"),
        services.Folder("named", 0o775, "root", "bind"),
    ]


def test_folders_of_units(tmp_path):
    """RuntimeDirectory= of a service, with its mode and user; one that is named after an instance is left out."""
    places = files(
        tmp_path / "system",
        ssh__service="[Unit]\nAfter=x\n\n[Service]\nExecStart=a\nExecStart=b\nRuntimeDirectory=sshd\n"
        "RuntimeDirectoryMode=0711\n",
        chrony__service="[Service]\nUser=_chrony\nRuntimeDirectory=chrony chrony/x\n",
        at__service="[Service]\nRuntimeDirectory=a-%i\n",
        broken__service="RuntimeDirectory=\x01\n",
    )
    assert list(services._of_units(places)) == [
        services.Folder("chrony", 0o755, "_chrony"),
        services.Folder("chrony/x", 0o755, "_chrony"),
        services.Folder("sshd", 0o711),
    ]


def test_a_mode_that_is_no_number_is_the_usual_one(tmp_path):
    """Regression: an empty one, which systemd takes as not given, or a mistyped one kept every pocket from starting."""
    units = files(
        tmp_path / "system",
        a__service="[Service]\nRuntimeDirectory=a\nRuntimeDirectoryMode=\n",
        b__service="[Service]\nRuntimeDirectory=b\nRuntimeDirectoryMode=rwx\n",
    )
    assert list(services._of_units(units)) == [services.Folder("a"), services.Folder("b")]
    places = files(tmp_path / "tmpfiles.d", c__conf="d /run/c rwx\nd /run/d :0711\n")
    assert list(services._of_tmpfiles(places)) == [services.Folder("c"), services.Folder("d", 0o711)]


def test_a_folder_that_is_the_same_by_a_link_is_read_once(tmp_path):
    """On most machines /lib is a link to /usr/lib; files that cannot be read are left out."""
    (place,) = files(tmp_path / "a", x__conf="d /run/x")
    (tmp_path / "b").symlink_to(place)
    (tmp_path / "a/y.conf").write_bytes(b"\xff")
    (tmp_path / "a/z.conf").symlink_to("nowhere")
    found = services._of_tmpfiles((place, str(tmp_path / "b"), str(tmp_path / "none")))
    assert list(found) == [services.Folder("x")]


def test_folders_are_made_with_modes_and_nothing_says_that_systemd_runs(tmp_path, monkeypatch):
    """An unknown owner is root; /run/systemd is not made; regression: sshd ended for want of /run/sshd."""
    wanted = [
        services.Folder("named", 0o775, "no-such-user", "no-such-group"),
        services.Folder("systemd/journal"),
        services.Folder("../outside"),
    ]
    monkeypatch.setattr(services, "_of_tmpfiles", lambda: wanted)
    monkeypatch.setattr(services, "_of_units", lambda: [])
    services.make_folders(tmp_path)
    made = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o7777 for path in tmp_path.rglob("*")}
    made.pop("utmp")
    assert made == {
        "dbus": 0o755,
        "lock": 0o1777,
        "named": 0o775,
        "sshd": 0o755,
        "user": 0o755,
        "user/0": 0o700,
    }
    assert (tmp_path / "named").stat().st_uid == os.getuid()


def test_names_of_nodes_in_place_of_a_link_to_nothing(tmp_path):
    """Each address of a node gets its name; switches in the root namespace, and loopback addresses, get none."""
    (tmp_path / "resolv.conf").symlink_to("../run/systemd/resolve/stub-resolv.conf")
    names.name_the_pocket(tmp_path)
    assert (tmp_path / "hostname").read_text() == "linklab\n"
    assert not re.search(r"^\s*nameserver", (tmp_path / "resolv.conf").read_text(), re.MULTILINE)
    inside = [SimpleNamespace(ip=ip) for ip in ("10.0.0.1", "10.0.1.1", None, "127.0.0.1")]
    router = SimpleNamespace(name="r1", inNamespace=True, intfList=lambda: inside)
    switch = SimpleNamespace(name="s1", inNamespace=False, intfList=lambda: inside)
    names.name_the_nodes({"r1": router, "s1": switch}, tmp_path)
    added = (tmp_path / "hosts").read_text().removeprefix(names.ITSELF)
    assert added == "10.0.0.1\tr1\n10.0.1.1\tr1\n"
    assert (tmp_path / "hosts").stat().st_mode & 0o777 == 0o644
