# SPDX-License-Identifier: BSD-3-Clause
"""Networks that do what one before has done are not started, and what is graded is the same; on scripted networks."""

import pytest
from scripted import ScriptedEngine, ScriptedNetwork
from small_exercise import TOPOLOGY

from linklab.engine.api import Background, Computed, Engine, Typed
from linklab.errors import AgentError, EngineError
from linklab.grade import shared
from linklab.grade.shared import SharedEngine
from linklab.topology import Topology

_CONFORMS: type[Engine] = SharedEngine


def copies(folder):
    """A command that copies one file of the working folder to another."""
    (folder / "out.txt").write_bytes(b"of " + (folder / "in.txt").read_bytes())
    return "copied"


ANSWERS = {"copy": copies, "count": "3 packets\n", "other": "4 packets\n", "fails": ("no such thing", 1)}


class Computing(ScriptedNetwork):
    """One in which a program computed too long."""

    def computed(self):
        """That program."""
        return [Computed("python3", 1.0, 2.0)]


class Changing(ScriptedNetwork):
    """Answers differently each time that it is started."""

    started = 0

    def __init__(self, answers, workdir, nodes=()):
        type(self).started += 1
        super().__init__({**answers, "count": f"{self.started} packets\n"}, workdir, nodes)


class ComputingEngine(ScriptedEngine):
    """Of such networks."""

    network = Computing


class ChangingEngine(ScriptedEngine):
    """Of such networks."""

    network = Changing


@pytest.fixture
def use(tmp_path):
    """Do something in a network of a shared engine, in a new working folder; what came of it, and its files."""
    kept = tmp_path / "kept"
    kept.mkdir()
    number = iter(range(100))

    def use(engine, typed, seed=1, content=b"x", topology=TOPOLOGY):
        folder = tmp_path / f"work{next(number)}"
        folder.mkdir()
        (folder / "in.txt").write_bytes(content)
        with SharedEngine(engine, kept).start(Topology.load(topology), workdir=folder, seed=seed) as network:
            done = [network.run([Typed("h1", text)]) for text in typed]
            told = (done, network.now_s(), network.environment, list(network.nodes))
        return told, {path.name: path.read_bytes() for path in folder.iterdir()}

    return use


def test_the_same_again_is_answered_without_a_network(use):
    """The second is answered as the first: what was shown, the time, what it is, and the files that it wrote."""
    engine, none = ScriptedEngine(ANSWERS), ScriptedEngine({})
    first = use(engine, ["count", "copy", "fails"])
    assert use(none, ["count", "copy", "fails"]) == first
    assert none.networks == []
    assert first[1] == {"in.txt": b"x", "out.txt": b"of x"}
    assert [done[0].output for done in first[0][0]] == ["3 packets\n", "copied", "no such thing"]


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"content": b"y"}, {"topology": TOPOLOGY.with_name("Lab 12.mn")}],
    ids=["seed", "file", "drawing"],
)
def test_another_seed_file_or_drawing_is_another_network(use, other):
    """What decides what a network does is part of what it is known by."""
    use(ScriptedEngine(ANSWERS), ["copy"])
    engine = ScriptedEngine(ANSWERS)
    use(engine, ["copy"], **other)
    assert len(engine.networks) == 1


def test_what_goes_on_otherwise_does_the_same_again_first(use):
    """A network that is asked something new is started, and is asked all that came before, with the files of then."""
    use(ScriptedEngine(ANSWERS), ["copy", "count"])
    engine = ScriptedEngine(ANSWERS)
    told, files = use(engine, ["copy", "other", "count"])
    assert [[line[1] for line in typed] for typed in engine.networks[0].typed] == [["copy"], ["other"], ["count"]]
    assert (told[1], files) == (3.0, {"in.txt": b"x", "out.txt": b"of x"})


def test_a_folder_changed_between_two_commands_is_as_it_was_for_each(tmp_path):
    """A command that is done again sees the file that it saw, and the next one the file of now."""
    (tmp_path / "kept").mkdir()

    def grade(engine, last):
        work = tmp_path / f"work-{last}"
        work.mkdir()
        with SharedEngine(engine, tmp_path / "kept").start(Topology.load(TOPOLOGY), workdir=work) as network:
            for content in ("1", "2"):
                (work / "in.txt").write_text(content)
                network.run([Typed("h1", "copy")])
            (work / "in.txt").unlink()
            network.run([Typed("h1", last)])
        return sorted((path.name, path.read_text()) for path in work.iterdir())

    seen = []
    engine = ScriptedEngine({**ANSWERS, "copy": lambda folder: seen.append((folder / "in.txt").read_text()) or "done"})
    grade(ScriptedEngine({**ANSWERS, "copy": "done"}), "count")
    assert grade(engine, "other") == []
    assert seen == ["1", "2"]


def test_what_runs_in_the_background_is_stopped_as_before(use, tmp_path):
    """A server that is started and stopped in a network that does not run gives what it gave."""
    outputs = []
    for engine in (ScriptedEngine({"iperf3 -s": "1 test\n"}), ScriptedEngine()):
        work = tmp_path / f"server{len(outputs)}"
        work.mkdir()
        with SharedEngine(engine, tmp_path / "kept").start(Topology.load(TOPOLOGY), workdir=work) as network:
            network.run([Typed("h2", "iperf3 -s", Background())])
            outputs.append(network.stop("h2").output)
    assert outputs == ["1 test\n", "1 test\n"]
    assert engine.networks == []


def test_a_network_whose_time_followed_the_processor_is_not_kept(use):
    """The next one with the same settings is measured anew."""
    engine = ComputingEngine(ANSWERS)
    use(engine, ["count"])
    use(engine, ["count"])
    assert len(engine.networks) == 2


def test_a_network_that_failed_is_not_kept(use):
    """An error of ours must not become the error of everybody with the same settings."""
    engine = ScriptedEngine({**ANSWERS, "broken": AgentError("gone")})
    for _ in range(2):
        with pytest.raises(AgentError, match="gone"):
            use(engine, ["count", "broken"])
    assert len(engine.networks) == 2


def test_what_was_answered_while_memory_ran_out_is_not_kept(tmp_path, monkeypatch):
    """Regression: the OOM killer ended a process of one network; everyone with the same settings got its 0 points."""
    monkeypatch.setattr(shared, "own_oom_kills", iter([3, 4]).__next__)
    (tmp_path / "kept").mkdir()
    (tmp_path / "work").mkdir()
    engine = SharedEngine(ScriptedEngine(ANSWERS), tmp_path / "kept", waits=True)
    with engine.start(Topology.load(TOPOLOGY), workdir=tmp_path / "work") as network:
        network.run([Typed("h1", "count")])
    engine.keep()
    assert list((tmp_path / "kept").iterdir()) == []


def test_an_error_that_the_grader_goes_on_after_keeps_nothing(tmp_path):
    """What a network answered before and after an error is not kept, even where the grader makes do without."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "work").mkdir()
    engine = SharedEngine(ScriptedEngine({"broken": AgentError("late")}), tmp_path / "kept")
    with engine.start(Topology.load(TOPOLOGY), workdir=tmp_path / "work") as network:
        with pytest.raises(AgentError):
            network.run([Typed("h1", "broken")])
        network.run([Typed("h1", "count")])
    assert list((tmp_path / "kept").iterdir()) == []


def test_what_waits_is_kept_when_it_is_said(tmp_path):
    """Until then the same engine alone answers by it."""
    (tmp_path / "kept").mkdir()
    scripted = ScriptedEngine(ANSWERS)
    engine = SharedEngine(scripted, tmp_path / "kept", waits=True)
    for number in range(2):
        (tmp_path / f"work{number}").mkdir()
        with engine.within(5).start(Topology.load(TOPOLOGY), workdir=tmp_path / f"work{number}") as network:
            assert network.run([Typed("h1", "count")])[0].output == "3 packets\n"
        assert list((tmp_path / "kept").iterdir()) == []
    assert len(scripted.networks) == 1
    engine.keep()
    assert len(list((tmp_path / "kept").iterdir())) == 2, "its start, and what it was asked"


def test_answers_have_room_of_a_bounded_size(use, monkeypatch, tmp_path):
    """Regression: of commands that wrote much, 50 MiB a submission stayed on the disk until the class's end."""
    use(ScriptedEngine(ANSWERS), ["count"])
    size = sum(path.stat().st_size for path in (tmp_path / "kept").iterdir())
    monkeypatch.setattr(shared, "MOST_KEPT_BYTES", size + 10)
    use(ScriptedEngine(ANSWERS), ["other"])
    assert sum(path.stat().st_size for path in (tmp_path / "kept").iterdir()) == size


def test_a_network_that_cannot_be_shared_any_more_catches_up(tmp_path):
    """Regression: where its folder had come to hold more than is shared, catching up ended with an error of ours."""
    (tmp_path / "kept").mkdir()
    found = []
    for number in range(2):
        work = tmp_path / f"work{number}"
        work.mkdir()
        (work / "in.txt").write_bytes(b"x")
        engine = ScriptedEngine(ANSWERS)
        with SharedEngine(engine, tmp_path / "kept").start(Topology.load(TOPOLOGY), workdir=work) as network:
            network.run([Typed("h1", "copy")])
            (work / "many").mkdir()
            for each in range(shared.MOST_FILES):
                (work / f"many/{each}").touch()
            (work / "in.txt").write_bytes(b"y")
            found.append(network.run([Typed("h1", "copy")])[0].output)
        assert len(engine.networks) == 1
        assert (work / "out.txt").read_bytes() == b"of y"
        assert len(list((work / "many").iterdir())) == shared.MOST_FILES
    assert found == ["copied", "copied"]


def test_a_network_that_does_something_else_the_second_time_is_an_error_of_ours(use):
    """Answers of two networks that differ are never put together."""
    engine = ChangingEngine(ANSWERS)
    use(engine, ["count", "copy"])
    with pytest.raises(EngineError, match="did something else than one that was set to the same; grade with --no-shar"):
        use(engine, ["count", "other"])
    assert engine.networks[-1].closed


def test_a_folder_with_a_link_in_it_is_not_shared(tmp_path):
    """What is no plain file cannot be brought back, so such a network runs, and nothing of it is kept."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work/link").symlink_to("/etc/hostname")
    engine = ScriptedEngine(ANSWERS)
    with SharedEngine(engine, tmp_path / "kept").start(Topology.load(TOPOLOGY), workdir=tmp_path / "work") as network:
        assert network.run([Typed("h1", "count")])[0].output == "3 packets\n"
    assert (len(engine.networks), list((tmp_path / "kept").iterdir())) == (1, [])
    assert engine.networks[0].closed
