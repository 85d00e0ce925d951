# SPDX-License-Identifier: BSD-3-Clause
"""The script language of campaigns: what each construct does, and what is said of each mistake."""

import json
import random
from itertools import pairwise

import pytest

from linklab.cli import main
from linklab.errors import InputError
from linklab.netesto.expand import ScriptError, expand
from linklab.netesto.limits import MOST_BYTES, MOST_LOOPS, MOST_SECONDS
from linklab.netesto.lines import MOST_PROBLEMS, read_lines


def of(tmp_path, text, **options):
    """The expansion of a script's text."""
    script = tmp_path / "script"
    script.write_text(text)
    return expand(script, **options)


def said(tmp_path, text, **options):
    """What its ECHOs say."""
    return list(of(tmp_path, text, **options).said)


def problems(tmp_path, text, **options):
    """Line:column: what, of each problem."""
    with pytest.raises(ScriptError) as error:
        of(tmp_path, text, **options)
    return [f"{problem}".removeprefix(f"{tmp_path}/script:") for problem in error.value.problems]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# no\nECHO a # trailing\n\n   ECHO   b  \n", ["a", "b"]),
        ("ECHO a \\\n  b \\\n  c\nECHO d\n", ["a  b  c", "d"]),
        ("ECHO a \\ # goes on\n b\n", ["a  b"]),
        ("ECHO a # ends \\\nECHO b\n", ["a", "b"]),
        ("BEGIN_COMMENT\nnonsense\nEND x\n # END_COMMENT\nEND_COMMENT\nECHO a\n", ["a"]),
        ("SET x=5\nECHO v$x.$x-$x$x $\n", ["v5.5-55 $"]),
        ("ECHO $x\n", ["$x"]),
        ("SET all=$a,$b\nSET a=1\nSET b=2\nECHO $all\n", ["1,2"]),
        ("SET client1=h1\nFOR i IN 1 DO\nECHO $client$i\nDONE\n", ["h1"]),
        ("SET x=a # why\nECHO $x\n", ["a"]),
        ("SET_EXP x=(2+3)*4\nSET_EXP y=$x/3\nECHO $x $y\n", ["20 6"]),
        ("FOR x IN a,b DO\nECHO $x\nDONE\n", ["a", "b"]),
        ("FOR x in a,b do\nECHO $x\nDONE\n", ["a", "b"]),
        ("FOR x IN a,b DO ECHO $x\nDONE\n", ["a", "b"]),
        ("FOR x IN a,b DO ECHO $x DONE\nECHO c\n", ["a", "b", "c"]),
        ("FOR x IN a,b\nDO ECHO $x\nDONE\n", ["a", "b"]),
        ("FOR x IN 1..4 DO ECHO $x DONE\n", ["1", "2", "3", "4"]),
        ("FOR x IN 1..9,4 DO ECHO $x DONE\n", ["1", "5", "9"]),
        ("FOR x IN 3..1,-1 DO ECHO $x DONE\n", ["3", "2", "1"]),
        ("SET n=2\nFOR x IN 1..$n DO\nFOR y IN $x,9 DO\nECHO $x$y\nDONE\nDONE\n", ["11", "19", "22", "29"]),
        ("SET l=a,b\nFOR x IN $l,c DO ECHO $x DONE\nECHO $x\n", ["a", "b", "c", "c"]),
        ("IF 1: ECHO a\nIF 0: ECHO b\nIF 0.5: ECHO c\nIF -1: ECHO d\nIF $no: ECHO e\n", ["a", "c", "d"]),
        ("SET x=1\nIF $x: IF_DEF $x: ECHO a:b\nIF_DEF $y: ECHO c\n", ["a:b"]),
        ("IF 1:ECHO a\nIF 1 : ECHO b\n", ["a", "b"]),
        ("IF_DEF m: ECHO a\nBEGIN m\nECHO m\nEND m\nIF_DEF m: RUN m\n", ["m"]),
        ("IF 0: FOR x IN a DO\nECHO $x\nDONE\nIF 1: FOR x IN b DO\nECHO $x\nDONE\n", ["b"]),
        ("BEGIN m\nECHO $a\nEND m\nSET a=1\nRUN m\nRUN m a=2\nRUN m,2 a=3\nRUN m,0 a=4\n", ["1", "2", "3", "3"]),
        ("BEGIN m\nECHO $ca\nEND m\nSET n=2\nRUN m,$n ca=x,y\n", ["x", "y", "x", "y"]),
        ("BEGIN m\nSET leak=7\nEND m\nRUN m\nECHO $leak\n", ["7"]),
        ("BEGIN in\nECHO $x $y\nEND in\nBEGIN out\nRUN in x=1\nEND out\nSET y=2\nRUN out x=8 y=9\n", ["1 2"]),
        ("BEGIN in\nIF $dump: ECHO $dump\nEND in\nBEGIN out\nRUN in\nEND out\nRUN out dump=3\nRUN out\n", ["3"]),
        ("BEGIN m\nECHO 1\nEND m\nBEGIN m\nECHO 2\nEND m\nRUN m\n", ["2"]),
        ("BEGIN TwoFlow\nECHO a\nEND TwoFlow\nRUN twoFlow\n", ["a"]),
        ("ECHO a\nEND\nECHO b\nRUN nothing\n", ["a"]),
        ("BEGIN m\nECHO a\nIF 1: END\nECHO b\nEND m\nRUN m\nECHO c\n", ["a"]),
        ("DEBUG 1\nDEBUG_DISABLE\nDEBUG_RESTORE\nECHO a\n", ["a"]),
        ("ECHO a\r\nSET x=1\r\nECHO $x\r\n", ["a", "1"]),
        ("ECHO last line without its end", ["last line without its end"]),
    ],
)
def test_a_construct(tmp_path, text, lines):
    """By what ECHO says of it."""
    assert said(tmp_path, text) == lines


def arguments(tmp_path, text, **options):
    """(time, word, arguments) of all commands."""
    return [(c.at_s, c.word, dict(c.arguments)) for c in of(tmp_path, text, **options).commands]


def test_what_is_left_out_has_its_default(tmp_path):
    """The defaults of Netesto, and host, exp and expName of the command before."""
    text = "DO_SERVER host=h1 exp=COUNTER expName=x start=1\nDO_CLIENT host=h2 server=h1\nDO_SERVER host=h1 order=1\n"
    server, client, after = arguments(tmp_path, text)
    assert server == (0, "DO_SERVER", {"exp": "1", "expName": "x", "host": "h1", "order": "0", "start": "1"})
    assert client[2] == {
        "exp": "1",
        "expName": "x",
        "host": "h2",
        "server": "h1",
        "ca": "reno",
        "dur": "20",
        "delay": "0",
        "instances": "1",
        "test": "TCP_RR",
        "req": "1M",
        "reply": "1",
        "stats": "0",
        "group": "1",
        "localBuffer": "0",
        "remoteBuffer": "0",
    }
    assert after[2] == {"exp": "1", "expName": "x", "host": "h1", "order": "1", "start": "0"}
    (first,) = arguments(tmp_path, "DO_SERVER host=h1\n", counter=41)
    assert first[2]["exp"] == "42"
    assert first[2]["expName"] == "Exp"


def test_time_is_made_by_waits_alone(tmp_path):
    """Whole microseconds, decimals as well."""
    text = "HOST_SUFFIX a.b\nWAIT 10\nGET_DATA host=h1 exp=3\nWAIT .5\nRAND_WAIT 2 2\nPROCESS_EXP\nWAIT 1\n"
    found = of(tmp_path, text)
    assert [(c.at_s, str(c)) for c in found.commands] == [
        (0, "HOST_SUFFIX a.b"),
        (10, "GET_DATA exp=3 host=h1.a.b"),
        (12.5, "PROCESS_EXP exp=3"),
    ]
    assert found.end_s == 13.5


def test_groups_are_numbered_within_an_experiment(tmp_path):
    """A number that is given is kept; PROCESS_EXP begins anew."""
    text = "SET c=DO_CLIENT\n$c host=a server=b exp=COUNTER\nDO_CLIENT group=9\nDO_CLIENT server=b\nPROCESS_EXP\n"
    text = text.replace("DO_CLIENT group=9", "DO_CLIENT server=b group=9") + "DO_CLIENT server=b exp=COUNTER\n"
    found = [(a["exp"], a["group"]) for _, word, a in arguments(tmp_path, text) if word == "DO_CLIENT"]
    assert found == [("1", "1"), ("1", "9"), ("1", "2"), ("2", "1")]


def test_a_size_s_is_a_bulk_flow(tmp_path):
    """As in the original, in each of its spellings."""
    for size in ("S", "s", "STREAM", "stream"):
        ((_, _, found),) = arguments(tmp_path, f"DO_CLIENT host=a server=b req={size}\n")
        assert (found["test"], found["req"]) == ("TCP_STREAM", "S")


def test_data_is_fetched_once(tmp_path):
    """Until the next flow or server."""
    text = "DO_SERVER host=a\nGET_DATA host=a\nGET_DATA host=b\nGET_DATA host=a\nDO_SERVER host=a\nGET_DATA host=a\n"
    assert [a["host"] for _, word, a in arguments(tmp_path, text) if word == "GET_DATA"] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("text", "counter", "numbers", "last"),
    [
        ("DO_SERVER host=a exp=COUNTER\nDO_SERVER exp=PREV\nDO_SERVER exp=counter\n", 0, ["1", "1", "2"], 2),
        ("DO_SERVER host=a exp=COUNTER\nNEXT_COUNTER\nDO_SERVER exp=COUNTER\n", 0, ["1", "11"], 11),
        ("DO_SERVER host=a exp=COUNTER\nEND\n", 8, ["9"], 20),
        ("DO_SERVER host=a exp=COUNTER\nEND\n", 4, ["5"], 10),
        ("DO_SERVER host=a exp=007\nEND\n", 0, ["7"], 0),
        ("SET_NETEM host=a netem_delay=5\nDO_SERVER exp=COUNTER\n", 0, ["1"], 1),
    ],
)
def test_numbers_of_experiments(tmp_path, text, counter, numbers, last):
    """COUNTER is the next, PREV the last; END and NEXT_COUNTER go on to the next ten; settings take none."""
    found = of(tmp_path, text, counter=counter)
    assert [c.arguments["exp"] for c in found.commands if "exp" in c.arguments] == numbers
    assert found.counter == last


def test_texts_reach_their_commands_whole(tmp_path):
    """DESC with blanks, OTHER as columns."""
    text = "SET d=10\nDESC two words, $d:x # not this\nOTHER netem=$d,testNote=a b,ecn=400/1802\n"
    assert [a for _, _, a in arguments(tmp_path, text)] == [
        {"text": "two words, 10:x"},
        {"netem": "10", "testNote": "a b", "ecn": "400/1802"},
    ]


def test_settings_keep_their_words(tmp_path):
    """Any sysctl of the list, a qdisc's other words to the end, both spellings of a parameter."""
    text = (
        "SET_SYSCTL host=a net.ipv4.tcp_wmem=10000,262144,20971520 net.core.rmem.max=4000000\n"
        "SET_QDISC host=r qdisc=fq_codel limit=100 other=target 5ms ecn\n"
        "SET_MODULE_PARAMS host=a module=tcp_dctcp shift_g=4 dctcp_alpha_on_init=9\n"
        "SET_NETEM host=a netem_delay=2.5 loss=0.5%\n"
    )
    found = [a for _, _, a in arguments(tmp_path, text)]
    assert found[0] == {
        "host": "a",
        "net.ipv4.tcp_wmem": "10000,262144,20971520",
        "net.core.rmem_max": "4000000",
    }
    assert (found[1]["limit"], found[1]["other"]) == ("100", "target 5ms ecn")
    assert found[2] == {"host": "a", "module": "tcp_dctcp", "dctcp_shift_g": "4", "dctcp_alpha_on_init": "9"}
    assert found[3] == {"host": "a", "netem_delay": "2.5", "limit": "1000", "loss": "0.5%"}


RANDOM = """
BEGIN m
DO_SERVER host=s exp=COUNTER
FOR i IN 1..5 DO
RAND_WAIT 0.1
DO_CLIENT host=c server=s
DONE
RAND_WAIT 3 4
PROCESS_EXP
END m
"""


def test_random_waits_come_from_the_seed(tmp_path):
    """The same for the same seed, within their range, and unmoved by an experiment at the end."""
    one, again = of(tmp_path, f"{RANDOM}RUN m,3\n"), of(tmp_path, f"{RANDOM}RUN m,3\n")
    assert [c.at_s for c in one.commands] == [c.at_s for c in again.commands]
    more, other = of(tmp_path, f"{RANDOM}RUN m,4\n"), of(tmp_path, f"{RANDOM}RUN m,3\n", seed=2)
    assert [c.at_s for c in more.commands[: len(one.commands)]] == [c.at_s for c in one.commands]
    assert [c.at_s for c in other.commands] != [c.at_s for c in one.commands]
    times = [c.at_s for c in one.commands]
    steps = [b - a for a, b in pairwise(times)]
    assert len(set(steps)) > 12
    for number in range(0, len(steps), 7):
        assert all(0 <= step < 0.1 for step in steps[number : number + 5])
        assert 3 <= steps[number + 5] < 4


def test_random_waits_are_uniform(tmp_path):
    """Mean and spread over 2,000, within four standard errors."""
    found = of(tmp_path, "FOR i IN 1..2000 DO\nRAND_WAIT 10\nDO_SERVER host=a exp=1\nDONE\n")
    times = [0.0, *(c.at_s for c in found.commands)]
    steps = [b - a for a, b in pairwise(times)]
    assert abs(sum(steps) / 2000 - 5) < 4 * (10 / 12**0.5) / 2000**0.5
    assert sum(step < 2.5 for step in steps) == pytest.approx(500, abs=80)


def test_variables_of_the_command_line_hold(tmp_path):
    """Whatever SET says; macro arguments and loops still have their own."""
    text = "SET dur=60\nBEGIN m\nECHO $dur\nEND m\nRUN m\nRUN m dur=5\nFOR dur IN 1,2 DO ECHO $dur DONE\n"
    assert said(tmp_path, text, variables={"dur": "10"}) == ["10", "5", "1", "2"]


def test_source_reads_each_file_once_in_its_search_path(tmp_path):
    """The script's folder before --search; folders in a name, and links within."""
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "one").write_text("ECHO one\nSOURCE two\n")
    (tmp_path / "two").write_text("ECHO two\nSOURCE one\n")
    (tmp_path / "lib" / "two").write_text("ECHO never\n")
    (tmp_path / "lib" / "deep" / "three").write_text("ECHO three\n")
    (tmp_path / "lib" / "link").symlink_to("deep/three")
    text = "SOURCE one\nSOURCE one\nSOURCE deep/three\nSOURCE link\n"
    assert said(tmp_path, text, search=[tmp_path / "lib"]) == ["one", "two", "three"]


def test_source_reads_nothing_else(tmp_path):
    """By a path, by a link, by a device, whatever it names."""
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret").write_text("ECHO secret\n")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "dir").symlink_to(tmp_path)
    (inside / "loop").symlink_to("loop")
    (inside / "null").symlink_to("/dev/zero")
    names = [
        "../secret",
        str(tmp_path / "secret"),
        "link",
        "dir/secret",
        "loop",
        "null",
        ".",
        "in/../../secret",
        "x" * 5000,
    ]
    (inside / "script").write_text("".join(f"SOURCE {name}\n" for name in names))
    with pytest.raises(ScriptError) as error:
        expand(inside / "script")
    assert [problem.where.line for problem in error.value.problems] == list(range(1, len(names) + 1))
    assert all(len(str(problem)) < 700 for problem in error.value.problems)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n  FRO x IN a DO\n", "2:3: \"FRO\" is not a command; did you mean FOR?"),
        ("BEGIN m\nEND m\nRUN m a=1\n b=2\n", '4:2: "b=2" is an argument, not a command; end the line'),
        ("ECHO x\nWAIT $dur\n", "2:6: WAIT: $dur is not defined; SET it before, or give -D dur=VALUE"),
        ("SET dura=1\nWAIT $dur\n", "2:6: WAIT: $dur is not defined; SET it before, or give -D dur=VALUE (is $du"),
        ("SET a=$b\nWAIT $a\n", "2:6: WAIT: $a leads to $b, which is not defined; SET it before, or give -D b=VALUE"),
        ("DO_CLIENT host=a \\\n   server=$s\n", "2:4: DO_CLIENT: $s is not defined; SET it before, or give -D s=VALUE"),
        ("FOR x IN $l DO\nDONE\n", "1:10: FOR: $l is not defined; SET it before, or give -D l=VALUE"),
        ("FOR x IN a DO\nECHO $x\n", "1:1: FOR has no DONE; add DONE after the last command of the loop"),
        ("BEGIN m\nFOR x IN a DO\nEND m\n", "2:1: FOR has no DONE; add DONE after the last command of the loop"),
        ("DONE\n", "1:1: DONE has no FOR before it; remove it, or add the FOR"),
        ("BEGIN m\nECHO\n", "1:1: BEGIN m has no end; add a line END m"),
        ("BEGIN m\nECHO\nEND n\n", '3:5: "n" does not match BEGIN m (line 1); write the same name'),
        ("BEGIN a\nBEGIN b\nEND b\nEND a\n", "2:1: BEGIN is inside the macro a of line 1; define"),
        ("BEGIN WAIT\nEND WAIT\n", "1:7: WAIT is a command, so it cannot name a macro; choose another name"),
        ("END m\n", "1:1: END m has no BEGIN m before it; END alone ends the script"),
        ("BEGIN_COMMENT\nECHO\n", "1:1: BEGIN_COMMENT has no END_COMMENT; add a line END_COMMENT"),
        ("RUN m\n", '1:5: RUN: there is no macro "m"; define it with BEGIN, or SOURCE the file that does'),
        ("RUN MServerRR\n", '1:5: RUN: there is no macro "MServerRR"; SOURCE inlib of the library has it'),
        ("BEGIN m\nEND m\nRUN m,x\n", '3:5: RUN: the number of repetitions must be a whole number, not "x"'),
        ("BEGIN m\nRUN m\nEND m\nRUN m\n", "2:5: RUN: m runs itself and would never end; remove"),
        ("IF $x ECHO\n", "1:1: IF needs a colon after its condition, as in IF $x: RUN m"),
        ("SET x=a\nIF $x: ECHO\n", '2:4: IF needs a number, and $x is "a"'),
        ("SET x=1\nIF x: ECHO\n", '2:4: IF needs a number, not "x"; is $x meant?'),
        ("SET a=$b\nSET b=x$a\nECHO $a\n", "3:1: $b refers to itself through other variables; SET one of them anew"),
        ("FOR x IN 1..200000 DO\nDONE\n", "1:10: FOR would run more than 100,000 times; use fewer values"),
        ("FOR x IN 1..4,-1 DO\nDONE\n", "1:10: FOR cannot go from 1 to 4 in steps of -1"),
        ("SET_EXP x=1+\n", "1:9: SET_EXP: a number is missing at position 3"),
        ("DO_CLIENT host=a\n", "1:1: DO_CLIENT: server= is missing"),
        ("DO_SERVER order=1\n", "1:1: DO_SERVER: host= is missing"),
        ("PROCESS_EXP\n", "1:1: PROCESS_EXP: no experiment has begun yet; begin one with DO_SERVER exp=COUNTER"),
        ("DO_SERVER host=a order=2\n", '1:18: DO_SERVER: order must be 0 or 1, not "2"'),
        ("DO_CLIENT host=a server=b req=1X\n", '1:27: DO_CLIENT: req: "1X" is not a size from 1 to 1G'),
        ("SET_SYSCTL host=a net.ipv4.tcp_ecn=3\n", "1:19: SET_SYSCTL: net.ipv4.tcp_ecn must be 0 to 2, not 3"),
        ("RAND_WAIT 3 1\n", "1:1: RAND_WAIT: 1 is less than 3; write the smaller first"),
        ("WAIT 1h\n", '1:6: WAIT: "1h" is not a number such as 10 or 0.5'),
        ("SET x\n", '1:1: SET needs name=value without spaces, not "x"'),
    ],
)  # fmt: skip
def test_a_mistake_has_its_place_and_cure(tmp_path, text, says):
    """One problem each; the line and column are those of the word."""
    (found,) = problems(tmp_path, text)
    assert found.startswith(says.format(tmp_path / "script"))


def test_every_mistake_is_named_at_once(tmp_path, capsys):
    """In the order of their places, and `check` prints them all; the exception's own words name the first."""
    text = "WAIT\nFRO x\nSET y\nDO_CLIENT host=a dur=0\nWAIT $z\n"
    found = problems(tmp_path, text)
    assert [line.split(" ")[0] for line in found] == ["1:1:", "2:1:", "3:1:", "4:1:", "4:18:", "5:6:"]
    assert main(["netesto", "check", str(tmp_path / "script")]) == 2
    assert len(capsys.readouterr().out.splitlines()) == 6
    with pytest.raises(ScriptError, match=r"script:1:1: .*and 5 more; linklab netesto check lists them"):
        of(tmp_path, text)


def test_a_mistake_in_a_macro_says_who_runs_it(tmp_path):
    """Down to the line of the script."""
    found = problems(tmp_path, "BEGIN a\nWAIT $t\nEND a\nBEGIN b\n RUN a\nEND b\nRUN b\n")
    script = tmp_path / "script"
    cure = "give t= to RUN a, or SET it before"
    assert found == [f"2:6: WAIT: $t is not defined; {cure}; a runs from {script}:5:2; b runs from {script}:7:1"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("DO_CLIENT host=a server=b t est=TCP_RR\n", '1:27: DO_CLIENT: "t" is ignored; an argument is'),
        ("DO_CLIENT host=a server=b tset=TCP_RR\n", "1:27: DO_CLIENT has no argument tset, so it is ignored; did you"),
        ("DO_SERVER host=a host=b\n", "1:18: DO_SERVER: host is given twice; the last value counts"),
        ("OTHER qdisc=$q\n", "1:1: OTHER: $q is not defined, so the text shows it as it is written"),
        ("SET a=b c\n", '1:9: SET: "c" is ignored; a value cannot contain spaces'),
        ("END\nDO_CLIENT dur=0\n", "2:11: this line is not reached, and DO_CLIENT in it is wrong: dur"),
        ("IF 0: RUN m\n", '1:11: this line is not reached, and RUN in it is wrong: there is no macro "m"'),
    ],
)  # fmt: skip
def test_what_is_odd_is_noted(tmp_path, text, note):
    """Scripts of the original have such lines, and go on."""
    found = of(tmp_path, text).notes
    assert str(found[0]).removeprefix(f"{tmp_path}/script:").startswith(note)


NESTED = (
    "".join(
        f"BEGIN m{n}\n"
        + "FOR i IN a DO\n" * 10
        + (f"RUN m{n - 1}\n" if n else "ECHO\n")
        + "DONE\n" * 10
        + f"END m{n}\n"
        for n in range(40)
    )
    + "RUN m39\n"
)
"""Macros that run one another out of ten loops."""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("FOR i IN 1..400 DO\nFOR j IN 1..400 DO\nDONE\nDONE\n", f"more than {MOST_LOOPS:,} times"),
        ("BEGIN m\nEND m\nRUN m,999999999\n", f"more than {MOST_LOOPS:,} times"),
        ("FOR i IN 1..90000 DO\nGET_DATA host=$i exp=1\n" + "PROCESS_EXP\n" * 3 + "DONE\n", "2,000 commands"),
        ("FOR i IN 1..90000 DO\n" + "IF 0: ECHO\n" * 12 + "DONE\n", "more than 120,000 lines"),
        ("FOR i IN 1..10 DO\nWAIT 999999\nDONE\n", f"longer than {MOST_SECONDS // 86400} days"),
        ("FOR i IN a DO\n" * 60 + "DONE\n" * 60, "more than 50 loops"),
        ("FOR i IN a DO\n" * 500, "more than 50 loops"),
        ("FOR i IN a DO " * 5000, "more than 50 loops"),
        ("IF 1: " * 2000 + "FRO\n", "more than 50 conditions"),
        ("x\n" * 20000, '"x" is not a command'),
        ("WAIT $x\nECHO\n" * 200, "is not defined"),
        ("FOR i IN 1..30000 DO\nSET v$i=1\nDONE\n" + "WAIT $x\nECHO\n" * 200, "is not defined"),
        ("SET a=" + "x" * 19000 + "\nFOR i IN 1..9999 DO\nDESC $a\nDONE\n", "characters of text"),
        ("SET a=" + "x" * 19000 + "\nFOR i IN 1..9999 DO\nECHO $a\nDONE\n", "characters of text"),
        ("SET a=" + "x" * 19000 + "\nFOR i IN 1..9999 DO\nSET v$i=$a\nDONE\n", "characters of text"),
        ("SET a=" + "x" * 19000 + "\nFOR i IN 1..99999 DO\nDEBUG $a\nDONE\n", "more than 120,000 lines"),
        (NESTED, "more than 80 loops, macros and files"),
        ("SET a=" + "x" * 900 + "\nSET b=" + "$a" * 200 + "\nECHO $b\n", "exceeds 20,000 characters"),
    ],
)  # fmt: skip
def test_what_would_never_end_is_stopped(tmp_path, text, says, monkeypatch):
    """Loops, repetitions, commands, lines, time, depth, problems, and text that grows; some sooner than in earnest."""
    monkeypatch.setattr("linklab.netesto.state.MOST_COMMANDS", 2000)
    monkeypatch.setattr("linklab.netesto.state.MOST_STEPS", 120_000)
    monkeypatch.setattr("linklab.netesto.state.MOST_TEXT", 500_000)
    found = problems(tmp_path, text)
    assert says in found[-1]
    assert len(found) <= MOST_PROBLEMS


def test_a_file_that_is_no_script_is_one_line(tmp_path, capsys):
    """Too long, binary, a folder, none."""
    (tmp_path / "long").write_bytes(b"#" * (MOST_BYTES + 1))
    (tmp_path / "binary").write_bytes(b"SET a=b\0\n")
    for name, says in (
        ("long", "larger than 1,000,000 bytes"),
        ("binary", "bytes that no text has"),
        ("none", "no such script"),
    ):
        assert main(["netesto", "check", str(tmp_path / name)]) == 2
        assert says in capsys.readouterr().out
    with pytest.raises(InputError):
        expand(tmp_path)


def test_run_n_prints_every_command(tmp_path, capsys):
    """A line each with its time, or JSON with the place; nothing else on standard output."""
    (tmp_path / "s").write_text(
        "SOURCE inlib\nRUN OneFlowStream server=h1 client=h2 ca=bbr dur=$d expName=x instances=1\n"
    )
    script = str(tmp_path / "s")
    assert main(["netesto", "run", "-n", script, "-D", "d=7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "      0.000000  DO_SERVER exp=1 expName=x host=h1 order=0 start=1"
    assert [line.split()[1] for line in lines] == [
        "DO_SERVER",
        "DO_CLIENT",
        "DO_SERVER",
        "GET_DATA",
        "GET_DATA",
        "PROCESS_EXP",
    ]
    assert main(["netesto", "run", "-n", "--json", script, "-D", "d=7"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [c["command"] for c in found["commands"]] == [line.split()[1] for line in lines]
    assert found["commands"][1]["within"] == ["OneFlowStream", "libStreams"]
    assert found["commands"][1]["file"] == "library/inlib"
    assert found["commands"][1]["arguments"]["dur"] == "7"
    assert found["counter"] == 1
    assert main(["netesto", "run", "-n", script]) == 2
    assert "$d is not defined" in capsys.readouterr().err
    assert main(["netesto", "run", "-n", script, "-D", "d"]) == 2
    assert "-D takes NAME=VALUE" in capsys.readouterr().err


def test_a_character_of_a_joined_line_has_its_place():
    """Of random scripts with comments and continued lines, every word stands where its place says."""
    rng = random.Random(5)  # noqa: S311 - repeatable on purpose
    for _ in range(300):
        raw = [
            " " * rng.randint(0, 3) + " ".join(rng.choices(["ab", "c=d", "$x", "IF", "e:"], k=rng.randint(0, 4)))
            + rng.choice(["", "", " # why", " \\", "\\"])
            for _ in range(rng.randint(1, 8))
        ]  # fmt: skip
        lines, wrong = read_lines("\n".join(raw), "f")
        assert wrong == []
        for line in lines:
            for word in line.words():
                place = line.where(word.offset)
                assert raw[place.line - 1][place.column - 1 :].startswith(word.text)
        words = [word.text for line in lines for word in line.words()]
        assert words == [word for text in raw for word in text.partition("#")[0].rstrip().removesuffix("\\").split()]


def test_flows_are_bounded_in_all(tmp_path):
    """Regression: only those of one DO_CLIENT were, so 200,000 of them could ask for 200 million flows."""
    flow = "DO_CLIENT exp={} host=h1 server=h2 instances=1000\n"
    (problem,) = problems(tmp_path, flow.format("COUNTER") + 5 * flow.format("PREV"))
    assert problem.startswith("6:1: ") and "experiment 1 has more than 5,000 flows" in problem
    (problem,) = problems(tmp_path, "FOR i IN 1..1001 DO\n" + flow.format("COUNTER") + "PROCESS_EXP\nDONE\n")
    assert problem.startswith("2:1: ") and "more than 1,000,000 flows in all" in problem


CLIENT = "DO_CLIENT host=h1 server=h2 exp=COUNTER dur=1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{CLIENT} dur=999999999999", "1:47: DO_CLIENT: dur must be at most 2,592,000 seconds"),
        (f"{CLIENT} delay=2592001", "1:47: DO_CLIENT: delay must be at most 2,592,000 seconds"),
        (f"WAIT 2591999\n{CLIENT} delay=1", "2:41: DO_CLIENT: the flows would end after more than 30 days"),
        ("SET_NETEM host=h1 netem_delay=100001", "1:19: SET_NETEM: netem_delay must be at most 100,000 milliseconds"),
        (f"{CLIENT} server=h1", "1:47: DO_CLIENT: h1 is the client too; name another machine"),
        ("SET_QDISC host=h1 qdisc=tbf rate=1mbit", "1:19: SET_QDISC: tbf needs burst and limit"),
        ("SET_QDISC host=h1 qdisc=nonsense", "1:19: SET_QDISC: nonsense is not a discipline"),
        ("SET_QDISC host=h1 qdisc=tbf action=change rate=x", "1:19: SET_QDISC: "),
        ("HOST_SUFFIX a/b", '1:13: HOST_SUFFIX: "a/b" cannot be the name of a host'),
    ],
)
def test_what_no_network_could_do_is_refused_with_its_place(tmp_path, text, says):
    """Regression: these passed the check, and some failed without a line when the campaign began."""
    with pytest.raises(ScriptError) as raised:
        of(tmp_path, text)
    assert f"script:{says}" in str(raised.value)


def test_what_a_change_leaves_out_may_be_there(tmp_path):
    """Only the network knows what stands at an interface."""
    assert of(tmp_path, "SET_QDISC host=h1 qdisc=tbf action=change rate=1mbit").commands


def test_a_random_time_that_has_no_room_is_that_time(tmp_path):
    """Regression: 1.001 became 1.000999."""
    assert of(tmp_path, "RAND_WAIT 1.001 1.001\n").end_s == 1.001


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{CLIENT}\n", "1 experiment, 1 flow, 1 second of network time"),
        (f"{CLIENT} instances=4 dur=2.5\nPROCESS_EXP\n{CLIENT}\n", "2 experiments, 5 flows, 3.5 seconds of network"),
        ("SET a=1\n", "0 experiments, 0 flows, 0 seconds"),
    ],
)
def test_check_counts_experiments(tmp_path, capsys, text, says):
    """Regression: it counted PROCESS_EXP, without which an experiment ends with its script."""
    script = tmp_path / "mine"
    script.write_text(f"DO_SERVER host=h2 exp=99\n{text}")
    assert main(["netesto", "check", str(script)]) == 0
    assert says in capsys.readouterr().out


def test_check_names_a_number_that_is_used_twice(tmp_path, capsys):
    """Regression: only run said so."""
    script = tmp_path / "mine"
    script.write_text("DO_CLIENT exp=3 host=h1 server=h2 dur=1\nPROCESS_EXP\n" * 2)
    assert main(["netesto", "check", str(script)]) == 2
    assert "mine:3:1: experiment 3 is begun twice" in capsys.readouterr().out
