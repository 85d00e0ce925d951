"""answers.toml: typed answers, and what a person is told of those that cannot be used."""

import json
from pathlib import Path

import pytest

from linklab.exercise.answers import read_answers, template
from linklab.exercise.model import Answer, Exercise
from linklab.judge.quantity import parse_value

QUESTIONS = (
    Answer("throughput", "rate", "The throughput."),
    Answer("rtt", "time", "The RTT."),
    Answer("buffer", "size", "The buffer."),
    Answer("loss", "share", "The loss."),
    Answer("streams", "number", "How many streams."),
    Answer("jain", "index", "Jain's index."),
    Answer("winner", "choice", "Who wins.", ("cubic", "bbr")),
    Answer("ports", "words", "The ports."),
    Answer("mask", "words", "The mask.", beside=("netmask",)),
    Answer("why", "text", "Why."),
)
EXERCISE = Exercise(Path(), "exercise", 9, "T", 1, 1, "", "", (), {}, (), (), (), QUESTIONS, ())


def one(name, given):
    """What one answer becomes: its value, or the sentence why not."""
    found = read_answers(f"{name} = {given}\n", EXERCISE)
    return found.values.get(name) or found.problems[name]


@pytest.mark.parametrize(
    ("name", "given", "number"),
    [
        ("throughput", '"412 Mbps"', 412e6),
        ("throughput", '"412 mbps"', 412e6),
        ("throughput", '"0.412 Gbit/s"', 412e6),
        ("rtt", '"40.5 ms"', 0.0405),
        ("buffer", '"2.5 MB"', 2.5e6),
        ("buffer", '"12500000 bytes"', 12.5e6),
        ("loss", '"0.2 %"', 0.002),
        ("streams", "3", 3),
        ("streams", '"3"', 3),
        ("jain", "0.97", 0.97),
        ("jain", '"0,97"', 0.97),
        ("buffer", '"12,25 MB"', 12.25e6),
        ("buffer", '"12.25 mb"', 12.25e6),
        ("buffer", '"11.68 MiB"', 11.68 * 2**20),
        ("buffer", '"12\N{NO-BREAK SPACE}250\N{NO-BREAK SPACE}000 bytes"', 12.25e6),
        ("throughput", '"6.28e8 bps"', 6.28e8),
        ("throughput", '"628,5\N{NO-BREAK SPACE}MBit/s"', 6.285e8),
        ("loss", '"0,2 %"', 0.002),
    ],
)
def test_an_answer_is_a_value_in_base_units(name, given, number):
    """However it is written."""
    assert one(name, given).number == pytest.approx(number)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("throughput", '"412"', '"412" has no unit: write it with one, such as "412 Mbps"'),
        ("throughput", '"40 ms"', '"40 ms" has no unit of a rate: write it with one, such as "412 Mbps"'),
        ("throughput", "412", '"412" has no unit: write it with one, such as "412 Mbps"'),
        ("rtt", '"fast"', '"fast" is not a number: write digits with a decimal point and the unit, such as "40.5 ms"'),
        ("loss", '"2 s"', '"2 s" has no unit of a percentage: write it with one, such as "0.2 %"'),
        ("loss", "0.002", '"0.002" has no unit: write it with one, such as "0.2 %"'),
        (
            "buffer",
            '"1,234 MB"',
            '"1,234" can mean two numbers: write 1234 if the comma sets thousands apart, '
            "1.234 if it is a decimal comma",
        ),
        ("jain", "97", '"97" is no index: it lies between 0 and 1'),
        ("streams", "nan", '"nan" is not a number: write digits with a decimal point, such as 3'),
        ("streams", "inf", '"inf" is not a number: write digits with a decimal point, such as 3'),
        ("streams", "'1e999'", '"1e999" is too large for a number'),
        ("winner", '"reno"', '"reno" is none of cubic, bbr'),
        ("winner", "[1]", "winner: a text or a number is wanted"),
        ("why", '"  "', "there is no answer"),
    ],
)
def test_an_answer_that_cannot_be_used_says_what_is_wanted(name, given, said):
    """Wrong units, no units, no choice."""
    assert one(name, given) == said


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("throughput", "-5 Mbps", "rate"),
        ("throughput", "1e308 Gbps", "rate"),
        ("rtt", "-0.1 ms", "time"),
        ("buffer", "-2 MB", "size"),
        ("loss", "-1 %", "share"),
        ("streams", "-1 %", "number"),
    ],
)
def test_a_quantity_below_zero_or_beyond_all_measure_is_an_answer_that_cannot_be_used(name, given, kind):
    """Regression: it was read as a word, so the check broke as if by our own fault, and the mark stayed open."""
    assert one(name, f'"{given}"') == f'"{given}" is no {kind} that can be: write a number from 0 on'


@pytest.mark.parametrize("name", [question.name for question in QUESTIONS])
def test_a_whole_number_of_thousands_of_digits_is_an_answer_that_cannot_be_used(name):
    """Regression: TOML's hexadecimal numbers have no largest, and Python refuses to write such a one in decimals."""
    assert one(name, "0x" + "f" * 5000) == "the number is too large: write it between quotation marks, with its unit"


SPELT = {
    "throughput": ["628.5 Mbps", "628,5 Mbps", "628.5\N{NO-BREAK SPACE}mbps", "628 500 000 bit/s", "6.285e8 bps"],
    "buffer": ["12.25 MB", "12,25 MB", "12.25 mb", "12 250 000 bytes", "12,250,000 bytes"],
    "rtt": ["40.5 ms", "40,5 ms", "40,5MS", "40 500 us"],
    "jain": ["0.97", "0,97", "0,970", "97 %"],
}


@pytest.mark.parametrize("name", SPELT)
def test_the_value_does_not_depend_on_the_spelling(name):
    """Bit for bit, so a mark cannot either; and what is written again from it is read as the same value."""
    values = [one(name, json.dumps(text)) for text in SPELT[name]]
    assert len({(value.number, value.unit) for value in values}) == 1
    assert all(parse_value(value.text) == value for value in values)
    assert one(name, json.dumps(SPELT[name][0])) == one(name, json.dumps(SPELT[name][1]))


def test_a_value_without_quotation_marks_is_told_how_to_be_written():
    """TOML's own words do not say it."""
    found = read_answers("buffer = 12,25 MB\n", EXERCISE)
    assert found.unreadable.endswith('write each answer between quotation marks, such as "412 Mbps"')


@pytest.mark.parametrize(
    "written", ["S1-eth2, s1-eth1", "s1-eth1 and s1-eth2", "s1-eth1, AND s1-eth2", "s1-eth2&s1-eth1"]
)
def test_words_are_compared_without_order_case_commas_and_the_word_and(written):
    """As people list things."""
    assert one("ports", f'"{written}"').word == "s1-eth1 s1-eth2"


def test_and_within_a_word_belongs_to_it():
    """Only the word by itself is left out."""
    assert one("ports", '"band-and-eth1 sand"').word == "band-and-eth1 sand"


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("255.0.0.0", "255.0.0.0"),
        ("netmask 255.0.0.0", "255.0.0.0"),
        ("Netmask: 255.0.0.0", "255.0.0.0"),
        ("netmask 255.0.0.0 255.255.0.0", "255.0.0.0 255.255.0.0"),
        ("netmask", "netmask"),
    ],
)
def test_words_that_may_stand_beside_an_answer_say_nothing(written, word):
    """Regression: who copied "netmask 255.0.0.0" from ifconfig lost the points of the mask."""
    assert one("mask", f'"{written}"').word == word


def test_a_file_that_is_no_toml_leaves_every_question_unanswered_and_says_where():
    """The line is named once for the instructor and at each question."""
    found = read_answers('throughput = "4\nrtt = 3', EXERCISE)
    assert not found.values
    assert "line 1" in found.notes[0]
    assert set(found.problems) == {question.name for question in QUESTIONS}


def test_the_template_can_be_read_and_holds_no_answer():
    """What a student starts from: every question, nothing answered, no complaint of unknown names."""
    found = read_answers(template(EXERCISE), EXERCISE)
    assert not found.values
    assert not found.notes
    assert set(found.problems.values()) == {"there is no answer"}


def test_a_name_that_is_no_question_is_told():
    """A slip of the pen is not lost silently."""
    assert read_answers("thruput = 1", EXERCISE).notes == ('answers.toml: "thruput" is no question of this exercise',)


def test_what_is_missing_is_told_by_a_field():
    """Regression: linklab submit took an answer for missing by the words of its problem."""
    found = read_answers('throughput = ""\nrtt = 3', EXERCISE)
    assert "throughput" in found.missing and "rtt" not in found.missing
    assert {found.why_not(name) for name in found.missing} == {found.why_not("no question")}
    assert found.problems["rtt"] != found.why_not("throughput") and not found.unreadable
    broken = read_answers("rtt = ", EXERCISE)
    assert broken.unreadable.startswith("cannot be read: ") and not broken.missing


def test_a_blank_may_have_a_meaning():
    """It is taken where something was answered; what cannot be read has none, and without a meaning it is missing."""
    questions = (Answer("streams", "number", "How many.", default="1"), QUESTIONS[0])
    exercise = Exercise(Path(), "exercise", 9, "T", 1, 1, "", "", (), {}, (), (), (), questions, ())
    blank = read_answers('streams = ""\nthroughput = "1 Gbps"\n', exercise)
    assert (blank.value("streams"), blank.values.keys()) == (parse_value("1"), {"throughput"})
    assert (blank.problems, blank.missing, blank.notes) == ({}, (), ("streams was left blank: 1 is taken",))
    nothing = read_answers("", exercise)
    assert (nothing.value("streams"), nothing.notes, nothing.missing) == (parse_value("1"), (), ("throughput",))
    assert read_answers('streams = "many"\n', exercise).value("streams") is None
