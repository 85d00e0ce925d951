# SPDX-License-Identifier: BSD-3-Clause
"""Whose values a submission has, and whose name its file."""

import graded
import pytest
from small_exercise import use_clone

from linklab.exercise.report import Outcome, Status
from linklab.grade import findings as finding
from linklab.grade.cohort import Entry
from linklab.grade.findings import findings
from linklab.grade.lent import taken
from linklab.grade.worker import failed

SLOW = {"rate": "200 Mbps", "rtt": "20 ms"}  # a bandwidth-delay product of 500,000 bytes
FAST = {"rate": "300 Mbps", "rtt": "40 ms"}  # of 1,500,000
WORK = """\
# my queue
tc qdisc change dev s1-eth2 parent 1: handle 2: tbf  rate 300mbit burst 100000 limit 1500000
h1 sysctl -w net.ipv4.tcp_wmem='10240 87380 3000000'
"""


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """The small exercises."""
    use_clone(tmp_path, monkeypatch)


def entry(student, work, parameters, label="", **changes):
    """A submission of its own settings, words and answers."""
    mine = {
        "fingerprint": student * 30,
        "changes": (("h1.cc", "cubic", student),),
        "words": {},
        "answers": {},
    } | changes
    report = graded.report(student, f"Name of {student}", work=work, parameters=parameters, **mine)
    return Entry(student, label or f"{student}.zip", report)


def told(*entries):
    """(kind, names, sentence) of all findings."""
    return [(each.kind, [one.name for one in each.entries], each.says) for each in findings(entries)]


def test_a_work_sh_with_anothers_values_is_found():
    """Changed in words and spaces alone it was no finding, for the networks began otherwise."""
    copied = WORK.replace("# my queue\n", "").replace("tbf  rate", "tbf rate")
    assert told(entry("s1", WORK, FAST), entry("s2", copied, SLOW)) == [
        (
            "another's values",
            ["s2", "s1"],
            "work.sh is the same and has 300mbit, 1500000, which follow from the parameters of Name of s1 "
            "(s1), not from those of Name of s2 (s2).",
        )
    ]
    ((_, names, said),) = told(entry("s1", WORK, FAST), entry("s2", f"{copied}h2 sysctl -w net.ipv4.tcp_sack=1", SLOW))
    assert names == ["s2", "s1"]
    assert said.startswith("work.sh has 300mbit, 1500000, which follow from")


def test_a_wrong_factor_of_the_own_is_no_finding():
    """Twice three and three times a half of the own BDP are one mistake, also where another's BDP is three times it."""
    own = "h1 sysctl -w net.ipv4.tcp_wmem='10240 87380 1500000'\nh2 sysctl -w net.ipv4.tcp_rmem='10240 87380 3000000'\n"
    assert told(entry("s1", WORK, FAST), entry("s2", own, SLOW)) == []


def test_a_letter_that_looks_like_a_unit_is_none():
    """The long s is an s to whoever does not mind case; the whole class would have no results."""
    assert told(entry("s1", WORK, FAST), entry("s2", "h1 sleep 10m\u017f\nh1 sleep 10\u017f\n", SLOW)) == []


def test_a_number_that_everybody_knows_or_one_by_chance_is_no_finding():
    """Those of the practice instance stand in the handouts; a single one in a file of its own may be chance."""
    public = "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 100000 limit 250000\n"
    assert told(entry("s1", public, FAST), entry("s2", public, SLOW)) == []
    single = "h1 sysctl -w net.ipv4.tcp_wmem='10240 87380 3000000'\nh1 true\n"
    assert told(entry("s1", WORK, FAST), entry("s2", single, SLOW)) == []
    assert told(entry("s1", WORK, FAST), entry("s2", WORK, FAST)) == []
    same = "tc qdisc del dev s2-eth2 root\n"
    assert told(entry("s1", same, FAST), entry("s2", same, SLOW)) == []


def test_the_same_numbers_as_answers_to_other_parameters_are_found():
    """Measured values agree by chance once, not twice; those that follow from the same parameters are no finding."""
    numbers = {"throughput": "93.1 Mbps", "bdp": "250 kB", "winner": "reno"}
    one, two = entry("s1", "", FAST, answers=numbers), entry("s2", "", SLOW, answers=numbers)
    assert told(one, two) == [
        ("same answers", ["s1", "s2"], "the answers are the same, though each has its own parameters.")
    ]
    assert told(one, entry("s2", "", FAST, answers=numbers)) == []
    other = {**numbers, "throughput": "93.2 Mbps"}
    assert told(one, entry("s2", "", SLOW, answers=other)) == []
    assert told(*(entry(n, "", {"rate": n}, answers={"winner": "reno", "n": "8"}) for n in ("s1", "s2"))) == []


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("exercise3-s2-copy.zip", 'the file is named for "s2-copy", its parameters are those of Name of s1 (s1).'),
        ("Problem3-s1.zip", 'the file is named "problem3-s1", and holds exercise3 of Name of s1 (s1).'),
        ("in/problem3-s1.zip", 'the file is named "problem3-s1", and holds exercise3 of Name of s1 (s1).'),
        ("exercise3-s12.zip", 'the file is named for "s12", its parameters are those of Name of s1 (s1).'),
        ("exercise3-s1.zip", None),
        ("exercise3-S1 (2).zip", None),
        ("ada_12_34_exercise3-s1-1.zip", None),
        ("my work.zip", None),
    ],
)
def test_a_file_that_is_named_for_another_is_found(label, says):
    """`linklab submit` names it for exercise and student; who else it names need not be in the class."""
    assert told(entry("s1", "", FAST, label)) == ([("instance", ["s1"], says)] if says else [])


def test_a_large_class_is_not_compared_pair_by_pair(monkeypatch):
    """Each against the parameters that there are, six, and not against each of three hundred others."""
    compared = []

    def counted(mine, others):
        compared.append(len(others))
        return taken(mine, others)

    monkeypatch.setattr(finding, "taken", counted)
    rates, rtts = ("100 Mbps", "200 Mbps", "300 Mbps"), ("20 ms", "40 ms")
    many = [entry(f"s{n}", f"{WORK}h1 true {n}\n", {"rate": rates[n % 3], "rtt": rtts[n // 3 % 2]}) for n in range(300)]
    assert len(findings(many)) == 200  # to those with 300 Mbps and 40 ms they fit, too
    assert compared == [5] * 300


@pytest.mark.parametrize(("others", "found"), [(990, "another's values"), (1000, "too many numbers")])
def test_of_numbers_without_end_the_first_are_looked_at(others, found):
    """Regression: 44,000 different ones cost the process that grades a class eleven seconds, for each such work.sh."""
    many = "".join(f"h1 sleep {number}\n" for number in range(70_000_000, 70_000_000 + others))
    ((kind, names, says),) = told(entry("s1", WORK, FAST), entry("s2", many + WORK, SLOW))
    assert (kind, names[0]) == (found, "s2")
    if others == 1000:
        assert says == "work.sh has 1,006 different numbers, of which only the first 1,000 were compared."


def broken(student):
    """A submission at which a tool of ours broke, so that nothing else is known of it."""
    return Entry(student, f"{student}.zip", failed("the pocket kernel has ended"))


def test_what_our_tool_breaks_at_is_a_finding_if_it_does_not_break_at_all():
    """A submission at which our tool breaks is named, because its commands may have done it; if all break, none is."""
    fine = entry("s2", "", SLOW)
    assert [(kind, names) for kind, names, _ in told(broken("s1"), fine)] == [("broke", ["s1"])]
    assert [names for _, names, _ in told(broken("s1"), fine, broken("s3"))] == [["s1"], ["s3"]]
    refused = Entry("s4", "s4.zip", failed("no archive", Status.UNGRADABLE))
    assert told(broken("s1"), broken("s3"), refused) == []
    of_one_check = entry("s1", "", SLOW, checks=(graded.check("rate", Outcome.ERROR, 0, 4),))
    assert [(kind, names) for kind, names, _ in told(of_one_check, fine)] == [("broke", ["s1"])]


def test_commands_that_had_to_be_stopped_are_a_finding():
    """An attack on the grader, or an endless loop, is for a person to see; it comes first and takes no points."""
    why = "the network ended while work.sh ran: the network took more than 60 s of processor time and was stopped"
    assert told(entry("s1", "", SLOW, stopped=why), entry("s2", "", SLOW)) == [("stopped", ["s1"], f"{why}.")]
