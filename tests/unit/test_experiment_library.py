# SPDX-License-Identifier: BSD-3-Clause
"""The tests of the library, and what a test's file may hold."""

import os
import re
from pathlib import Path

import pytest

from linklab import cli
from linklab.base.toml import parse
from linklab.data.names import matching
from linklab.errors import InputError, MissingError
from linklab.experiment import test_file
from linklab.experiment.algorithms import POCKET, lacking, refuse_missing
from linklab.experiment.dscp import marking_name, parse_marking, parse_own
from linklab.experiment.expand import expand, series_of
from linklab.experiment.model import Traffic
from linklab.experiment.places import seconds
from linklab.experiment.template import TEMPLATE
from linklab.experiment.test_file import MOST_BYTES, load_test, parse_test, read_test

SMALL = """
title = "small"
[[flow]]
series = "TCP upload::{n}"
traffic = "tcp"
direction = "up"
count = "streams"
[[parameter]]
name = "streams"
kind = "count"
default = 2
"""


OF_FLENT = """
bursts bursts_11e cisco_5tcpup cisco_5tcpup_2udpflood command-output cpu_stress cubic_bbr cubic_cdg cubic_dctcp
cubic_ledbat cubic_ledbat_1 cubic_reno cubic_westwood dslreports_8dn http http-1down http-1up http-rrul
iterated_bidirectional ledbat_cubic_1 mqtt_read ping power_usage qdisc-stats reno_cubic_westwood_cdg
reno_cubic_westwood_ledbat reno_cubic_westwood_lp rrul rrul46 rrul46compete rrul_100_up rrul_50_down rrul_50_up
rrul_be rrul_be_iperf rrul_be_nflows rrul_cs8 rrul_icmp rrul_noclassification rrul_prio rrul_torrent rrul_up
rrul_var rtt_fair rtt_fair4be rtt_fair6be rtt_fair_up rtt_fair_var rtt_fair_var_down rtt_fair_var_mixed
rtt_fair_var_up sctp_vs_tcp tcp_12down tcp_12up tcp_1down tcp_1up tcp_1up_noping tcp_2down tcp_2up tcp_2up_delay
tcp_2up_square tcp_2up_square_westwood tcp_4down tcp_4up tcp_4up_squarewave tcp_6down tcp_6up tcp_8down tcp_8up
tcp_bidirectional tcp_download tcp_ndown tcp_nup tcp_upload tcp_upload_1000 tcp_upload_prio udp_flood
udp_flood_var_up udp_flood_var_up_stagger voip voip-1up voip-rrul
"""
"""The tests of Flent 2.3, by name; docs/tests.md says how many."""


def small(more: str = "", **parameters: str) -> list[str]:
    """The series of the small test with something added to its file."""
    return [flow.series for flow in expand(parse_test(SMALL + more, "small.toml", "small"), parameters).flows]


def test_the_library_has_every_test_of_flent_and_two_of_its_own():
    """Where no Flent is installed, nothing else would notice that one is gone."""
    assert len(OF_FLENT.split()) == 82
    assert set(test_file.test_names()) == {*OF_FLENT.split(), "late_comer", "requests"}


@pytest.mark.parametrize("name", test_file.test_names())
def test_a_test_of_the_library_says_what_it_shows_and_expands(name):
    """Every file is whole: a title, a paragraph, a family, flows whose series differ, and plots with a first one."""
    test = load_test(name)
    assert test.title
    assert len(test.text) > 80
    assert test.family != "own"
    if test.impossible:
        with pytest.raises(InputError, match=name):
            expand(test)
        return
    needed = {"command": "uptime"} if "command" in test.entries.parameters else {}
    found = expand(test, needed, hosts=["h2", "h3"])
    assert found.flows
    assert found.default_plot in {plot.name for plot in found.plots}
    assert all(plot.description != plot.name for plot in found.plots)


def test_rrul_marks_its_flows_and_probes_the_whole_time():
    """RRUL's flows begin after the delay and last the length; the probes surround them."""
    found = {flow.series: flow for flow in expand(load_test("rrul"), length_s=30).flows}
    flow = found["TCP download EF"]
    assert (flow.traffic, flow.direction, flow.tos, flow.start_s, flow.length_s) == (Traffic.TCP, "down", 184, 5, 30)
    probe = found["Ping (ms) UDP BK"]
    assert (probe.traffic, probe.tos, probe.start_s, probe.length_s) == (Traffic.UDP_RTT, 32, 0, 40)


def test_each_stream_takes_its_own_values():
    """Lists give each flow its own algorithm, marking and start; a late flow is so much shorter."""
    words = {"upload_streams": "3", "cc_algos": "bbr,cubic", "markings": "EF", "stream_delays": "0,10"}
    flows = [flow for flow in expand(load_test("tcp_nup"), words).flows if flow.traffic is Traffic.TCP]
    assert [flow.congestion for flow in flows] == ["bbr", "cubic", ""]
    assert [flow.tos for flow in flows] == [184, 0, 0]
    assert [(flow.start_s, flow.length_s) for flow in flows] == [(5, 60), (15, 50), (5, 60)]


def test_derived_series_name_what_they_are_computed_from():
    """Patterns are resolved over flows alone, so a sum is never part of an average."""
    derived = {each.series: each.of for each in expand(load_test("tcp_nup"), {"upload_streams": "2"}).derived}
    assert derived["TCP upload avg"] == derived["TCP upload sum"] == ("TCP upload::1", "TCP upload::2")


def test_an_unknown_parameter_is_kept_as_metadata():
    """As in Flent, whatever is given stands in the metadata."""
    assert expand(load_test("ping"), {"weather": "rain"}).parameters["weather"] == "rain"


def test_an_algorithm_for_all_goes_to_flows_that_name_none():
    """Flent's tcp_cong_control holds one algorithm, or one for each direction."""
    flows = expand(load_test("rrul"), {"tcp_cong_control": "bbr,reno"}).flows
    assert {flow.congestion for flow in flows if flow.direction == "up"} == {"bbr"}
    assert {flow.congestion for flow in flows if flow.direction == "down"} == {"reno"}


def test_the_template_of_a_new_test_passes_its_check():
    """What linklab test new writes is a whole test."""
    found = expand(parse_test(TEMPLATE, "mine.toml", "mine"), {"algorithms": "bbr"})
    assert [flow.congestion for flow in found.flows] == ["bbr", "cubic", ""]
    assert found.plots[0].name == "upload"


@pytest.mark.parametrize(
    ("more", "parameters", "words"),
    [
        ("hots = 2", {}, r'small.toml: parameter "streams": unknown key "hots"; the keys here are'),
        ("defalt = 3", {}, r'parameter "streams": unknown key "defalt"; did you mean "default"\?'),
        ("", {"streams": "many"}, r'small: parameter streams: it must be a whole number from 0 to 5000.*"many"'),
        ("", {"streams": "6000"}, "from 0 to 5000"),
        ("[[flow]]\nseries = 'x'\ntraffic = 'tpc'", {}, r'flow "x": "traffic" cannot be "tpc"; did you mean "tcp"\?'),
        ("[[flow]]\nseries = 'x{m}'\ntraffic = 'icmp'", {}, r'flow "x\{m\}": nothing is called \{m\} here'),
        ("[[flow]]\nseries = 'x'\ntraffic = 'icmp'\nstart = '2 weeks'", {}, 'there is no time "weeks"'),
        ("[[flow]]\nseries = 'x'\ntraffic = 'icmp'\nmarking = 'CS9'", {}, 'there is no marking "CS9"; did you mean CS'),
        (
            "[[flow]]\nseries = 'x'\ntraffic = 'icmp'\noptions = { argv = 'id' }",
            {},
            r'flow "x": "options": icmp has no "argv"; there are host',
        ),
        ("[[flow]]\nseries = 'x'\ntraffic = 'icmp'\nlength = 'length - 60'", {}, "last 0 s"),
        ("[[flow]]\nseries = 'x'\ntraffic = 'tcp'\ncongestion = 'a b'", {}, "not a congestion control"),
        ("[[flow]]\nseries = 'TCP upload::1'\ntraffic = 'icmp'", {}, "two flows for the series"),
        (
            "[[flow]]\nseries = 'x'\ntraffic = 'icmp'\nwhen = 'stream'",
            {},
            r'no parameter "stream"; did you mean "streams"',
        ),
        ("[[plot]]\nname = 'p'\nkind = 'pie'\nlines = ['x']", {}, r'plot "p": "kind" cannot be "pie"'),
        ("[[plot]]\nname = 'p'\nparent = 'q'", {}, r'plot "p": "parent": there is no plot "q"'),
        ("[[plot]]\nname = 'p'\nkind = 'box'", {}, 'plot "p": it needs "lines"'),
        ("[[plot]]\nname = 'p'\nkind = 'meta'\nparts = ['q']", {}, 'plot "p": there is no plot "q"'),
        ("[[derived]]\nseries = 'd'\nrule = 'sum'\nof = []", {}, 'derived "d": "of" must name'),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_place_and_its_cure(more, parameters, words):
    """A message begins with the file and the entry, and ends with the nearest known word or what can be."""
    with pytest.raises(InputError, match=words):
        small(more, **parameters)


def test_a_file_reaches_no_other_files(tmp_path):
    """What a stranger's test includes are names of the library, never paths."""
    for name in ("../rrul", "/etc/passwd", "common.toml", ""):
        with pytest.raises(InputError, match="there is no shared file"):
            parse_test(f'title = "x"\ninclude = ["{name}"]', "x.toml", "x")


@pytest.mark.parametrize("command", ["id", "{n}", "{streams}", "{command} ; id", "{hidden}"])
def test_a_file_never_brings_a_command_along(command):
    """What is run on a host is said by the person who runs the test: a stranger's file can only ask for it."""
    more = f"[[flow]]\nseries = 'x'\ntraffic = 'command'\noptions = {{ command = '{command}' }}\n"
    with pytest.raises(InputError, match="never in a file"):
        small(more + "[[parameter]]\nname = 'command'\n[values]\nhidden = 'id'")
    good = more.replace(command, "{command}") + "[[parameter]]\nname = 'command'"
    test = parse_test(SMALL + good, "small.toml", "small")
    assert expand(test, {"command": "id"}).flows[-1].options == {"command": "id"}


@pytest.mark.parametrize(
    ("flow", "parameter"),
    [
        ("each = [{ command = 'touch /tmp/x' }]", ""),
        ("", "kind = 'list'\notherwise = 'touch /tmp/x'"),
        ("", "kind = 'list'"),
        ("", "kind = 'yes-no'"),
        ("", "default = 'touch /tmp/x'"),
        ("", "default = '{streams}'"),
    ],
)
def test_nothing_in_a_file_stands_for_the_command_of_a_person(flow, parameter):
    """Regression: a key of `each` and what a list gives otherwise passed as if a person had typed them."""
    more = f"[[flow]]\nseries = 'x'\ntraffic = 'command'\noptions = {{ command = '{{command}}' }}\n{flow}\n"
    with pytest.raises(InputError, match=r'flow "x": .*never in a file'):
        small(f"{more}[[parameter]]\nname = 'command'\n{parameter}")
    with pytest.raises(InputError, match="never in a file"):
        small(more.replace("{command}", "{n}") + "[[parameter]]\nname = 'n'", n="id")
    two = "[[parameter]]\nname = 'a'\ndefault = 'touch /tmp/x;'\n[[parameter]]\nname = 'a}'"
    with pytest.raises(InputError, match="never in a file"):
        small(more.replace("{command}", "{a}b") + two)


def test_what_is_no_file_is_refused(tmp_path):
    """A pipe would never end, and a folder has no text."""
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    for name in ("pipe.toml", "folder.toml"):
        with pytest.raises(InputError, match=f"{name}: it is not a file"):
            load_test(str(tmp_path / name))
    with pytest.raises(InputError, match=r"none\.toml: No such file"):
        load_test(str(tmp_path / "none.toml"))


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    """A test has a largest size, as every list and text in it."""
    file = tmp_path / "huge.toml"
    file.write_text("#" * (MOST_BYTES + 1))
    with pytest.raises(InputError, match=r"200,001 bytes; a test has at most 200,000"):
        read_test(file)
    with pytest.raises(InputError, match="at most 4,000 are allowed"):
        parse_test(f'title = "{"x" * 4001}"', "x.toml", "x")
    many = "[[flow]]\nseries = 'x'\ntraffic = 'icmp'\n" * 501
    with pytest.raises(InputError, match=r"there are 501 of \[\[flow\]\]; at most 500"):
        parse_test(f'title = "x"\n{many}', "x.toml", "x")


def test_values_of_a_person_are_never_read_as_places():
    """A parameter that holds braces stands as it is, so that nothing can be filled in twice."""
    more = "[[parameter]]\nname = 'who'\n[[flow]]\nseries = 'Ping {who}'\ntraffic = 'icmp'"
    assert small(more, who="{n}")[-1] == "Ping {n}"


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    """linklab test run tcp_1pu."""
    with pytest.raises(InputError, match="did you mean tcp_1up"):
        load_test("tcp_1pu")


@pytest.mark.parametrize(
    ("text", "value"),
    [("length + 2 delay", 70), ("3 delay", 15), ("1 5 s", 5), ("-2 + length", 58), ("0.5 length - 200 ms", 29.8)],
)
def test_times_are_sums(text, value):
    """Numbers multiply within a term; a bare number is seconds."""
    assert seconds(text, {"length": 60, "delay": 5}) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "length delay", "2 *", "length +", "__import__('os')", "+"])
def test_what_is_no_sum_is_no_time(text):
    """Nothing is evaluated."""
    with pytest.raises(InputError, match="is not a time"):
        seconds(text, {"length": 60, "delay": 5})


@pytest.mark.parametrize(
    ("text", "byte"), [("EF", 184), ("af11", 40), ("CS1,CS1", 32), ("0x10", 16), ("184", 184), ("", 0)]
)
def test_markings_are_whole_bytes(text, byte):
    """Names of DSCP stand for the upper six bits; numbers are the byte itself."""
    assert parse_marking(text) == byte


def test_own_markings():
    """A person's names stand beside those of the standards and never replace them."""
    assert parse_marking("video", parse_own("video=0x88, games=40")) == 0x88
    with pytest.raises(InputError, match="defined by the standards"):
        parse_own("EF=3")
    with pytest.raises(InputError, match="more than a byte"):
        parse_own("big=256")
    assert (marking_name(184), marking_name(0x10)) == ("EF", "0x10")


def test_the_library_is_part_of_the_package():
    """Wheel, .deb and pocket hold what the package data names."""
    package = Path(__file__).resolve().parents[2] / "linklab"
    names = {file.parent.name for file in (package / "experiment").rglob("*.toml")}
    assert names == {"library", "shared"}


def test_the_pocket_has_the_algorithms_that_its_kernel_is_built_with():
    """The list stands in the package too, since a wheel has no kernel/; Reno is in every kernel."""
    fragment = (Path(__file__).resolve().parents[2] / "kernel/fragment.config").read_text()
    built = {name.lower() for name in re.findall(r"^CONFIG_TCP_CONG_(\w+)=y$", fragment, re.MULTILINE)}
    assert built - {"advanced"} | {"reno"} == POCKET


def test_a_test_says_which_algorithm_is_missing():
    """LEDBAT is in no Linux, so its tests say so before anything is built."""
    with pytest.raises(MissingError, match=r"cubic_ledbat needs the congestion control ledbat, .* not part of Linux"):
        refuse_missing(expand(load_test("cubic_ledbat")), "pocket")
    refuse_missing(expand(load_test("cubic_bbr")), "pocket")
    assert lacking(expand(load_test("tcp_nup"), {"cc_algos": "cubik"})).endswith("did you mean cubic?")


def test_tests_of_every_target_have_two_where_nobody_names_any():
    """One host can be named; a ready path has at least two, or there is nothing to share."""
    assert expand(load_test("rtt_fair_var")).hosts == 2
    assert expand(load_test("rtt_fair_var"), hosts=["h2"]).hosts == 1
    assert expand(load_test("rtt_fair_var"), hosts=["h2", "h3", "h4"]).hosts == 3
    assert expand(load_test("rtt_fair"), hosts=["h2"]).hosts == 4


DOCS = (Path(__file__).resolve().parents[2] / "docs/tests.md").read_text(encoding="utf-8")


def test_the_example_of_the_documentation_is_a_test():
    """What a person copies from docs/tests.md passes the check."""
    (example,) = re.findall(r"^```toml\n(.*?)^```", DOCS.partition("## Writing a test")[2], re.DOTALL | re.MULTILINE)
    found = expand(parse_test(example, "docs/tests.md", "example"))
    assert [flow.series for flow in found.flows] == ["TCP upload::1", "TCP upload::2", "Ping (ms) ICMP"]


def test_every_key_of_a_test_is_in_the_documentation():
    """A key that the reader takes and nobody can read about is no key."""
    package = Path(test_file.__file__).parent
    for file in ("test_file.py", "test_entries.py", "test_plots.py"):
        source = (package / file).read_text(encoding="utf-8")
        for key in re.findall(r'(?:table|one)\.(?:text|texts|take|choice)\("(\w+)"', source):
            if key != "file":
                assert f"`{key}`" in DOCS, f"{file}: {key}"
    for traffic in Traffic:
        assert f"`{traffic.value}`" in DOCS


EXTRAS = {
    "ping_hosts": "a",
    "voip_host": "b",
    "include_http": "yes",
    "cpu_stats_hosts": "c",
    "netstat_hosts": "d",
    "qdisc_stats_hosts": "e",
    "qdisc_stats_interfaces": "e-eth0",
    "command": "nproc",
    "upload_streams": "2",
    "download_streams": "2",
}


@pytest.mark.parametrize("name", [name for name in test_file.test_names() if not load_test(name).impossible])
def test_no_plot_of_the_library_is_empty(name):
    """Each line of a plot finds a series of its test, but for lines that serve two kinds of tests."""
    found = expand(load_test(name), EXTRAS, hosts=["h2", "h3"])
    names = [series for flow in found.flows for series in series_of(flow)] + [each.series for each in found.derived]
    names += [f"qdisc-stats::{key}" for key in ("backlog_pkts", "backlog_bytes", "dropped", "ecn_mark", "delay")]
    has_tcp = any(flow.traffic is Traffic.TCP for flow in found.flows)
    for plot in found.plots:
        matched = [bool(matching(line.series, names)) for line in plot.lines]
        either = plot.name in ("voip_mos_upload", "udp_tcp_combine")  # a sum, or the one upload; files of two tests
        socket = any(line.key.startswith("tcp_") for line in plot.lines)
        assert all(matched) or (either and any(matched)) or (socket and not has_tcp), plot
        assert set(plot.parts) <= {each.name for each in found.plots}


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("tcp_nup", {"markings": "CS9"}, 'tcp_nup: parameter markings: there is no marking "CS9"'),
        ("udp_flood", {"udp_bandwidth": "foo"}, 'udp_flood: parameter udp_bandwidth: rate "foo" is not a number'),
        ("tcp_nup", {"cc_algos": "A!"}, "tcp_nup: parameter cc_algos: "),
        ("tcp_nup", {"tcp_cong_control": "A!"}, "tcp_nup: parameter tcp_cong_control: "),
        ("tcp_nup", {"stream_delays": "x"}, "tcp_nup: parameter stream_delays: "),
    ],
)
def test_a_value_of_the_persons_own_is_named_by_its_parameter(name, given, said):
    """Regression: the message named a file of the library, which nobody has written."""
    with pytest.raises(InputError) as caught:
        expand(load_test(name), given)
    assert str(caught.value).startswith(said)


def test_what_may_be_left_out_is_no_word_of_a_choice():
    """Regression: "there are , down, up"."""
    text = "title = 'x'\n[[flow]]\nseries = 'x'\ntraffic = 'tcp'\ndirection = 'sideways'"
    with pytest.raises(InputError, match=r'"direction" cannot be "sideways"; there are down, up$'):
        parse_test(text, "x", "x")


def test_the_table_of_shared_files_is_right():
    """Each name of its rows stands in the file or in what that includes."""
    page = (Path(__file__).parents[2] / "docs" / "tests.md").read_text()
    rows = page.partition("| shared file |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == 8
    for row in rows:
        files, *rest = (re.findall(r"`([^`]+)`", cell) for cell in row.strip("|").split("|"))
        text = "".join(map(_with_included, files)) + " ".join(files)
        for name in (name.replace("::1", "::{n}") for cell in rest for name in cell):
            assert name in text or f'include = ["{name}' in text, (files, name)


def _with_included(name: str) -> str:
    text = (Path(test_file.__file__).parent / "library" / "shared" / f"{name}.toml").read_text()
    found = parse(text, name).data.get("include", [])
    return text + "".join(_with_included(one) for one in found if isinstance(one, str))


def test_all_faults_of_a_file_are_told_at_once(tmp_path, capsys):
    """One line each; whoever runs the test reads the first and how many more there are."""
    file = tmp_path / "mine.toml"
    flow = "[[flow]]\nseries = 'x'\ntraffic = "
    file.write_text(f"title = 'x'\n{flow}'tpc'\n{flow}'udq'\n[[plot]]\nname = 'p'\nkind = 'timeserie'\n")
    assert cli.main(["test", "check", str(file)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert [re.search(r'"(tpc|udq|timeserie)"', line)[1] for line in told] == ["tpc", "udq", "timeserie"]
    with pytest.raises(InputError, match=r'"tpc".* \(2 more faults: linklab test check\)$'):
        read_test(file)
