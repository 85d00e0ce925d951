# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import socket
import stat
from pathlib import Path

import pytest

from linklab.agent.kernelcalls import swapped
from linklab.engine import sudo
from linklab.engine.api import Clock
from linklab.engine.host import HostEngine, _listening
from linklab.errors import InputError
from linklab.warden import paths
from linklab.warden.records import ALLOWED, AVAILABLE, Records, boot_id, start_of


@pytest.fixture
def records(tmp_path):
    """Records of their own, and a machine of three settings."""
    settings = {
        "net/core/rmem_max": "212992",
        "fs/file-max": "99999",
        ALLOWED: "reno cubic",
        AVAILABLE: "reno cubic bbr",
    }
    for name, value in settings.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / name).write_text(value + "\n")
    return Records(tmp_path / "run" / "host", tmp_path / "sys")


def value(records, name):
    """What a setting is now."""
    return (records.sysctl / name).read_text().strip()


def test_settings_of_the_machine_are_put_back_when_the_last_network_ends(records):
    """Also where the first to begin is the first to end."""
    first, second = records.begin(1000, "/a"), records.begin(1000, "/b")
    assert value(records, "net/core/rmem_max") == "16777216"
    assert value(records, ALLOWED) == "reno cubic bbr"
    records.end(first)
    assert value(records, "net/core/rmem_max") == "16777216"
    records.end(second)
    assert value(records, "net/core/rmem_max") == "212992"
    assert value(records, ALLOWED) == "reno cubic"
    assert value(records, "fs/file-max") == "99999"
    assert not records.folder.parent.exists()


def test_what_somebody_else_has_set_meanwhile_stays(records):
    """It is theirs."""
    record = records.begin(0, "/a")
    (records.sysctl / "net/core/rmem_max").write_text("33554432\n")
    records.end(record)
    assert value(records, "net/core/rmem_max") == "33554432"


def test_a_network_whose_warden_was_killed_is_cleaned_and_one_that_runs_is_not(records):
    """A record counts as left when nobody holds its lock, as after SIGKILL; the settings wait for the last."""
    running, killed = records.begin(0, "/a"), records.begin(0, "/b")
    os.close(killed.file)
    assert records.left() == [killed.id]
    assert not records.settings_left()
    assert records.clean() == [f"network {killed.id} of the host engine"]
    assert value(records, "net/core/rmem_max") == "16777216"
    os.close(running.file)
    assert records.settings_left()
    assert records.clean() == [
        f"network {running.id} of the host engine",
        "setting net.ipv4.tcp_allowed_congestion_control, reno cubic again",
        "setting net.core.rmem_max, 212992 again",
    ]
    assert records.clean() == []


def test_a_record_of_an_earlier_boot_ends_no_process(records):
    """After a power cut its numbers belong to other programs: here to this one."""
    record = records.begin(0, "/a")
    record.write(first=os.getpid(), first_start=start_of(os.getpid()), boot="another")
    os.close(record.file)
    assert records.clean()[0] == f"network {record.id} of the host engine"


def test_a_record_says_whose_network_it_is_and_a_half_written_one_is_removed_too(records):
    """Everybody may read it."""
    record = records.begin(1000, "/home/a/work")
    data = json.loads(record.path.read_text())
    assert (data["id"], data["uid"], data["work"], data["boot"]) == (record.id, 1000, "/home/a/work", boot_id())
    record.path.write_text('{"id": "')
    os.close(record.file)
    assert records.clean()[0] == f"network {record.id} of the host engine"


@pytest.mark.parametrize(
    ("mode", "says"), [(0o646, "can be written by everybody"), (0o664, "can be written by its group")]
)
def test_root_does_not_use_what_others_can_write(tmp_path, mode, says):
    """The cure is a command to type."""
    file = tmp_path / "agent.py"
    file.touch()
    file.chmod(mode)
    about = os.stat_result((file.stat().st_mode, 0, 0, 1, os.getuid(), 4242, 0, 0, 0, 0))
    with pytest.raises(paths.RefusedError, match=rf"{says} and would be used by root; type: chmod go-w {file}"):
        paths.check_owner(file, about, os.getuid())
    file.chmod(0o644)
    paths.check_owner(file, file.stat(), os.getuid())


def test_root_does_not_use_what_belongs_to_a_third(tmp_path):
    """Neither root's nor the caller's."""
    about = os.stat_result((stat.S_IFREG | 0o644, 0, 0, 1, 4242, 4242, 0, 0, 0, 0))
    with pytest.raises(paths.RefusedError, match="belongs to user 4242 and would be used by root"):
        paths.check_owner(tmp_path / "x.py", about, 1000)


def test_the_socket_belongs_to_its_user_alone():
    """0600 in a folder of 0700; the warden connects to no other."""
    with _listening() as listener:
        path = Path(listener.getsockname())
        assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
        paths.connect(path, os.getuid()).close()
        with pytest.raises(paths.RefusedError, match="is not a folder of user 4242 alone"):
            paths.connect(path, 4242)
    assert not path.exists()


def test_a_socket_in_a_folder_that_others_may_enter_is_refused(tmp_path):
    """Whoever may enter could put another in its place."""
    tmp_path.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with pytest.raises(paths.RefusedError, match="is not a folder of"):
            paths.connect(tmp_path / "s", os.getuid())


def test_a_map_in_which_root_and_a_user_change_places():
    """Everybody else stays who they are; ranges of user_namespaces(7): inside, outside, count."""
    assert swapped(1000) == "0 1000 1\n1 1 999\n1000 0 1\n1001 1001 64535\n"
    assert swapped(1) == "0 1 1\n1 0 1\n2 2 65534\n"


def test_another_clock_than_the_wall_clock_is_refused(tmp_path):
    """With what to type instead."""
    engine = HostEngine()
    refused = pytest.raises(InputError, match=r"the host engine has no virtual clock.*--clock wall, or the pocket")
    with refused, engine.start(None, workdir=tmp_path, clock=Clock.VIRTUAL):
        pass


def test_the_line_for_sudoers_names_one_command_and_no_options_of_ours(monkeypatch):
    """What the warden is to do goes to its standard input, so there is nothing to vary."""
    monkeypatch.setattr(sudo.getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(sudo, "COMMAND", ("/usr/bin/python3", "-I", "-S", "-B", "/opt/my lab/linklab/warden"))
    line = r"alice ALL=(root) NOPASSWD: /usr/bin/python3 -I -S -B /opt/my\ lab/linklab/warden"
    assert sudo.sudoers_line() == line
    monkeypatch.setattr(sudo.os, "getuid", lambda: 1000)
    told = sudo.refusal("sudo: a password is required\n", 1)
    assert told.startswith("the host engine needs root for one command: sudo: a password is required. Type `sudo -v`")
    assert line in told and told.endswith("--engine pocket")
