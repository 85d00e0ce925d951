# SPDX-License-Identifier: BSD-3-Clause
"""Running networks as interfaces of Wireshark: its questions answered, and asked by the real tshark."""

import os
import shutil
import subprocess

import pytest

from linklab.capture import extcap
from linklab.cli import main
from linklab.errors import InputError

THERE = {"h1": ["h1-eth0", "lo"], "s1": ["s1-eth1"]}


def test_a_network_has_a_sentence_for_each_interface_and_one_for_all():
    """Loopbacks are left out, and braces in a name cannot end a field."""
    assert extcap.interface_sentences({"id": "1", "name": "La{b} 8"}, THERE) == [
        "interface {value=linklab:1:h1:h1-eth0}{display=La b  8 (1) h1:h1-eth0}",
        "interface {value=linklab:1:s1:s1-eth1}{display=La b  8 (1) s1:s1-eth1}",
        "interface {value=linklab:1:all}{display=La b  8 (1) all interfaces}",
    ]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("linklab:1:h1:h1-eth0", ("1", "h1:h1-eth0")), ("linklab:12:all", ("12", "all"))],
)
def test_a_name_is_read_back(name, meant):
    """As it was listed."""
    assert extcap.parse(name) == meant


@pytest.mark.parametrize("name", ["eth0", "linklab:x:h1:h1-eth0", "linklab:1:h1", "linklab:1:h1:a b"])
def test_another_name_is_refused(name):
    """It says what ours look like."""
    with pytest.raises(InputError, match="such as linklab:1:h1:h1-eth0"):
        extcap.parse(name)


def test_wireshark_s_questions_about_an_interface(capsys):
    """Link type, options, and whether a capture filter is one: what is printed is the fault."""
    assert main(["extcap", "--extcap-interface", "linklab:1:h1:h1-eth0", "--extcap-dlts"]) == 0
    assert capsys.readouterr().out == "dlt {number=1}{name=EN10MB}{display=Ethernet}\n"
    assert main(["extcap", "--extcap-interface", "linklab:1:h1:h1-eth0", "--extcap-config"]) == 0
    assert "{call=--snaplen}" in capsys.readouterr().out
    assert main(["extcap", "--extcap-interface", "linklab:1:h1:h1-eth0", "--extcap-capture-filter", "icmp"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["extcap", "--extcap-interface", "linklab:1:h1:h1-eth0", "--extcap-capture-filter", "tcp prt 1"]) == 0
    assert "is no word of a filter" in capsys.readouterr().out


@pytest.fixture
def wireshark_says(tmp_path, monkeypatch):
    """A tshark that knows these folders and nothing else; home is elsewhere."""

    def says(text: str) -> None:
        program = tmp_path / "bin" / "tshark"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ncat <<'.'\n{text}\n.\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))

    return says


def test_it_is_installed_and_removed_where_wireshark_looks(wireshark_says, tmp_path, capsys):
    """In the user's own folder, as a program that answers."""
    wireshark_says(f"Personal Extcap path:\t{tmp_path / 'mine'}\nExtcap path:\t{tmp_path / 'all'}")
    assert main(["extcap", "--install"]) == 0
    path = tmp_path / "mine" / extcap.SCRIPT
    assert f"{path} is there" in capsys.readouterr().out
    answer = subprocess.run([path, "--extcap-interfaces"], capture_output=True, text=True, cwd="/", check=True)
    assert answer.stdout.startswith("extcap {version=")
    assert main(["extcap", "--remove"]) == 0
    assert not path.exists()
    assert main(["extcap", "--install", "--system"]) == 0
    assert (tmp_path / "all" / extcap.SCRIPT).is_file()


def test_an_old_wireshark_that_does_not_look_there_is_named(wireshark_says, tmp_path, capsys):
    """Wireshark 4.0 of Debian 12 has one folder, for all users."""
    wireshark_says("Extcap path:\t/usr/lib/wireshark/extcap")
    assert main(["extcap", "--install"]) == 0
    said = capsys.readouterr().out
    assert "this Wireshark looks in /usr/lib/wireshark/extcap alone" in said
    assert f"WIRESHARK_EXTCAP_DIR={tmp_path}/home/.local/lib/wireshark/extcap" in said


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_real_tshark_reads_the_answers(tmp_path):
    """Its own list has what a program with our sentences says."""
    program = tmp_path / "fixed"
    sentences = [extcap.greeting(), *extcap.interface_sentences({"id": "7", "name": "Lab 8"}, THERE)]
    listed = "\n".join(sentences)
    about = "\n".join([extcap.link_type_sentence(), *extcap.option_sentences()])
    program.write_text(f"#!/bin/sh\ncase \"$*\" in *interfaces*) echo '{listed}';; *) echo '{about}';; esac\n")
    program.chmod(0o755)
    # to root Wireshark's programs refuse another folder, so in a namespace we are somebody else
    shown = subprocess.run(
        [*(["unshare", "--user"] if os.getuid() == 0 else []), "tshark", "-D"],
        capture_output=True,
        text=True,
        env={**os.environ, "WIRESHARK_EXTCAP_DIR": str(tmp_path)},
        check=False,
    ).stdout
    assert "linklab:7:h1:h1-eth0 (Lab 8 (7) h1:h1-eth0)" in shown
    assert "linklab:7:all (Lab 8 (7) all interfaces)" in shown
