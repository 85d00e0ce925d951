# SPDX-License-Identifier: BSD-3-Clause
import json
import platform
from pathlib import Path

import pytest

from linklab import cli, pocket_kernel
from linklab.doctor import engines, machine
from linklab.doctor.fit import Fit
from linklab.doctor.machine import MachineCheck, MemoryPlace, Module, Tool
from linklab.engine import host_kernel, sudo
from linklab.engine.pocket import PocketEngine
from linklab.errors import MissingError
from linklab.grade import bubblewrap
from linklab.tc.needs import Needs

GIB = 1024**3
PACKAGES = (Path(__file__).parents[2] / "tools/packages.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("system", "processor", "status"),
    [("Linux", "x86_64", "ok"), ("Linux", "aarch64", "warn"), ("Darwin", "x86_64", "missing")],
)
def test_the_pocket_needs_linux_on_x86_64(system, processor, status):
    """Linux elsewhere has the host engine, another system the virtual machine image."""
    check = machine.check_architecture(system, processor)
    assert (check.status, check.found.partition(";")[0]) == (status, f"{system} {processor}")
    assert ("x86-64 only" in check.found) == (status != "ok")
    assert check.cure == ("" if status == "ok" else pocket_kernel.instead(system))


@pytest.fixture
def on_arm(monkeypatch):
    """A machine with a processor that the pocket kernel is not for."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")


def test_on_arm_the_doctor_leaves_out_what_the_pocket_needs(on_arm):
    """Nothing advises to build a kernel that cannot be built; regression: `linklab kernel build` was the cure."""
    checks = machine.examine()
    assert not {check.name for check in checks} & set(machine.OF_THE_POCKET)
    assert "kernel build" not in str(checks)
    assert "make kernel" not in str(checks)


def test_on_arm_labs_run_by_the_host_engine_or_not_at_all(on_arm, monkeypatch, capsys):
    """The verdict names the engine; where it may not be used, that is what is missing."""
    fits = [Fit("Lab 3", "netem", "x86-64 only", "")]
    assert engines.check_host("", fits).status == "ok"
    lacking = engines.check_host("", [Fit("Lab 3", "netem", "x86-64 only", "this kernel lacks netem")])
    assert lacking.cure == "a distribution's own kernel has the modules"
    refused = engines.check_host("sudo asks for a password", [])
    assert (refused.status, refused.found) == ("missing", "not usable, and there is no pocket here")
    monkeypatch.setattr(machine, "examine", lambda: [machine.check_architecture("Linux", "aarch64")])
    for host, code, verdict in (
        (engines.check_host("", fits), 0, "Labs can run here, on the host engine: --engine host."),
        (refused, 4, "Labs cannot run here yet; missing: host engine."),
    ):
        monkeypatch.setattr(engines, "examine", lambda checks, host=host: (host, fits))
        assert cli.main(["doctor"]) == code
        assert verdict in capsys.readouterr().out


def test_on_arm_the_table_of_engines_says_why_there_is_no_pocket(on_arm, monkeypatch):
    """With nothing missing, too."""
    monkeypatch.setattr(engines.sudo, "ask", lambda order: {})
    monkeypatch.setattr(engines, "all_needs", lambda: {"Lab 3": Needs()})
    _, (fit,) = engines.examine([MachineCheck("iperf3", "ok", "x")])
    assert (fit.pocket, fit.engines) == ("x86-64 only", ["host"])


@pytest.mark.parametrize("command", [["run", "3"], ["kernel", "build"], ["kernel", "path"]])
def test_on_arm_what_wants_a_pocket_says_what_to_take(on_arm, tmp_path, monkeypatch, capsys, command):
    """Before anything is built or fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(command) == 4
    said = capsys.readouterr().err
    assert "runs on Linux on x86-64 only, and this is Linux aarch64: take the host engine" in said
    assert "--engine host" in said
    assert not list(tmp_path.iterdir())


def test_on_arm_the_editor_is_told_where_to_choose_the_engine(on_arm, tmp_path):
    """Its Run starts an engine as this does, and shows the message."""
    with pytest.raises(MissingError, match=r"x86-64 only, .* in the editor Preferences, Running"):
        PocketEngine().start(None, workdir=tmp_path).__enter__()


def test_on_arm_nothing_of_the_host_engine_points_to_the_pocket(on_arm, monkeypatch):
    """Its refusals name cures that can be had."""
    monkeypatch.setattr(sudo.os, "getuid", lambda: 1000)
    assert "sudo -v" in sudo.refusal("no tty", 1)
    assert "pocket" not in sudo.refusal("no tty", 1)
    monkeypatch.setattr(host_kernel, "lacks", lambda needs: Needs(qdiscs=frozenset({"netem"})))
    with pytest.raises(MissingError, match="own kernel has the modules") as caught:
        host_kernel.require(Needs(), "Lab 3")
    assert "pocket" not in str(caught.value)


def test_a_kernel_that_is_not_built_has_a_cure():
    """The cure is a command to type."""
    assert machine.check_kernel(None) == MachineCheck("pocket kernel", "missing", "not built", "make kernel")
    assert machine.check_kernel("Linux 7.3.4, /somewhere/linux").status == "ok"


@pytest.mark.parametrize(
    ("available", "status", "found"),
    [
        (8 * GIB, "ok", "8.0 GiB available"),
        (2 * GIB, "ok", "2.0 GiB available"),
        (GIB, "warn", "1.0 GiB available"),
        (GIB // 4, "missing", "0.2 GiB available"),
        (None, "warn", "unknown"),
    ],
)
def test_memory_is_judged_by_what_labs_take(available, status, found):
    """2 GiB carry every lab, half of one the slow ones."""
    check = machine.check_memory(available)
    assert (check.status, check.found) == (status, found)


def test_without_a_sandbox_only_grading_is_missing():
    """Labs run all the same; the cure is the one that grading would name."""
    assert machine.check_sandbox(None).status == "ok"
    denied = machine.check_sandbox("this machine denies user namespaces: sudo sysctl")
    assert (denied.status, denied.cure) == ("warn", "this machine denies user namespaces: sudo sysctl")
    assert machine.labs_can_run([denied])


def test_where_nothing_can_be_confined_nothing_is_tried(monkeypatch):
    """Regression: for root, the doctor started the bubblewrap that it had found missing, and ended with an error."""

    def tried():
        raise FileNotFoundError("bwrap")

    monkeypatch.setattr(bubblewrap, "why_not", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(bubblewrap, "as_whom", tried)
    assert machine._look_for_sandbox().cure == "bubblewrap is not installed"


def test_a_noexec_shm_is_passed_over():
    """Docker's /dev/shm is noexec and would kill the boot; /tmp on disk does."""
    places = [MemoryPlace("/dev/shm", "is mounted noexec", "is mounted noexec"), MemoryPlace("/tmp", None, None)]
    assert machine.check_place(places) == MachineCheck("place for memory", "ok", "/tmp")


def test_a_small_place_is_enough_for_slow_labs():
    """The warning says what cannot be run there."""
    check = machine.check_place([MemoryPlace("/tmp", "has only 300 MiB free", None)])
    assert (check.status, check.found) == ("warn", "/tmp, too small for labs at 10 Gbps: has only 300 MiB free")
    assert "LINKLAB_TMP" in check.cure


def test_without_a_place_each_folder_says_why():
    """The cure is one environment variable."""
    places = [
        MemoryPlace("/dev/shm", "is mounted noexec", "is mounted noexec"),
        MemoryPlace("/tmp", "is full", "is full"),
    ]
    check = machine.check_place(places)
    assert (check.status, check.found) == ("missing", "/dev/shm is mounted noexec; /tmp is full")
    assert "LINKLAB_TMP" in check.cure


def test_without_seccomp_labs_run_slower_but_run():
    """ptrace serves too."""
    assert machine.check_seccomp("kill_process trap errno user_notif\n").status == "ok"
    assert machine.check_seccomp("kill_process trap errno\n").found == "no user_notif"
    assert machine.check_seccomp(None).status == "warn"


def test_where_compiled_code_cannot_be_kept_commands_start_slowly():
    """A warning with the folder and a cure; labs run all the same."""
    assert machine.check_compiled([]) == MachineCheck("compiled code", "ok", "compiled code can be kept")
    assert machine.check_compiled([Path("/usr/lib/linklab/cli.py"), Path("/usr/lib/linklab/lab.py")]) == MachineCheck(
        "compiled code",
        "warn",
        "/usr/lib/linklab takes no compiled code of yours (2 modules), so Linklab's own commands start more slowly in "
        "a network",
        "use a clone of your own, or let the owner of that folder run a lab once; where Linklab came as a package: "
        "sudo dpkg-reconfigure linklab",
    )


def test_a_tool_is_shown_with_its_packages_version():
    """Or with its path where no package brought it."""
    tool = Tool("iperf3", "iperf3", "labs")
    assert machine.check_tool(tool, "/usr/bin/iperf3", {"iperf3": "3.12-1"}) == MachineCheck(
        "iperf3", "ok", "iperf3 3.12-1"
    )
    assert machine.check_tool(tool, "/opt/bin/iperf3", {}) == MachineCheck("iperf3", "ok", "/opt/bin/iperf3")


def test_a_missing_tool_names_its_package():
    """A tool that no lab needs to run is a warning."""
    check = machine.check_tool(Tool("iperf3", "iperf3", "labs"), None, {})
    assert check == MachineCheck("iperf3", "missing", "not found; needed for labs", "sudo apt-get install iperf3")
    assert machine.check_tool(Tool("xterm", "xterm", "windows", needed=False), None, {}).status == "warn"


def test_a_missing_module_is_pips_or_apts():
    """What pip installed comes back by `make setup`."""
    assert machine.check_module(Module("jinja2", "", "reports"), False, {}).cure == "make setup"
    assert machine.check_module(Module("tkinter", "python3-tk", "x", False), False, {}).cure.endswith("python3-tk")


def test_a_display_is_either_kind():
    """Without one labs still run."""
    assert machine.check_display({"DISPLAY": ":0"}) == MachineCheck("display", "ok", "DISPLAY=:0")
    assert machine.check_display({"WAYLAND_DISPLAY": "wayland-0"}).status == "ok"
    assert machine.check_display({"DISPLAY": ""}).status == "warn"


def test_only_what_is_missing_keeps_labs_from_running():
    """A warning takes something away and no more."""
    ok, warn, missing = (MachineCheck("x", status, "") for status in ("ok", "warn", "missing"))
    assert machine.labs_can_run([ok, warn])
    assert not machine.labs_can_run([ok, missing])


def test_set_up_installs_every_package_the_doctor_names():
    """The cure of `linklab doctor` and the list of `make setup` are the same packages."""
    named = {part.package for part in (*machine.TOOLS, *machine.MODULES) if part.package}
    assert named <= set(PACKAGES)


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("warn", 0), ("missing", 4)])
def test_the_command_prints_findings_and_a_verdict(monkeypatch, capsys, status, code):
    """As a table for people and as JSON for programs, with the same exit code."""
    check = MachineCheck("iperf3", status, "what is [there]", "a cure")
    host = MachineCheck("host engine", "ok", "Linux 6.18 can run all labs and exercises")
    fits = [Fit("Lab 3", "netem", "", "this kernel lacks netem"), Fit("Lab 2", "veth", "", "")]
    monkeypatch.setattr(machine, "examine", lambda: [check])
    monkeypatch.setattr(engines, "examine", lambda checks: (host, fits))
    assert cli.main(["doctor", "--json"]) == code
    assert json.loads(capsys.readouterr().out) == {
        "labs_can_run": code == 0,
        "checks": [
            {"name": "iperf3", "status": status, "found": "what is [there]", "cure": "a cure"},
            {"name": "host engine", "status": "ok", "found": "Linux 6.18 can run all labs and exercises", "cure": ""},
        ],
        "labs": [
            {
                "name": "Lab 3",
                "needs": "netem",
                "pocket": "",
                "host": "this kernel lacks netem",
                "engines": ["pocket"],
            },
            {"name": "Lab 2", "needs": "veth", "pocket": "", "host": "", "engines": ["pocket", "host"]},
        ],
    }
    assert cli.main(["doctor"]) == code
    text = capsys.readouterr().out
    assert " Lab 3                      yes     this kernel lacks netem \n" in text
    assert "what is [there]" in text
    assert ("Labs can run here." if code == 0 else "missing: iperf3.") in text


def test_a_finding_is_one_line_where_there_is_no_terminal(capsys):
    """Whoever searches for a path finds it; regression: it was broken at 80 columns."""
    path = "Linux 7.3, /" + 30 * "folder/"
    machine.render([MachineCheck("pocket kernel", "ok", path)])
    assert any(path in line for line in capsys.readouterr().out.splitlines())


def test_this_machine_can_be_examined():
    """Every check names what it found, and everything that is not well has a cure."""
    checks = machine.examine()
    assert len({check.name for check in checks}) == len(checks)
    assert all(check.found for check in checks)
    assert all((check.cure == "") == (check.status == "ok") for check in checks)
