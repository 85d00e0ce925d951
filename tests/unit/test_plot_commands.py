"""`linklab plot`, `linklab fairness` and their scripts: what is printed, what is written, what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from linklab.agent.sampler import EXIT_NO_QUEUE
from linklab.cli import main
from linklab.commands import plot

ROOT = Path(__file__).parent.parent.parent
CAPTURES = ROOT / "tests" / "captures"
SAMPLES = CAPTURES / "queue-samples-6.1.0-htb-tbf.jsonl"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def iperf3(case: str) -> str:
    """Path of a capture of iperf3."""
    return str(CAPTURES / f"iperf3-{case}")


def test_plot_iperf(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures go to results/ of the current folder, and the last line says which."""
    assert main(["plot", "iperf", iperf3("3.12-tcp.json")]) == 0
    assert (Path("results") / "RTT.pdf").is_file()
    assert capsys.readouterr().out.startswith("results/: throughput.pdf bytes.pdf cwnd.pdf")


@pytest.mark.parametrize("case", ["3.12-refused.json", "3.12-sigkill.json", "3.12-sigint.json"])
def test_plot_iperf_refuses(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A test that failed gives one sentence, exit code 2 and no figure."""
    assert main(["plot", "iperf", iperf3(case)]) == 2
    assert case in capsys.readouterr().err
    assert not Path("results").exists()


def test_plot_iperf_partial(capsys: pytest.CaptureFixture[str]) -> None:
    """--partial draws what there is and says that it is not the whole."""
    assert main(["plot", "iperf", "--partial", iperf3("3.12-sigint.json")]) == 0
    assert "totals are those of the 3 intervals before" in capsys.readouterr().out


def test_plot_queue_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Samples become a figure, and its peak is printed."""
    assert main(["plot", "queue", str(SAMPLES), "--out", "q.svg", "--limit", "100000"]) == 0
    assert Path("q.svg").is_file()
    assert "tbf 2: on r1-eth2: at most 99924 bytes, on average 36332, 164 packets dropped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonesuch"], "nonesuch: neither a file nor an interface here"),
        ([str(SAMPLES), "--out", "q.gif"], "a figure can be written as"),
        ([str(SAMPLES), "--out", "q.pdf", "--qdisc", "9:"], "no discipline has the handle 9:"),
        ([str(SAMPLES), "--seconds", "0"], "must be a number above 0"),
        (["lo", "--seconds", "nan", "--out", "q.pdf"], "must be a number above 0"),
        (["lo", "--seconds", "1", "--out", "nowhere/q.pdf"], "nowhere is no folder that can be written"),
        ([iperf3("3.12-tcp-text.txt"), "--out", "q.pdf"], "line 1: no sample of a queue"),
    ],
)
def test_plot_queue_refuses(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each wrong argument gives a sentence, exit code 2 and no figure."""
    assert main(["plot", "queue", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(Path().iterdir())


_SAMPLER = """
import argparse, json, pathlib, time
parser = argparse.ArgumentParser()
parser.add_argument("interface"), parser.add_argument("--out"), parser.add_argument("--period", type=float)
parser.add_argument("--seconds", type=float), parser.add_argument("--needs-queue", action="store_true")
args = parser.parse_args()
file = open(args.out, "w")
print(json.dumps({"interface": args.interface, "node": "client", "period_s": args.period}), file=file, flush=True)
began = time.monotonic()
try:
    while args.seconds is None or time.monotonic() - began < args.seconds:
        qdisc = {"kind": "tbf", "handle": "1:", "root": True, "backlog": 3000, "qlen": 2, "drops": 0}
        print(json.dumps({"t": time.monotonic() - began, "qdiscs": [qdisc]}), file=file, flush=True)
        time.sleep(args.period)
except KeyboardInterrupt:
    pass
"""


@pytest.fixture
def sampler(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sampler with the agent's arguments that makes up its samples."""
    path = tmp_path_factory.mktemp("agent") / "sampler.py"
    path.write_text(_SAMPLER)
    monkeypatch.setattr(plot, "_SAMPLER", path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return path


@pytest.mark.usefixtures("sampler")
def test_plot_queue_of_an_interface(capsys: pytest.CaptureFixture[str]) -> None:
    """An interface is sampled for the time asked for; samples stay beside the figure."""
    assert main(["plot", "queue", "lo", "--out", "q.png", "--seconds", "0.2"]) == 0
    assert {path.name for path in Path().iterdir()} == {"q.png", "q.jsonl"}
    assert "tbf 1: on lo: at most 3000 bytes" in capsys.readouterr().out


def test_plot_queue_until_interrupted(sampler: Path) -> None:
    """Without a display and a time, Ctrl+C ends the sampling, the figure is written and nothing is left running."""
    code = (
        "import sys, pathlib; from linklab.commands import plot; from linklab.cli import main;"
        f"plot._SAMPLER = pathlib.Path({str(sampler)!r}); sys.exit(main(['plot', 'queue', 'lo']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(), start_new_session=True)
    deadline = time.monotonic() + 20
    samples = Path("queue-lo.jsonl")
    while not (samples.is_file() and samples.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, 2)
    assert process.wait(timeout=20) == 0
    assert Path("queue-lo.pdf").is_file()
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_plot_queue_when_the_sampler_fails(sampler: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sampler that fails is exit code 3, and an old file of samples is not taken for new."""
    sampler.write_text("import sys; sys.exit(7)")
    Path("q.jsonl").write_text(SAMPLES.read_text())
    assert main(["plot", "queue", "lo", "--out", "q.pdf", "--seconds", "1"]) == 3
    assert "the sampler ended with status 7" in capsys.readouterr().err
    assert not Path("q.pdf").exists()


def test_plot_queue_where_there_is_no_queue(sampler: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sampler's own status for it is told as wrong input, with the command that sets a queue."""
    sampler.write_text(f"import sys; sys.exit({EXIT_NO_QUEUE})")
    assert main(["plot", "queue", "lo", "--out", "q.pdf", "--seconds", "1"]) == 2
    assert "lo has no queue" in capsys.readouterr().err
    assert not list(Path().iterdir())


def test_fairness(capsys: pytest.CaptureFixture[str]) -> None:
    """Five decimals, the flows, and the convention."""
    assert main(["fairness", iperf3("3.12-tcp-p4.json")]) == 0
    shown = capsys.readouterr().out
    assert "fairness index: 0.91816\n" in shown
    assert "mean throughput of each flow over its whole test" in shown
    assert shown.count("10.0.0.1") == 4
    assert "coefficient of variation: 0.8922, 0.4284, 0.4552, 0.3016\n" in shown


def test_fairness_of_flows_without_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    """How steady a flow was is unknown, not 0, where its report has one interval or none."""
    assert main(["fairness", iperf3("3.12-tcp-blocks.json")]) == 0
    assert "coefficient of variation: unknown\n" in capsys.readouterr().out


def test_fairness_directions_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    """--bidir has an index for each direction; the flows of several files are one group."""
    assert main(["fairness", "--json", iperf3("3.12-tcp-bidir-p2.json")]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [(group["direction"], group["index"]) for group in groups] == [("forward", 0.99562), ("reverse", 0.99985)]
    assert main(["fairness", "--json", iperf3("3.12-tcp.json"), iperf3("3.12-tcp-p4.json")]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert len(group["flows"]) == 5
    assert sum(flow["share"] for flow in group["flows"]) == pytest.approx(1)


def test_fairness_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    """A failed test gives a sentence, not an index."""
    assert main(["fairness", iperf3("3.12-refused.json")]) == 2
    assert "Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize("script", ["plot_iperf.sh", "plot_q.sh", "fairness.sh"])
def test_scripts_find_linklab(script: str, tmp_path: Path) -> None:
    """A script works through a symbolic link, with a linklab on PATH or in the virtual environment beside it."""
    repository = tmp_path / "repository"
    (repository / "scripts").mkdir(parents=True)
    (repository / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / script, repository / "scripts")
    fake = repository / ".venv" / "bin" / "linklab"
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    (tmp_path / "link").symlink_to(repository / "scripts" / script)
    (tmp_path / "bin").mkdir()
    for program in ("bash", "dirname", "readlink"):  # and no linklab, which may be installed on this machine
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    shown = subprocess.run(
        [tmp_path / "link", "a b.json"], env={"PATH": f"{tmp_path}/bin"}, capture_output=True, text=True, check=True
    )
    command = {"plot_iperf.sh": "plot iperf", "plot_q.sh": "plot queue", "fairness.sh": "fairness"}[script]
    assert shown.stdout == f"{command} a b.json\n"
