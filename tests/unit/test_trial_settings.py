# SPDX-License-Identifier: BSD-3-Clause
"""What a trial sets: only what a script may set, where it belongs, read back, and put back where all nodes share it."""

import contextlib
import json
import time
from pathlib import Path

import pytest
from test_trial_inside import begin, flow, outcome, run

from linklab.agent import trial_settings
from linklab.agent.trial_plan import PlanError, PlannedSetting, load
from linklab.agent.trial_settings import Settings
from linklab.linux.allowed_settings import setting_file, why_not_allowed

ECN, RMEM, ALLOWED = "net.ipv4.tcp_ecn", "net.core.rmem_max", "net.ipv4.tcp_allowed_congestion_control"
TRIPLE = "net.ipv4.tcp_rmem"
HYSTART = "tcp_cubic.hystart"


class Space:
    """A namespace whose files of /proc and /sys lie in a folder."""

    def __init__(self, root: Path, monkeypatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch

    def file(self, word, name) -> Path:
        """The file of a setting here."""
        return self.root / setting_file(word, name).lstrip("/")

    def inside(self, make):
        """As `NodeSpace.inside`."""
        with self.monkeypatch.context() as patch:
            patch.setattr(trial_settings, "_file", lambda setting: self.file(setting.word, setting.name))
            return make()

    def has(self, word, name, text) -> Path:
        """Give it a file."""
        path = self.file(word, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
        return path


@pytest.fixture
def nodes(tmp_path, monkeypatch):
    """A network of h1 and the client."""
    return {name: Space(tmp_path / name, monkeypatch) for name in ("h1", "client")}


def sysctl(name, value, at_s=None):
    """A setting of h1."""
    return PlannedSetting("h1", name, "SET_SYSCTL", value, at_s=at_s)


def made(nodes, *planned):
    """The settings, all of them written."""
    settings = Settings(planned, nodes, 20.0)
    for number in range(len(planned)):
        settings.write(number)
    return settings


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (("SET_SYSCTL", "kernel.core_pattern", "|/bin/sh"), "a script may not set the sysctl"),
        (("SET_SYSCTL", "net.ipv4.../../kernel/core_pattern", "x"), "a script may not set the sysctl"),
        (("SET_SYSCTL", ECN, "3"), "must be 0 to 2"),
        (("SET_MODULE_PARAMS", "kernel.panic", "1"), "a script may not set the module parameter"),
        (("SET_ANYTHING", ECN, "1"), "sets nothing"),
    ],
)
def test_a_plan_that_was_edited_sets_nothing_else(nodes, tmp_path, setting, says):
    """Regression: the runner wrote whatever file and value its plan named."""
    plan = {
        "format": 1,
        "length_s": 1,
        "settings": [{"node": "h1", **dict(zip(("word", "name", "value"), setting, strict=True))}],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (nodes["h1"].root / "proc/sys/kernel").mkdir(parents=True)
    there = nodes["h1"].root / "proc/sys/kernel/core_pattern"
    there.write_text("core\n")
    nodes["h1"].has("SET_SYSCTL", ECN, "2")
    (told,) = made(nodes, *load(tmp_path / "plan.json").settings).as_json()
    assert says in told["why"]
    assert there.read_text() == "core\n"
    assert nodes["h1"].file("SET_SYSCTL", ECN).read_text() == "2\n"
    assert not nodes["client"].root.exists()


def test_a_plan_names_no_file(tmp_path):
    """Regression: a setting had a path of its own."""
    one = {"node": "h1", "name": ECN, "path": "/etc/passwd", "value": "x"}
    (tmp_path / "plan.json").write_text(json.dumps({"format": 1, "length_s": 1, "settings": [one]}))
    with pytest.raises(PlanError, match="setting 1: unknown: path"):
        load(tmp_path / "plan.json")
    del one["path"]
    (tmp_path / "plan.json").write_text(json.dumps({"format": 1, "length_s": 1, "settings": [one]}))
    with pytest.raises(PlanError, match="setting 1: it needs either a word or an argv"):
        load(tmp_path / "plan.json")


def test_what_a_host_refuses_is_not_set_for_all(nodes):
    """Regression: after any failure on the host the value was written for the whole network and told as set."""
    ours = nodes["client"].has("SET_SYSCTL", ECN, "2")
    (told,) = made(nodes, sysctl(ECN, "1")).as_json()
    assert told["why"] == f"this kernel has no {ECN}"
    assert told["of"] == "node"
    assert ours.read_text() == "2\n"


@pytest.mark.parametrize("readable", [False, True])
def test_what_all_nodes_share_is_set_for_all_and_put_back(nodes, monkeypatch, readable):
    """A namespace has no file of it, or one that is only to be read; the module's parameters are the kernel's own."""
    if readable:
        theirs = nodes["h1"].has("SET_SYSCTL", RMEM, "212992")
        opened = Path.open

        def refusing(path, mode="r", **more):
            if path == theirs and "w" in mode:
                raise PermissionError(13, "Permission denied")
            return opened(path, mode, **more)

        monkeypatch.setattr(Path, "open", refusing)
    shared = nodes["client"].has("SET_SYSCTL", RMEM, "212992")
    parameter = nodes["client"].has("SET_MODULE_PARAMS", HYSTART, "1")
    settings = made(
        nodes,
        sysctl(RMEM, "3000000"),
        PlannedSetting("h1", HYSTART, "SET_MODULE_PARAMS", "0"),
        sysctl(RMEM, "4000000", 1.0),
    )
    assert [(one["of"], one["why"]) for one in settings.as_json()] == [("network", "")] * 3
    assert (shared.read_text(), parameter.read_text()) == ("4000000", "0")
    assert settings.restore() == []
    assert (shared.read_text(), parameter.read_text()) == ("212992\n", "1\n")
    shared.write_text("5")
    assert settings.restore() == []
    assert shared.read_text() == "5"


def test_what_cannot_be_put_back_is_said(nodes):
    """With what it was."""
    shared = nodes["client"].has("SET_SYSCTL", RMEM, "212992")
    settings = made(nodes, sysctl(RMEM, "3000000"))
    shared.unlink()
    shared.mkdir()
    (lost,) = settings.restore()
    assert lost == f'{RMEM} was "212992" before the test and cannot be put back: Is a directory'


@pytest.mark.parametrize(
    ("name", "value", "found", "same"),
    [
        (TRIPLE, "4096,16000,128000", "4096\t16000\t128000", True),
        (TRIPLE, "4096,16000,128000", "128000\t16000\t4096", False),
        (ALLOWED, "reno,cubic", "cubic reno", True),
        (ALLOWED, "reno,cubic", "reno", False),
    ],
)
def test_a_value_is_compared_in_its_order(nodes, monkeypatch, name, value, found, same):  # noqa: PLR0917 - a row of the table
    """Regression: three numbers in another order counted as set. The algorithms are a set."""
    nodes["h1"].has("SET_SYSCTL", name, "")
    monkeypatch.setattr(trial_settings, "_read", lambda space, setting: found)
    (told,) = made(nodes, sysctl(name, value)).as_json()
    assert told["why"] == ("" if same else f'{name} is "{found}" after it was set to "{value.replace(",", " ")}"')


def test_a_setting_of_the_paper_is_written_where_the_kernel_has_it(nodes):
    """It spells some names in another way."""
    assert not why_not_allowed("SET_SYSCTL", "net.core.rmem.max", "3000000")
    shared = nodes["client"].has("SET_SYSCTL", RMEM, "212992")
    made(nodes, sysctl("net.core.rmem.max", "3000000"))
    assert shared.read_text() == "3000000"


def test_equal_commands_at_one_time_are_both_run(tmp_path):
    """Regression: the second took the place of the first, which was held for ever."""
    one = {"node": "client", "name": "note", "argv": ["sh", "-c", f"echo x >> {tmp_path}/ran"], "at_s": 0.2}
    status, _, found = run(tmp_path, flow("a", "true", start_s=0.2), settings=[one, one])
    assert status == 0
    assert (tmp_path / "ran").read_text() == "x\nx\n"
    assert [each["why"] for each in found["settings"]] == ["", ""]
    assert {path.name for path in (tmp_path / "out").glob("setting-*.out")} == {"setting-1.out", "setting-2.out"}


def test_a_command_in_the_midst_has_a_deadline(tmp_path):
    """Regression: one that did not end held the flows of its time until the test was over."""
    slow = {"node": "client", "name": "slow", "argv": ["sleep", "100"], "at_s": 0.1}
    after = {"node": "client", "name": "after", "argv": ["true"], "at_s": 0.1}
    began = time.monotonic()
    _, _, found = run(tmp_path, flow("a", "true", start_s=0.1), settings=[slow, after], command_s=0.5)
    assert time.monotonic() - began < 20
    assert [each["why"] for each in found["settings"]] == ["it did not end within 0.5 s and was killed", ""]
    assert found["programs"]["a"]["why"] == ""
    assert found["programs"]["a"]["started_s"] >= 0.6


def test_a_command_that_the_test_cut_off_is_told(tmp_path):
    """What was due and did not end is not passed over."""
    slow = {"node": "client", "name": "slow", "argv": ["sleep", "100"], "at_s": 0.1}
    with begin(tmp_path, flow("a", "sleep 100"), settings=[slow]) as process:
        for line in process.stdout:
            if json.loads(line).get("t", 0) >= 1:
                break
        process.terminate()
        with contextlib.suppress(ValueError):
            process.communicate(timeout=30)
    assert [each["why"] for each in outcome(tmp_path)["settings"]] == ["it had not ended when the test ended"]
