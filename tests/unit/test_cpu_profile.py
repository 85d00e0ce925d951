# SPDX-License-Identifier: BSD-3-Clause
"""The command `cpu_profile` on a folder in place of the kernel's parameters."""

import json

import pytest

from linklab.agent import cpu_profile

PROFILES = json.loads(cpu_profile.PROFILES.read_text())
DESKTOP = cpu_profile.written(PROFILES["desktop"])
LINES = """\
* desktop   system call 300 ns, byte copied 48 ps, packet into a link 1000 ns, fork 60 us, start of a program 250 us
            a process that slept runs in 1 to 50 us, half of them within {half} us
"""


@pytest.fixture
def parameters(tmp_path, monkeypatch):
    """Parameters of a kernel that charges what desktop does."""
    for name, price in DESKTOP.items():
        (tmp_path / name).write_text(f"{price}\n")
    (tmp_path / "cmdline").write_text("CLOCK=virtual\n")
    monkeypatch.setattr(cpu_profile, "PARAMETERS", tmp_path)
    monkeypatch.setattr(cpu_profile, "COMMAND_LINE", tmp_path / "cmdline")
    return tmp_path


def test_the_profile_that_is_charged_has_a_star(parameters, capsys):
    """Without a name every profile is shown."""
    assert cpu_profile.main([]) == 0
    shown = capsys.readouterr().out.splitlines(keepends=True)
    half = PROFILES["desktop"]["wake_ns"][8] / 1000
    assert "".join(shown[:2]) == LINES.format(half=f"{half:g}")
    assert [line[:9] for line in shown[2::2]] == ["  ideal  ", "  slow-vm"]


def test_a_profile_is_set_and_shown(parameters, capsys):
    """Each price is in its parameter."""
    assert cpu_profile.main(["ideal"]) == 0
    assert [(parameters / name).read_text() for name in DESKTOP] == ["0", "0", "500000", "0", "0", "1000", "0"]
    assert capsys.readouterr().out == (
        "* ideal     system call 0 ns, byte copied 0 ps, packet into a link 500 ns, "
        "fork 0 us, start of a program 0 us\n"
        "            a process that slept runs at once\n"
    )


def test_prices_that_the_kernel_did_not_take_are_an_error(parameters, capsys, monkeypatch):
    """Regression: they were written, not read back, and nothing was said."""
    taken = {**cpu_profile.written(PROFILES["ideal"]), "byte_ps": "48"}
    monkeypatch.setattr(cpu_profile, "prices_now", lambda: taken)
    assert cpu_profile.main(["ideal"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"cpu_profile: ideal was not set: byte_ps is 48 and not 0 ({parameters})\n"


def test_elsewhere_there_is_no_pocket_kernel(tmp_path, monkeypatch, capsys):
    """The command says so."""
    monkeypatch.setattr(cpu_profile, "PARAMETERS", tmp_path / "none")
    assert cpu_profile.main(["ideal"]) == 1
    assert capsys.readouterr().err == f"cpu_profile: there is no {tmp_path}/none: this is not a pocket kernel\n"
