# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import fcntl
import json
import os
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from linklab.engine import sudo
from linklab.engine.api import Clock
from linklab.engine.host import HostEngine, _listening
from linklab.errors import InputError, MissingError
from linklab.linux.kernelcalls import swapped
from linklab.warden import paths
from linklab.warden.handover import hand_over
from linklab.warden.records import ALLOWED, AVAILABLE, Records, boot_id, start_of

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root: it gives files away")


HYSTART = "module/tcp_cubic/parameters/hystart"


@pytest.fixture
def records(tmp_path):
    """Records of their own, and a machine of three settings and a module with a parameter."""
    settings = {
        "net/core/rmem_max": "212992",
        "fs/file-max": "99999",
        ALLOWED: "reno cubic",
        AVAILABLE: "reno cubic bbr",
    }
    for name, value in settings.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / name).write_text(value + "\n")
    (tmp_path / HYSTART).parent.mkdir(parents=True)
    (tmp_path / HYSTART).write_text("1\n")
    return Records(tmp_path / "run" / "host", tmp_path / "sys", tmp_path / "module")


def value(records, name):
    """What a setting is now."""
    return (records.sysctl / name).read_text().strip()


def put(records, name, text):
    """As somebody else, or a module that is loaded, would."""
    (records.sysctl / name).write_text(text + "\n")


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


def test_what_somebody_else_has_set_between_two_networks_is_what_is_put_back(records):
    """The second network widens it again."""
    first = records.begin(0, "/a")
    put(records, "net/core/rmem_max", "300000")
    second = records.begin(0, "/b")
    assert value(records, "net/core/rmem_max") == "16777216"
    records.end(second)
    records.end(first)
    assert value(records, "net/core/rmem_max") == "300000"


def test_an_algorithm_loaded_between_two_networks_is_allowed_no_longer_than_they_run(records):
    """What was allowed at first is what is allowed at last."""
    first = records.begin(0, "/a")
    put(records, AVAILABLE, "reno cubic bbr htcp")
    second = records.begin(0, "/b")
    assert value(records, ALLOWED) == "reno cubic bbr htcp"
    records.end(first)
    records.end(second)
    assert value(records, ALLOWED) == "reno cubic"


def test_a_parameter_of_a_module_that_a_lab_has_set_is_put_back(records, tmp_path):
    """No namespace keeps CUBIC's HyStart to itself; also after SIGKILL."""
    record = records.begin(0, "/a")
    (tmp_path / HYSTART).write_text("0\n")
    os.close(record.file)
    assert f"setting {HYSTART.replace('/', '.')}, 1 again" in records.clean()
    assert (tmp_path / HYSTART).read_text() == "1\n"


def test_what_cannot_be_put_back_is_not_said_to_be_and_waits(records):
    """Until somebody may."""
    record = records.begin(0, "/a")
    os.close(record.file)
    kept = Records._set
    records._set = lambda name, value: name != "net/core/rmem_max" and kept(records, name, value)
    assert not any("rmem_max" in line for line in records.clean())
    assert records.settings_left()
    del records._set
    assert records.clean() == ["setting net.core.rmem_max, 212992 again"]
    assert not records.folder.exists()


def test_a_record_that_somebody_else_locks_is_left_all_the_same(records):
    """Everybody may read it, and whoever reads may lock (flock(2)); its warden has gone."""
    record = records.begin(0, "/a")
    gone = subprocess.Popen(["true"])
    gone.wait()
    record.write(warden=gone.pid, warden_start=1)
    with record.path.open() as reader:
        os.close(record.file)
        fcntl.flock(reader, fcntl.LOCK_EX)
        assert records.left() == [record.id]
        assert stat.S_IMODE(record.path.stat().st_mode) == 0o644
        assert records.clean()[0] == f"network {record.id} of the host engine"


def test_a_process_that_nobody_waits_for_has_ended():
    """Its number stays taken, in a container without an init for ever."""
    ended = subprocess.Popen(["sleep", "60"])
    assert start_of(ended.pid) is not None
    ended.kill()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert start_of(ended.pid) is None
    ended.wait()


def test_a_record_without_the_wardens_start_is_somebody_elses(records):
    """Of an earlier Linklab, whose network may run: as long as its lock is held nothing is done."""
    record = records.begin(0, "/a")
    del record.data["warden_start"]
    record.write()
    assert records.left() == []
    assert records.clean() == []


def test_nobody_else_may_open_the_lock(records):
    """So nobody can keep networks from beginning."""
    with records.alone():
        assert stat.S_IMODE((records.folder / "lock").stat().st_mode) == 0o600


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


@needs_root
@pytest.mark.parametrize("shared", ["linklab/__pycache__", "scripts", "linklab/agent/deep", "."])
def test_root_runs_no_package_of_which_another_may_write_a_part(shared):
    """Compiled code, scripts on the path of root's terminals, a sticky folder whose owner may rename what is in it."""
    with tempfile.TemporaryDirectory(dir="/run") as folder:  # whose parents are root's alone
        base = Path(folder)
        for name in ("linklab/__pycache__", "linklab/warden", "linklab/agent/deep", "scripts"):
            (base / name).mkdir(parents=True, exist_ok=True)
        (base / "linklab/__init__.py").touch()
        base.chmod(0o1755)
        paths.check_code(base / "linklab", 1000)
        os.chown(base / shared, 4242, 4242)
        with pytest.raises(paths.RefusedError, match="belongs to user 4242 and would be used by root"):
            paths.check_code(base / "linklab", 1000)


def test_a_group_that_many_share_is_no_private_one(monkeypatch):
    """A directory service may not list its users, so an empty list proves nothing."""
    owner = type("P", (), {"pw_name": "alice", "pw_gid": 100})
    monkeypatch.setattr(paths.pwd, "getpwall", list)
    monkeypatch.setattr(paths.pwd, "getpwuid", lambda uid: owner)
    for name, private in (("students", False), ("alice", True)):
        monkeypatch.setattr(
            paths.grp, "getgrgid", lambda gid, name=name: type("G", (), {"gr_name": name, "gr_mem": []})
        )
        assert paths._private_group(100, 1000) is private


def test_root_does_not_use_what_belongs_to_a_third(tmp_path):
    """Neither root's nor the caller's."""
    about = os.stat_result((stat.S_IFREG | 0o644, 0, 0, 1, 4242, 4242, 0, 0, 0, 0))
    with pytest.raises(paths.RefusedError, match="belongs to user 4242 and would be used by root"):
        paths.check_owner(tmp_path / "x.py", about, 1000)


def test_the_socket_belongs_to_its_user_alone(monkeypatch):
    """0600 in a folder of 0700; the warden connects to no other.  Files of other threads keep their permissions."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask is that of all threads"))
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


def test_the_working_folder_is_the_very_one_that_was_asked_for(tmp_path):
    """No link leads to it, and its owner decides whether it may be written."""
    (tmp_path / "work/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "work")
    folder, writable = paths.open_work(tmp_path / "work", os.getuid() + 1)
    os.close(folder)
    assert not writable
    for wrong in ("link", "none"):
        with pytest.raises(paths.RefusedError, match="is no folder, or a link to one"):
            paths.open_work(tmp_path / wrong, os.getuid())
    with pytest.raises(paths.RefusedError, match="leads over a link"):
        paths.open_work(tmp_path / "link/deep", os.getuid())


@needs_root
def test_what_root_wrote_is_handed_over_and_nothing_else(tmp_path):
    """Neither what is older, nor what has a name elsewhere, nor what a link leads to; however deep it lies."""
    work = tmp_path / "work"
    for name in ("work/old", "linked", "elsewhere/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    began = int((tmp_path / "elsewhere/x").stat().st_ctime) + 1
    while time.time() < began + 0.1:
        time.sleep(0.05)
    with below(work / "made", 1100):
        Path("file").touch()
        (work / "other").hardlink_to(tmp_path / "linked")
        (work / "away").symlink_to(tmp_path / "elsewhere")
        about = work.stat()
        record = {"work": str(work), "uid": 4242, "gid": 4243, "began": began, "folder": [about.st_dev, about.st_ino]}
        hand_over({**record, "folder": [about.st_dev, about.st_ino + 1]})
        assert Path("file").stat().st_uid == 0
        hand_over(record)
        made = Path("file").stat()
        owners = [(work / name).lstat().st_uid for name in ("made", "away", "other", "old")]
    assert (made.st_uid, made.st_gid) == (4242, 4243)
    assert owners == [4242, 4242, 0, 0]
    assert (tmp_path / "elsewhere/x").stat().st_uid == 0


@contextlib.contextmanager
def below(folder, levels):
    """In a folder so many levels down, deeper than a path can name; gone afterwards."""
    here = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        for _ in range(levels):
            Path("d").mkdir()
            os.chdir("d")
        yield
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-rf", str(folder)], check=True)  # Python 3.11's own calls itself for each level


def test_a_map_in_which_root_and_a_user_change_places():
    """Everybody else stays who they are; ranges of user_namespaces(7): inside, outside, count."""
    assert swapped(1000) == "0 1000 1\n1 1 999\n1000 0 1\n1001 1001 64535\n"
    assert swapped(1) == "0 1 1\n1 0 1\n2 2 65534\n"
    assert swapped(0) == "0 0 65536\n"


def test_another_clock_than_the_wall_clock_is_refused(tmp_path):
    """With what to type instead."""
    engine = HostEngine()
    refused = pytest.raises(InputError, match=r"the host engine has no virtual clock.*--clock wall, or the pocket")
    with refused, engine.start(None, workdir=tmp_path, clock=Clock.VIRTUAL):
        pass


def test_a_machine_without_the_wardens_interpreter_is_told_so(monkeypatch):
    """Regression: `linklab doctor` ended in a traceback, as in a container whose Python lies elsewhere."""
    monkeypatch.setattr(sudo, "COMMAND", ("/none/such/python3", "-I"))
    monkeypatch.setattr(sudo, "_prefix", list)
    with pytest.raises(MissingError, match="/none/such/python3 cannot be started: No such file or directory"):
        sudo.ask({"do": "check"})


def test_the_line_for_sudoers_names_one_command_and_no_options_of_ours(monkeypatch):
    """What the warden is to do goes to its standard input, so there is nothing to vary."""
    monkeypatch.setattr(sudo.pwd, "getpwuid", lambda uid: type("P", (), {"pw_name": "alice"}))
    monkeypatch.setattr(sudo, "COMMAND", ("/usr/bin/python3", "-I", "-S", "-B", "/opt/my lab/linklab/warden"))
    line = r"alice ALL=(root) NOPASSWD: /usr/bin/python3 -I -S -B /opt/my\ lab/linklab/warden"
    assert sudo.sudoers_line() == line
    monkeypatch.setattr(sudo.os, "getuid", lambda: 1000)
    told = sudo.refusal("sudo: a password is required\n", 1)
    assert told.startswith("the host engine needs root for one command: sudo: a password is required. Type `sudo -v`")
    assert told.endswith(f"\n    {line}")  # on a line of its own, to be copied
    assert "--engine pocket" in told
