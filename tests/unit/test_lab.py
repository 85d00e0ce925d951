# SPDX-License-Identifier: BSD-3-Clause
"""lab.toml: what it may say, what is said when it is wrong, and the verdicts on what a run measured."""

import pytest

from linklab.errors import InputError, LabError
from linklab.judge.expectation import Observed, verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import find_lab, lab_folders, load_lab
from linklab.lab.reference import load_reference, replayed

MANUAL = "## A\n\n```h1 id=slow\na\n```\n\n```h1 id=fast\nb\n```\n"
HEAD = 'number = 1\ntitle = "T"\n'


def folder(tmp_path, toml, manual=MANUAL):
    """A lab's folder with that lab.toml."""
    path = tmp_path / "labs" / "01-t"
    path.mkdir(parents=True)
    (path / "lab.toml").write_text(HEAD + toml)
    (path / "manual.md").write_text(manual)
    return path


def expectation(tmp_path, body):
    """The only expectation of a lab with that body."""
    return load_lab(folder(tmp_path, f"\n[[expect]]\n{body}\n")).expectations


def outcome(expectations, scalars, outputs=None, broken=None):
    """The verdict on the first expectation."""
    shown = {"slow": "", "fast": ""} if outputs is None else outputs
    verdict = verdicts_on(expectations, [Observed(scalars, shown, broken or {})])[0]
    return verdict.outcome, verdict.seen, verdict.story


RANGE = """
step = "fast"
what = "iperf3.throughput.receiver"
range = ["9 Gbps", "9.6 Gbps"]
why = "theory"
hint = "Both hosts?"
"""


def test_a_number_in_its_range_passes(tmp_path):
    """What was measured is shown in a reader's unit."""
    expect = expectation(tmp_path, RANGE)
    assert outcome(expect, {"fast": {"iperf3.throughput.receiver": (9.41e9, "bit/s")}}) == (
        Outcome.PASS,
        "9.41 Gbps",
        "",
    )


def test_a_number_outside_fails_with_a_story(tmp_path):
    """The story says what was expected, from what, what was seen, and one hint."""
    expect = expectation(tmp_path, RANGE)
    assert outcome(expect, {"fast": {"iperf3.throughput.receiver": (3.2e9, "bit/s")}}) == (
        Outcome.FAIL,
        "3.20 Gbps",
        "fast iperf3.throughput.receiver: expected 9 Gbps – 9.6 Gbps (theory), saw 3.20 Gbps. Both hosts?",
    )


def test_a_step_that_was_not_done_is_skipped(tmp_path):
    """Not done is not failed."""
    assert outcome(expectation(tmp_path, RANGE), {}, outputs={})[::2] == (Outcome.SKIPPED, "skipped (needs fast)")


def test_a_metric_that_is_not_there_is_an_error_with_its_place(tmp_path):
    """The message names lab.toml, the line, and what the step has instead."""
    expect = expectation(tmp_path, RANGE)
    kind, _, message = outcome(expect, {"fast": {"ping.rtt.mean": (1.0, "s")}})
    assert kind is Outcome.ERROR
    assert message.endswith("lab.toml:4: step fast gave no iperf3.throughput.receiver: it has ping.rtt.mean")
    assert outcome(expect, {}, broken={"fast": "out.json: cut off"})[2].endswith("receiver: out.json: cut off")


def test_a_quantity_of_another_kind_is_an_error(tmp_path):
    """A range in Gbps cannot judge seconds."""
    kind, _, message = outcome(expectation(tmp_path, RANGE), {"fast": {"iperf3.throughput.receiver": (1.0, "s")}})
    assert (kind, message.partition(": ")[2]) == (Outcome.ERROR, "iperf3.throughput.receiver is in s, not in bit/s")


def test_an_output_can_be_expected(tmp_path):
    """shows is a regular expression for the output of a step."""
    expect = expectation(tmp_path, "step = 'slow'\nshows = '^inet \\S+'\nwhy = 'address plan'")
    assert outcome(expect, {}, {"slow": "x\ninet 10.0.0.1 y"})[:2] == (Outcome.PASS, "inet 10.0.0.1")
    assert outcome(expect, {}, {"slow": "x"})[0] is Outcome.FAIL


def test_relations_hold_or_fail(tmp_path):
    """Both sides of a relation are shown."""
    expect = expectation(tmp_path, "relation = 'fast.ping.rtt.mean > 2 * slow.ping.rtt.mean'\nwhy = 'w'")
    scalars = {"fast": {"ping.rtt.mean": (0.05, "s")}, "slow": {"ping.rtt.mean": (0.02, "s")}}
    assert outcome(expect, scalars)[:2] == (Outcome.PASS, "50 ms > 40 ms")
    scalars["slow"]["ping.rtt.mean"] = (0.03, "s")
    assert outcome(expect, scalars)[:2] == (Outcome.FAIL, "50 ms not > 60 ms")
    assert outcome(expect, scalars, {"slow": ""})[::2] == (Outcome.SKIPPED, "skipped (needs fast)")


def test_numbers_have_the_digits_that_show_why(tmp_path):
    """Regression: "954 Mbps not > 954 Mbps"."""
    expect = expectation(tmp_path, "relation = 'fast.ping.rtt.mean > slow.ping.rtt.mean'\nwhy = 'w'")
    scalars = {"fast": {"ping.rtt.mean": (0.0400312, "s")}, "slow": {"ping.rtt.mean": (0.0400349, "s")}}
    kind, shown, message = outcome(expect, scalars)
    assert (kind, shown) == (Outcome.FAIL, "40.031 ms not > 40.035 ms")
    assert message == f"fast.ping.rtt.mean > slow.ping.rtt.mean: expected holds (w), saw {shown}."
    scalars["slow"] = scalars["fast"]
    assert outcome(expect, scalars)[:2] == (Outcome.FAIL, "40.0 ms not > 40.0 ms")
    expect = expectation(tmp_path / "ratio", "relation = 'fast.ping.rtt.mean / slow.ping.rtt.mean > 1.5'\nwhy = 'w'")
    scalars["fast"] = {"ping.rtt.mean": (0.0400312 * 1.499999, "s")}
    assert outcome(expect, scalars)[:2] == (Outcome.FAIL, "1.499999 not > 1.5")
    expect = expectation(tmp_path / "range", RANGE)
    for rate, seen in ((9.6001e9, "9.6001 Gbps"), (9.5999e9, "9.60 Gbps"), (9.31e9, "9.31 Gbps")):
        assert outcome(expect, {"fast": {"iperf3.throughput.receiver": (rate, "bit/s")}})[1] == seen


def test_both_sides_have_the_unit_that_their_arithmetic_gives(tmp_path):
    """Regression: a rate less a share for each timeout was shown as "7.24e+09 > 6.902e+09"."""
    text = "fast.iperf3.throughput.receiver > 9.56 Gbps * (0.96 - 0.02 * slow.nstat.TcpExtTCPTimeouts)"
    expect = expectation(tmp_path, f"relation = '{text}'\nwhy = 'w'")
    scalars = {
        "fast": {"iperf3.throughput.receiver": (7.24e9, "bit/s")},
        "slow": {"nstat.TcpExtTCPTimeouts": (12.0, "")},
    }
    assert outcome(expect, scalars)[:2] == (Outcome.PASS, "7.24 Gbps > 6.88 Gbps")


def test_a_relation_that_mixes_units_is_an_error_with_its_place(tmp_path):
    """Regression: it passed, since a rate in bit/s is more than any time in s."""
    expect = expectation(tmp_path, "relation = 'fast.iperf3.throughput.receiver > slow.ping.rtt.mean'\nwhy = 'w'")
    scalars = {"fast": {"iperf3.throughput.receiver": (1e9, "bit/s")}, "slow": {"ping.rtt.mean": (0.02, "s")}}
    kind, _, message = outcome(expect, scalars)
    assert kind is Outcome.ERROR
    assert message.endswith(
        'lab.toml:4: expression "fast.iperf3.throughput.receiver > slow.ping.rtt.mean": '
        '"fast.iperf3.throughput.receiver" is in bit/s and "slow.ping.rtt.mean" is in s, so ">" makes no sense; '
        "use quantities of one unit"
    )


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        (
            "colour = 1",
            'lab.toml: unknown key "colour"; the keys here are number, title, topology, minutes',
        ),
        ("minutes = '9'", "lab.toml: \"minutes\" must be a whole number, not '9'"),
        (
            "[[expect]]\nstep = 'no'\nwhat = 'x'\nrange = [1, 2]\nwhy = 'w'",
            'lab.toml:3: the manual has no step "no"; it has slow, fast',
        ),
        ("[[expect]]\nstep = 'slow'\nwhat = 'x'\nrange = [1, 2]", "lab.toml:3: every expectation needs its why"),
        ("[[expect]]\nstep = 'slow'\nwhat = 'x'\nrange = [2, 1]\nwhy = 'w'", "lab.toml:3: the low end 2 is above"),
        ("[[expect]]\nwhy = 'w'\nwhat = 'x'", "lab.toml:3: give step, or relation"),
        ("[[expect]]\nwhy = 'w'\nrelation = 'a.b'", 'lab.toml:3: relation "a.b" is a value; compare it with another'),
        ("[[expect]]\nwhy = 'w'\nrelation = 'no.b > 1'", 'lab.toml:3: the manual has no step "no"'),
        ("[[expect]]\nwhy = 'w'\nstep = 'slow'\nshows = '('", "lab.toml:3: missing )"),
        ("[[expect]]\nrang = 1", 'lab.toml:3: unknown key "rang"'),
        ("a = ", "lab.toml: Invalid value"),
        ("topology = 'None.mn'", "None.mn: cannot be read"),
    ],
)
def test_a_wrong_lab_is_named_with_file_and_line(tmp_path, toml, says):
    """Every mistake says where it is."""
    with pytest.raises(InputError) as caught:
        load_lab(folder(tmp_path, toml))
    assert says in str(caught.value)


def test_a_lab_is_found_by_number_name_or_path(tmp_path):
    """All of them lead to the same folder; another one is refused with those there are."""
    path = folder(tmp_path, "")
    assert find_lab("1", tmp_path) == find_lab("01", tmp_path) == find_lab("01-t", tmp_path) == path
    assert find_lab("lab1", tmp_path) == find_lab("Lab 01", tmp_path) == find_lab("01-", tmp_path) == path
    assert find_lab(str(path)) == path
    with pytest.raises(LabError, match='there is no lab "7"; I have 1'):
        find_lab("7", tmp_path)


@pytest.mark.parametrize("path", lab_folders(), ids=lambda path: path.name)
def test_every_lab_of_the_project_loads(path):
    """Manual, expectations and topology of each lab fit together, and each expectation has its reason."""
    lab = load_lab(path)
    assert lab.number == int(path.name[:2])
    assert all(expectation.why for expectation in lab.expectations)


@pytest.mark.parametrize("path", lab_folders(), ids=lambda path: path.name)
def test_every_recording_is_of_the_steps_that_the_manual_has(path):
    """Regression: a class that got another name made all twenty recordings ones of other steps."""
    lab = load_lab(path)
    reference = load_reference(lab)
    assert reference is not None
    assert reference.data["replayed"] == replayed(lab)
