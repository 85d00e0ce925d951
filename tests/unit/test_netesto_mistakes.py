# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that people made in scripts of their own: `check` names each, first with the line that they can mend."""

import pytest

from linklab.cli import main
from linklab.netesto.expand import ScriptError, expand

SERVER = "DO_SERVER host=h1 exp=COUNTER start=1\n"
FLOW = f"{SERVER}DO_CLIENT host=h2 server=h1 ca=cubic dur=5\nWAIT 5\nPROCESS_EXP\n"
LIBRARY = "SOURCE inlib\n"


def checked(tmp_path, capsys, text):
    """What `check` says of a script, line by line and without its path, and whether it refuses it."""
    script = tmp_path / "script"
    script.write_text(text)
    code = main(["netesto", "check", str(script)])
    said = [line.replace(f"{script}:", "") for line in capsys.readouterr().out.splitlines()]
    return said, code == 2


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # values that cannot be
        (f"{SERVER}DO_CLIENT host=h2 server=h1 ca=cubik\n", "2:29: DO_CLIENT: the pocket kernel has no congestion"),
        (f"{SERVER}DO_CLIENT host=h2 server=h3 ca=bbr\n", "2:19: DO_CLIENT: no DO_SERVER begins h3; write DO_SERVER"),
        ("SET_QDISC host=h1 qdisc=tbf rate=10 mbit burst=3000 limit=3000\n", '1:37: SET_QDISC: "mbit" must follow'),
        ("SET_QDISC host=h1 qdisc=tbf rate=10 burst=3000 limit=3000\n", '1:29: SET_QDISC: rate: "10" without a unit'),
        ("SET_QDISC host=h1 qdisc=tbf rate=10Mbitt burst=3000 limit=3000\n", "1:19: SET_QDISC: "),
        ("SET server=<server1>\n", '1:1: SET: "<server1>" is a placeholder; put what it stands for'),
        ("SET server=<server host>\n", '1:1: SET: "<server host>" is a placeholder'),
        ("DO_SERVER host=<server1>\n", '1:11: DO_SERVER: host: "<server1>" is a placeholder; put the name'),
        ("DO_SERVER host=h1,h2\n", '1:11: DO_SERVER: host: "h1,h2" is a list, and one machine is needed'),
        (f"{SERVER}DO_CLIENT host=h2 server=h1 ca=CUBIC\n", '2:29: DO_CLIENT: ca: "CUBIC" cannot be the name'),
        # how it is written
        ("SET n=2\nDO_SERVER host=h${n}\n", '2:17: "${n}" is not a variable; write $n without braces'),
        ("SET u=3\nIF $u==3: ECHO a\n", '2:4: IF cannot compare, and "$u==3" has =='),
        ("IF $u==3: ECHO a\n", '1:4: IF cannot compare, and "$u==3" has =='),
        ("SET ca = cubic\n", "1:1: SET has spaces around its =; write SET ca=cubic"),
        ("SET ca= cubic\n", "1:1: SET has a space after its =; write SET ca=cubic"),
        ("SET all=h1, h2\n", "1:13: SET: a list has no spaces: write all=h1,h2"),
        ("SET_EXP y = 3 + 4\n", "1:1: SET_EXP has spaces around its =; write SET_EXP y=3+4"),
        ("SET a=1\nSET_EXP y=3 + $a\n", "2:13: SET_EXP: an expression has no spaces; write SET_EXP y=3+$a"),
        (f"{LIBRARY}RUN MServerRR clients = h2\n", "2:23: RUN: there are spaces around the =; write clients=h2"),
        (f"{LIBRARY}RUN MServerRR clients= h2\n", "2:24: RUN: there is a space behind the =; write clients=h2"),
        ("DO_SERVER host = h1\n", "1:16: DO_SERVER: there are spaces around the =; write host=h1"),
        ("DO_SERVER host= h1\n", "1:17: DO_SERVER: there is a space behind the =; write host=h1"),
        ("BEGIN m\nECHO a\nEND\nECHO b\nEND m\nRUN m\n", "3:1: END alone ends the whole script; the end of this macro"),
        (
            f"{LIBRARY}RUN MServerRR servers=h1 clients=h2, h3 ca=cubic\n",
            "2:38: RUN: a list has no spaces: write clients",
        ),
        ("DO_SERVER host=h1 exp=COUNTER expName=a, b\n", "1:42: DO_SERVER: a list has no spaces: write expName=a,b"),
    ],
)
def test_a_mistake_is_refused_where_it_stands(tmp_path, capsys, text, first):
    """With what to write instead; the first line is of the mistake and not of what follows from it."""
    said, refused = checked(tmp_path, capsys, text)
    assert refused
    assert said[0].startswith(first)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (FLOW.replace("WAIT 5", "WAIT 3"), "4:1: PROCESS_EXP: flows of experiment 1 run for 2 s more"),
        (FLOW.replace("dur=5", "dur=5 delay=1"), "4:1: PROCESS_EXP: flows of experiment 1 run for 1 s more"),
        (f"OTHER netme=10\n{FLOW}", "1:1: OTHER: fields.txt has no column netme, so only the files exp.out of the"),
        (f"OTHER rate=10\n{FLOW}", "1:1: OTHER: rate says what was set or measured, so OTHER does not fill it"),
        (f"DESC ${{n}}\n{FLOW}", "1:1: DESC: ${name} is not a variable, so the text shows it"),
        (f"SET_QDISC host=h1 qdisc=tbf rate=10Mbps burst=3000 limit=3000\n{FLOW}", "1:29: SET_QDISC: tc takes 10Mbps"),
        ("SET a=1\n", "no DO_CLIENT is reached, so the script starts no flows"),
    ],
)
def test_what_is_odd_is_noted(tmp_path, capsys, text, note):
    """It may be meant, so the script counts as right."""
    said, refused = checked(tmp_path, capsys, text)
    assert not refused
    assert any(line.removeprefix("note: ").lstrip().startswith(note) for line in said), said


def test_what_is_right_has_no_notes(tmp_path, capsys):
    """Flows that end just when they are processed, and columns that OTHER is for."""
    text = f"OTHER netem=10,testType=x,bw=10mbit\n{FLOW}END\n"
    assert checked(tmp_path, capsys, text) == ([" 1 experiment, 1 flow, 5 seconds of network time"], False)


@pytest.mark.parametrize(
    ("given", "first"),
    [
        # the person's argument first, with its column; the library's line behind it
        ("servers=h1 clients=h2 dur=5x", '2:37: DO_CLIENT: dur: "5x" is not a number'),
        ("servers=h1 clients=h2 ca=cubik dur=5", "2:37: DO_CLIENT: the pocket kernel has no congestion control cubik"),
        # what is missing: the RUN
        ("servers=h1 dur=5", "2:1: RUN: $clients is not defined; give clients= to RUN"),
        # what is spelt nearly right: that argument
        ("server=h1 clients=h2 dur=5", "2:15: RUN: MServerRR has no server=; did you mean servers=?"),
    ],
)
def test_an_argument_of_a_macro_is_named_where_the_person_wrote_it(tmp_path, capsys, given, first):
    """Regression: the library's line came first, which nobody who uses it has written."""
    rest = "expName=x instances=1 reqs=1M reply=1"
    rest += "" if "ca=" in given else " ca=cubic"
    said, refused = checked(tmp_path, capsys, f"{LIBRARY}RUN MServerRR {given} {rest}\n")
    assert refused
    assert said[0].startswith(first)
    if "cubik" not in given:
        assert "(library/inlib:" in said[0]


def test_a_problem_of_one_argument_is_told_once(tmp_path, capsys):
    """However many lines of the library use it."""
    text = f"{LIBRARY}RUN MServerRR server=h1 clients=h2 dur=5 expName=x instances=1 reqs=1M reply=1 ca=cubic\n"
    said, _ = checked(tmp_path, capsys, text)
    assert len(said) == 1


def test_an_algorithm_is_named_beside_other_problems(tmp_path, capsys):
    """In the order of the script."""
    text = f"{SERVER}DO_CLIENT host=h2 server=h1 ca=bbrr dur=1\nWAIT x\n"
    said, _ = checked(tmp_path, capsys, text)
    assert [line.partition(": ")[0] for line in said] == ["2:29", "3:6"]


def test_an_argument_is_followed_through_macros_of_ones_own(tmp_path):
    """A value that a macro sets itself comes from no argument, and stays in its line."""
    script = tmp_path / "script"
    script.write_text(
        "BEGIN inner\nWAIT $t\nWAIT $own\nEND inner\n"
        "BEGIN outer\nSET own=y\nRUN inner t=$time\nEND outer\n"
        "RUN outer time=x\n"
    )
    with pytest.raises(ScriptError) as error:
        expand(script)
    told = [str(problem).replace(f"{script}:", "") for problem in error.value.problems]
    assert told == [
        '3:6: WAIT: "y" is not a number such as 10 or 0.5; inner runs from 7:1; outer runs from 9:1',
        '9:11: WAIT: "x" is not a number such as 10 or 0.5 (2:6 in inner; inner runs from 7:1)',
    ]


def test_a_script_of_the_other_kind_is_told(tmp_path, capsys, monkeypatch):
    """Both kinds of scripts lie beside each other, and each command takes one of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.exp").write_text("File = exp\nSelect = ca==bbr\ndoTable\n")
    (tmp_path / "mine").write_text(f"{LIBRARY}RUN MServerRR\n")
    assert main(["netesto", "check", "demo.exp"]) == 2
    hint = "this looks like a table script; linklab netesto table demo.exp --check checks it"
    assert capsys.readouterr().out.splitlines()[-1] == f"demo.exp: {hint}"
    assert main(["netesto", "table", "mine"]) == 2
    hint = "this looks like the script of a campaign; linklab netesto check mine checks it"
    assert capsys.readouterr().err.splitlines()[-1] == f"linklab: mine: {hint}"
    assert main(["netesto", "check", "mine"]) == 2
    assert "looks like" not in capsys.readouterr().out
