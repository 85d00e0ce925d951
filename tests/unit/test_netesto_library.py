# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of the library: each is right, and expands to the experiments that it promises."""

import re
from collections import Counter

import pytest

from linklab.cli import main
from linklab.netesto.catalogue import macros_in
from linklab.netesto.expand import expand
from linklab.netesto.sources import LIBRARY, library_files, library_names

MACROS = {
    "MServerRR",
    "MServerRR_1",
    "MServerRR_client3_req3",
    "MServerRR2",
    "MServerRR2r",
    "MServerRR3",
    "MServerRRvs",
    "MServerStreamVs",
    "MServerStream",
    "MServerStreamRR",
    "TwoFlowBaseRR",
    "TwoFlowBaseStream",
    "ThreeFlowBaseRR",
    "ThreeFlowBaseStream",
    "FourFlowStreamOne",
    "OneFlowRR",
    "OneFlowStream",
}

SETTINGS = """
SET client1=c1
SET client2=c2
SET client3=c3
SET client4=c4
SET clients=c1,c2
SET clients1=c1
SET clients2=c1,c2
SET clients3=c1,c2,c3
SET client=c1
SET server=s1
SET servers=s1,s2
SET servers1=s1
SET servers2=s2
SET servers3=s3
SET ca=cubic
SET ca1=cubic
SET ca2=bbr
SET ca3=reno
SET dur=10
SET dur1=10
SET dur2=4
SET dur3=2
SET delay2=3
SET delay3=5
SET instances=2
SET req=1M
SET req1=1M
SET req2=10K
SET reqs=1M,10K
SET reqs1=S
SET reqs2=1M
SET reqs3=10K
SET reply=1
SET expName=x
"""


def expanded(tmp_path, text, **options):
    """The expansion of a script's text."""
    script = tmp_path / "script"
    script.write_text(text)
    return expand(script, **options)


def flows(found):
    """(host, server, ca, test, size, instances) of each group of flows."""
    told = ("host", "server", "ca", "test", "req", "instances")
    return [tuple(c.arguments[name] for name in told) for c in found.commands if c.word == "DO_CLIENT"]


def words(found, word):
    """The commands of a word."""
    return [command for command in found.commands if command.word == word]


@pytest.mark.parametrize("name", library_names())
def test_a_script_of_the_library_is_right(name):
    """Without a note."""
    assert expand(LIBRARY / name).notes == ()


def test_inlib_has_the_macros_that_scripts_know():
    """The fifteen, and the two that examples need."""
    found = {macro.name: macro for macro in macros_in(LIBRARY / "inlib")}
    assert set(found) >= MACROS
    assert {name for name in found if name not in MACROS} == {"libServers", "libRequests", "libStreams", "libFinish"}
    assert all(macro.does.endswith(".") for macro in found.values())


@pytest.mark.parametrize("macro", sorted(MACROS))
def test_a_macro_is_one_whole_experiment(tmp_path, macro):
    """It begins at each server, its flows have groups from 1 on, each host's data is fetched once, and it ends."""
    found = expanded(tmp_path, f"{SETTINGS}SOURCE inlib\nRUN {macro}\n")
    assert found.counter == 1
    assert {command.arguments["exp"] for command in found.commands} == {"1"}
    begun = {c.arguments["host"] for c in words(found, "DO_SERVER") if c.arguments["order"] == "0"}
    ended = {c.arguments["host"] for c in words(found, "DO_SERVER") if c.arguments["order"] == "1"}
    clients = {c.arguments["host"] for c in words(found, "DO_CLIENT")}
    assert begun == ended == {c.arguments["server"] for c in words(found, "DO_CLIENT")}
    groups = [c.arguments["group"] for c in words(found, "DO_CLIENT")]
    assert groups == [str(number + 1) for number in range(len(groups))]
    assert Counter(c.arguments["host"] for c in words(found, "GET_DATA")) == Counter(begun | clients)
    assert [c.word for c in found.commands][-1] == "PROCESS_EXP"
    last = max(c.at_s + float(c.arguments["delay"]) + float(c.arguments["dur"]) for c in words(found, "DO_CLIENT"))
    assert words(found, "DO_SERVER")[-1].at_s > last


@pytest.mark.parametrize(
    ("macro", "wanted"),
    [
        ("OneFlowRR", [("c1", "s1", "cubic", "TCP_RR", "1M", "2")]),
        ("OneFlowStream", [("c1", "s1", "cubic", "TCP_STREAM", "1M", "2")]),
        ("MServerStream", [(c, s, "cubic", "TCP_STREAM", "1M", "2") for c in ("c1", "c2") for s in ("s1", "s2")]),
        (
            "MServerRR_client3_req3 servers=s1",
            [
                ("c1", "s1", "cubic", "TCP_STREAM", "S", "2"),
                ("c1", "s1", "cubic", "TCP_RR", "1M", "2"),
                ("c2", "s1", "cubic", "TCP_RR", "1M", "2"),
                *[(c, "s1", "cubic", "TCP_RR", "10K", "2") for c in ("c1", "c2", "c3")],
            ],
        ),
        (
            "MServerRR2r",
            [("c1", "s1", "cubic", "TCP_RR", "1M", "2")]
            + [(c, "s2", "bbr", "TCP_RR", "10K", "2") for c in ("c1", "c2")],
        ),
        (
            "MServerRR_1 servers=s1 clients=c2",
            [("c2", "s1", "cubic", "TCP_RR", size, "2") for size in ("1M", "10K")]
            + [("c1", "s1", "cubic", "TCP_RR", "1M", "2")],
        ),
        (
            "MServerRRvs servers=s1 clients2=c3",
            [
                (c, "s1", ca, "TCP_RR", size, "2")
                for size in ("1M", "10K")
                for c, ca in (("c1", "cubic"), ("c3", "bbr"))
            ],
        ),
        (
            "MServerStreamRR servers=s1 clients=c1",
            [
                ("c1", "s1", "cubic", "TCP_STREAM", "S", "2"),
                ("c1", "s1", "cubic", "TCP_RR", "1M", "2"),
                ("c1", "s1", "cubic", "TCP_RR", "10K", "2"),
            ],
        ),
        (
            "ThreeFlowBaseStream",
            [(f"c{n}", "s1", ca, "TCP_STREAM", "1M", "2") for n, ca in ((1, "cubic"), (2, "bbr"), (3, "reno"))],
        ),
        (
            "FourFlowStreamOne",
            [("c1", "s1", "cubic", "TCP_STREAM", "1M", "2")]
            + [(f"c{n}", "s1", "cubic", "TCP_STREAM", "1M", "1") for n in (2, 3, 4)],
        ),
    ],
)
def test_a_macro_has_its_flows(tmp_path, macro, wanted):
    """From whom to whom, with which algorithm and size."""
    assert flows(expanded(tmp_path, f"{SETTINGS}SOURCE inlib\nRUN {macro}\n")) == wanted


def test_late_flows_have_their_own_times(tmp_path):
    """dur1 to dur3 and delay2, delay3 of the macros whose flows join later."""
    found = expanded(tmp_path, f"{SETTINGS}SOURCE inlib\nRUN ThreeFlowBaseRR\n")
    times = [(c.arguments["dur"], c.arguments["delay"]) for c in words(found, "DO_CLIENT")]
    assert times == [("10", "0"), ("4", "3"), ("2", "5")]


def test_options_of_all_macros_reach_their_parts(tmp_path):
    """tcpDump and randDelay, as variables and as arguments; hooks before servers and clients."""
    hooks = "BEGIN preServer\nECHO server $host\nEND preServer\nBEGIN preClient\nECHO client $host\nEND preClient\n"
    found = expanded(tmp_path, f"{SETTINGS}{hooks}SOURCE inlib\nRUN MServerRR tcpDump=50 randDelay=0\n")
    assert found.said == ("server s1", "server s2", "client c1", "client c2")
    assert {c.at_s for c in words(found, "DO_CLIENT")} == {0.0}
    captures = [
        (c.arguments["host"], c.arguments["server"], c.arguments["packets"]) for c in words(found, "DO_TCPDUMP")
    ]
    assert captures == [(h, s, "50") for h, s in (("s1", "s1"), ("s2", "s2"))] + [
        (c, s, "50") for c in ("c1", "c2") for s in ("s1", "s2")
    ]


def test_a_number_given_to_a_macro_is_one_for_all_servers(tmp_path):
    """COUNTER as an argument, and a number."""
    found = expanded(tmp_path, f"{SETTINGS}SOURCE inlib\nRUN MServerRR exp=COUNTER\nRUN MServerStream exp=70\n")
    assert {c.arguments["exp"] for c in found.commands} == {"1", "70"}
    assert found.counter == 1


RATES = {
    "rate1": ["1s1c01.fr", "1s1c01.fs"],
    "rate2": ["1s2c01.fr", "1s2c01.fs", "1s2c02.fr", "1s2c02.fr", "1s2c02.1fr", "1s2c02.1fr"],
    "rate3": [f"1s3c{n:02}.0fr" for n in (1, 2, 4, 8, 8, 16, 16, 32, 32)],
    "rate3s": [f"1s3c{n:02}fs" for n in (1, 2, 4, 8, 16)],
    "rate3S": ["1s3c32fs"],
    "rate3p": [f"1s3c{n:02}.pfr" for n in (1, 2, 4, 8, 8, 16, 16, 32, 32)],
    "rate3x": [f"1s3c{n:02}.xfr" for n in (1, 2, 4, 8, 8, 16, 16, 32, 32)],
}
"""Variable → names of the experiments that it switches on."""

ALONE = {
    "rate1r": "1s1c01.fr",
    "rate1s": "1s1c01.fs",
    "rate2r": "1s2c01.fr",
    "rate2s": "1s2c01.fs",
    "rate3r1": "1s3c01.0fr",
    "rate3r2": "1s3c02.0fr",
    "rate3r4": "1s3c04.0fr",
    "rate3s1": "1s3c01fs",
    "rate3s2": "1s3c02fs",
    "rate3s4": "1s3c04fs",
    "rate3s8": "1s3c08fs",
    "rate3p1": "1s3c01.pfr",
    "rate3p2": "1s3c02.pfr",
    "rate3p4": "1s3c04.pfr",
    "rate3p8": "1s3c08.pfr",
    "rate3p16": "1s3c16.pfr",
    "rate3p32": "1s3c32.pfr",
}


def rates(tmp_path, *switches):
    """The expansion of the rate tests with these variables on."""
    on = "".join(f"SET {switch}=1\n" for switch in switches)
    return expanded(tmp_path, f"{SETTINGS}SET instances=1\nSOURCE inlib\nSOURCE inlib.rateTest\n{on}RUN ExpRate\n")


def names(found):
    """expName of each experiment, in order."""
    first = {c.arguments["exp"]: c.arguments["expName"] for c in words(found, "DO_SERVER")}
    return [first[c.arguments["exp"]] for c in words(found, "PROCESS_EXP")]


@pytest.mark.parametrize("switch", sorted(RATES))
def test_a_group_of_rate_tests(tmp_path, switch):
    """Its experiments, and as many flows from each client as the name says; nothing without the variable."""
    found = rates(tmp_path, switch)
    assert names(found) == RATES[switch]
    assert rates(tmp_path).commands == ()
    for number, name in enumerate(names(found), 1):
        shape = re.fullmatch(r"1s(\d)c(\d\d)\.?(\d|p|x)?f[rs]", name)
        sent = Counter()
        for c in words(found, "DO_CLIENT"):
            if c.arguments["exp"] == str(number):
                sent[c.arguments["host"]] += int(c.arguments["instances"])
        each = {None: 1, "0": 1, "1": 1, "p": 2, "x": 4}[shape[3]] * int(shape[2]) + (shape[3] == "1")
        assert sent == {f"c{client + 1}": each for client in range(int(shape[1]))}


@pytest.mark.parametrize("switch", sorted(ALONE))
def test_a_rate_test_alone(tmp_path, switch):
    """Switched on by a variable of its own; with its group's as well it still runs once."""
    assert set(names(rates(tmp_path, switch))) == {ALONE[switch]}
    group = switch.rstrip("0123456789") if switch.rstrip("0123456789") in RATES else switch[:5]
    assert names(rates(tmp_path, switch, group)) == RATES[group]


def test_the_thirty_two_rate_tests(tmp_path):
    """All groups, and those that run twice."""
    found = names(rates(tmp_path, *RATES))
    assert len(found) == 32 + 9
    assert names(rates(tmp_path, "rate2r1")) == ["1s2c01.fr", "1s2c02.fr", "1s2c02.1fr"]


def test_the_sixteen_tests_of_two_algorithms(tmp_path):
    """Two clients, then three; the first uses ca1, and all others use ca2."""
    text = f"{SETTINGS}SET instances=1\nSOURCE inlib\nSOURCE inlib.vsTest\nRUN ExpVs\n"
    found = expanded(tmp_path, text)
    assert len(words(found, "PROCESS_EXP")) == 16
    assert {(c.arguments["host"], c.arguments["ca"]) for c in words(found, "DO_CLIENT")} == {
        ("c1", "cubic"),
        ("c2", "bbr"),
        ("c3", "bbr"),
    }
    for number, name in enumerate(names(found), 1):
        mine = [c for c in words(found, "DO_CLIENT") if c.arguments["exp"] == str(number)]
        clients, count = re.fullmatch(r"1s(\d)c(\d+)f[rRs]+vs?", name).groups()
        each = 1 if "fs" in name else int(count)
        assert len(mine) == int(clients) * each
    first = expanded(tmp_path, f"SET ExpVsOne=1\n{text}")
    assert len(words(first, "PROCESS_EXP")) == 1
    assert first.counter == 10


def test_the_tests_of_an_algorithm_and_a_baseline(tmp_path):
    """Every pairing has its algorithms in all flows, the third included."""
    on = "".join(f"SET tcpCA23_{kind}=1\n" for kind in ("baseline", "test", "vs1", "vs2"))
    text = "".join(f"SET client{n}=c{n}\n" for n in (1, 2, 3)) + "SET server1=s1\nSET server=s1\n"
    found = expanded(
        tmp_path, f"{text}SOURCE inlib.caTest\nSET baselineCA=cubic\nSET testCA=bbr,reno\n{on}RUN tcpCA23\n"
    )
    used = {}
    for c in words(found, "DO_CLIENT"):
        used.setdefault(int(c.arguments["exp"]), []).append(c.arguments["ca"])
    pairs = [("cubic", "cubic")]
    for ca in ("bbr", "reno"):
        pairs += [(ca, ca), ("cubic", ca), (ca, "cubic")]
    wanted = [[first, *[later] * n] for first, later in pairs for n in (1, 2)]
    assert [used[number] for number in sorted(used)] == wanted
    assert [c.arguments["text"] for c in words(found, "DESC")] == [f"{first}:{later}" for first, later in pairs]
    for c in words(found, "DO_CLIENT"):
        assert float(c.arguments["delay"]) + float(c.arguments["dur"]) <= 60


def test_a_file_of_ones_own_comes_before_the_library(tmp_path):
    """In the script's folder first, then where --search says."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "inlib").write_text("ECHO from search\n")
    assert expanded(tmp_path, "SOURCE inlib\n", search=[tmp_path / "own"]).said == ("from search",)
    (tmp_path / "inlib").write_text("ECHO mine\n")
    assert expanded(tmp_path, "SOURCE inlib\n", search=[tmp_path / "own"]).said == ("mine",)


def test_library_and_macros_are_listed_and_printed(capsys):
    """Every script has a line; a script is printed as it is."""
    assert main(["netesto", "library"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == library_files()
    assert all(line.rstrip().endswith((".", "?")) for line in lines if ".exp " not in line)
    assert main(["netesto", "library", "script.test"]) == 0
    assert capsys.readouterr().out == (LIBRARY / "script.test").read_text()
    assert main(["netesto", "macros", "inlib.caTest"]) == 0
    assert "needs server1 baselineCA testCA" in capsys.readouterr().out
    assert main(["netesto", "library", "script.tset"]) == 2
    assert "did you mean script.test?" in capsys.readouterr().err
