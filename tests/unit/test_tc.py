# SPDX-License-Identifier: BSD-3-Clause
"""Disciplines, classes and filters: from words, from the kernel, and to words again, with nothing lost on the way."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from linklab.errors import InputError, StateError
from linklab.linux import tc_filter_options, tc_options
from linklab.linux.netlink import TCMSG, attributes
from linklab.linux.tc_attributes import TCA_KIND, TCA_OPTIONS
from linklab.tc import CLASSES, DISCIPLINES, FILTERS, QDISCS, Class, Filter, Qdisc, lines_in, module_of, read_line
from linklab.tc.forms import PACKETS_32, SHARE, Form
from linklab.tc.option import OneOf, Several, Switch, Valued
from linklab.tc.red_words import cell_log, slope_log, weight_log

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/captures/tc-6.1.0-linux-7.3.4-disciplines.json").read_text())


def typed(line):
    """What a line sets."""
    return read_line(line.split())


def by_place(case):
    """What the lines of a case set, by what they are called: "2:", "1:10" or the filter's priority."""
    made = [typed(line) for line in CASES[case]["typed"]]
    return {getattr(each, "handle", None) or getattr(each, "classid", None) or each.pref: each for each in made}


def kernels(case):
    """What the kernel then told of it, by the same names."""
    state = CASES[case]["state"]
    found = {entry["handle"]: Qdisc(**entry) for entry in state["qdiscs"] if entry["handle"] != "0:"}
    found |= {entry["classid"]: Class(**entry) for entry in state.get("classes", ())}
    return found | {entry["pref"]: Filter(**entry) for entry in state.get("filters", ())}


# --- words


def test_a_line_is_read_with_its_place_and_its_options_in_base_units():
    """Units are in the names: ns, bit/s, bytes."""
    assert typed("sudo tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms 1ms loss 0.01%") == Qdisc(
        "netem", "1:", "root", {"delay_ns": 20_000_000, "jitter_ns": 1_000_000, "loss": 0.0001}
    )
    assert typed("tc class add dev a parent 1:1 classid 1:20 htb rate 300mbit ceil 1gbit burst 15k") == (
        Class("htb", "1:20", "1:1", {"rate_bit": 300_000_000, "ceil_bit": 10**9, "burst": 15_360})
    )
    assert typed("tc filter add dev a parent 1:0 protocol ip prio 3 handle 6/0xff fw classid 1:10") == (
        Filter("fw", "1:", 3, "ip", {"mark": 6, "mask": 255, "classid": "1:10"})
    )
    assert typed("tc qdisc show dev a") is None


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("netem latency 100", {"delay_ns": 100_000}),
        ("netem loss random 10% 50%", {"loss": 0.1, "loss_correlation": 0.5}),
        ("netem loss gemodel 2.8% 25%", {"loss_gemodel": [0.028, 0.25, 1.0, 0.0]}),
        ("netem loss state 20%", {"loss_state": [0.2, 0.8, 0.0, 1.0, 0.0]}),
        ("netem delay 10ms reorder 25%", {"delay_ns": 10_000_000, "reorder": 0.25, "gap": 1}),
        ("tbf rate 8000bps burst 1540 latency 1s", {"rate_bit": 64_000, "burst": 1540, "limit": 9540}),
        ("tbf rate 1mbit buffer 10kb limit 3000", {"rate_bit": 1_000_000, "burst": 10_240, "limit": 3000}),
        ("htb default 1f r2q 10", {"default": 31, "r2q": 10}),
        ("cake unlimited lan flows nat", {"rtt_us": 1000, "flow": "flows", "nat": True}),
        ("fq nopacing horizon_cap maxrate 5gbit", {"pacing": False, "horizon_drop": False, "maxrate_bit": 5 * 10**9}),
    ],
)
def test_words_are_read_as_tc_reads_them(words, options):
    """Aliases, tc's own units where none is given, and what tc adds by itself."""
    kind, *rest = words.split()
    assert QDISCS[kind].read(rest) == options


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("codel targt 5ms", 'codel has no "targt"'),
        ("codel target", '"target" needs a value'),
        ("pie limit many", '"limit": packet count "manyp"'),
        ("netem delay 20ms jitter 1ms", 'netem: "jitter" cannot be read'),
        ("prio bands 4 priomap 1 2", '"priomap" needs 16 values'),
    ],
)
def test_words_that_cannot_be_read_are_named(words, says):
    """One sentence, which names the word."""
    kind, *rest = words.split()
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        QDISCS[kind].read(rest)


# --- the kernel


@pytest.mark.parametrize("case", CASES)
def test_the_agent_reads_the_kernels_messages(case):
    """The messages as the kernel sent them give the options of the state."""
    state = {"qdisc": "qdiscs", "class": "classes", "filter": "filters"}
    readers = {"qdisc": tc_options.QDISCS, "class": tc_options.CLASSES, "filter": tc_filter_options.FILTERS}
    for what, messages in CASES[case]["netlink"].items():
        told = []
        for body in map(bytes.fromhex, messages):
            data = attributes(body[TCMSG.size :])
            kind = data[TCA_KIND].rstrip(b"\0").decode()
            handle = TCMSG.unpack_from(body)[2]
            if kind not in readers[what] or (what == "filter" and not (handle and TCA_OPTIONS in data)):
                continue
            args = (data.get(TCA_OPTIONS, b""), *((handle,) if what == "filter" else ()))
            told.append(readers[what][kind](*args))
        wanted = [entry["options"] for entry in CASES[case]["state"].get(state[what], ())]
        assert [options for options in told if options is not None] == wanted


@pytest.mark.parametrize("case", CASES)
def test_what_the_kernel_tells_is_what_was_typed(case):
    """Every option that was typed comes back, but for what the kernel does not tell or keeps in another form."""
    told = kernels(case)
    for place, wanted in by_place(case).items():
        if wanted.kind in ("clsact", "red"):  # of red, see below
            continue
        options = dict(wanted.options)
        if wanted.kind == "htb":  # tc counts these bursts in whole µs at the rate, 125 bytes at 1 Gbit/s
            options |= {name: pytest.approx(options[name], abs=125) for name in options.keys() & {"burst", "cburst"}}
        assert {name: told[place].options[name] for name in options} == options
        assert (told[place].kind, told[place].parent) == (wanted.kind, wanted.parent)


@pytest.mark.parametrize("case", CASES)
def test_tc_and_the_kernel_name_the_same_places(case):
    """`tc -j`, by which the agent looks for a drawing's disciplines, lists those of the state."""
    listed = [
        (entry["kind"], entry["handle"], entry.get("parent", "root")) for entry in json.loads(CASES[case]["qdisc"])
    ]
    assert listed == [(e["kind"], e["handle"], e["parent"]) for e in CASES[case]["state"]["qdiscs"]]


@pytest.mark.parametrize("case", ["red", "red-adaptive"])
def test_red_keeps_the_logarithms_of_what_was_typed(case):
    """Weight, slope and cell are those that tc computes."""
    said, told = by_place(case)["1:"].options, kernels(case)["1:"].options
    assert told["wlog"] == weight_log(said["min"], said["burst"], said["avpkt"])
    assert told["plog"] == slope_log(said["min"], said["max"], said.get("probability", 0.02))
    assert told["cell_log"] == cell_log(told["wlog"], said["avpkt"], said["bandwidth_bit"] // 8)


@pytest.mark.parametrize("case", CASES)
def test_words_of_what_the_kernel_tells_are_read_as_the_same(case):
    """Kernel → words → options gives what the kernel told; of red, words that say the same."""
    for each in kernels(case).values():
        each.check()
        kind, *words = each.words()
        again = each.known.read(words)
        if kind == "fw":
            again |= each.known.read_handle(each.known.handle(each.options))
        if kind == "red":
            assert again["limit"] == each.options["limit"]
            assert each.known.words(again) == words
        else:
            assert without_off(again) == without_off(each.options)


def without_off(options):
    """What is on: leaving a word out says off as well, and a mask of 0 is none."""
    return {name: value for name, value in options.items() if value is not False and (name, value) != ("mask", 0)}


# --- round trips

SHARES = st.integers(0, 10_000).map(lambda number: number / 10_000)


def values(form: Form):
    """Values that a form may have, of the size that the kernel's are."""
    for sample in (
        ["1:10", "ffff:", "a:1f"],
        ["10.0.0.1/8", "0.0.0.0/0"],
        ["icmp", "tcp", "47"],
        [["0a000001/ffffffff@12"]],
    ):
        if form.holds(sample[0]):
            return st.sampled_from(sample)
    if not form.holds(2):
        return SHARES
    if form.kind == "rate":
        return st.integers(1, 10**11)
    return st.integers(0, 15) if not form.holds(16) else st.integers(0, 10**7).filter(form.holds)


def option_values(option):
    """Values that an option may have."""
    match option:
        case Switch(off=off):
            return st.booleans() if off else st.just(True)
        case OneOf(choices=choices):
            return st.sampled_from(choices)
        case Several(form=form, length=length):
            return st.lists(values(form), min_size=length, max_size=length)
        case Valued(form=form):
            return values(form)


def set_options(kind):
    """Some of a kind's options that words say, and all that it needs."""
    each = {option.name: option_values(option) for option in kind.options if option.starts}
    needed = {name: each.pop(name) for name in kind.needs}
    return st.fixed_dictionaries(needed, optional=each)


PLAIN = [
    kind for table in (QDISCS, CLASSES, FILTERS) for kind in table.values() if kind.name not in ("netem", "red", "fw")
]


@pytest.mark.parametrize("spelled", [False, True])
@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: type(kind).__name__ + " " + kind.name)
@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])  # a slow draw is no fault
@given(data=st.data())
def test_options_are_read_back_from_their_words(kind, spelled, data):
    """Options → words → options, exact and as people write them."""
    options = data.draw(set_options(kind))
    options.pop("latency_us", None)  # a way to type the limit
    words = kind.words(options, spelled=spelled)
    found = kind.read(" ".join(words).split())
    assert without_off(found) == without_off(options)
    assert kind.words(found, spelled=spelled) == [word for word in words if word]


@given(set_options(QDISCS["netem"]))
def test_netem_is_read_back_from_its_words(options):
    """Words → options → words, for all that tc can say."""
    try:
        words = QDISCS["netem"].words(options)
    except StateError:
        assume(False)  # reorders without a delay
    assume(not options.get("reorder") or options.get("gap"))  # tc takes a gap of 1
    assert QDISCS["netem"].words(QDISCS["netem"].read(words)) == words


@given(st.integers(0, 2**32 - 1), st.integers(1, 10**6), st.integers(2, 5), st.integers(1, 12), st.integers(0, 14))
def test_words_of_red_give_the_logarithms_again(limit, low, factor, wlog, cell):
    """Kernel → words → options → what tc computes of it."""
    plog = slope_log(low, low * factor, 0.02)
    assume(plog is not None)
    kept = {"limit": limit, "min": low, "max": low * factor, "wlog": wlog, "plog": plog, "cell_log": cell}
    try:
        said = QDISCS["red"].read(" ".join(QDISCS["red"].words(kept)).split())
    except StateError:
        assume(False)  # no words of tc give it
    assert weight_log(low, said["burst"], said["avpkt"]) == wlog
    assert slope_log(low, low * factor, said["probability"]) == plog
    assert cell_log(wlog, said["avpkt"], said["bandwidth_bit"] // 8) == cell


# --- the tables


def test_the_agent_reads_every_kind_that_has_a_row():
    """A kind comes into both tables: the reader of netlink inside, and its row outside."""
    assert set(tc_options.QDISCS) == set(QDISCS)
    assert set(tc_options.CLASSES) == set(CLASSES)
    assert set(tc_filter_options.FILTERS) == set(FILTERS)


def test_the_pocket_kernel_is_built_with_every_module_that_a_row_names():
    """Its configuration has NET_SCH_… and NET_CLS_… for each."""
    config = (ROOT / "kernel/fragment.config").read_text()
    modules = {module_of("qdisc", kind) for kind in QDISCS} | {module_of("filter", kind) for kind in FILTERS}
    assert len(modules) > 15
    for module in modules - {""}:
        assert f"CONFIG_NET_{module.upper()}=y\n" in config, module


def test_what_drawings_offer():
    """The kinds of the link dialog in the order of its list; parameters know how they are read."""
    assert list(DISCIPLINES) == [
        *("tbf", "htb", "red", "sfq", "codel", "fq_codel", "cake", "pie", "fq", "fq_pie", "pfifo", "bfifo")
    ]
    kinds = {(kind, parameter.name): parameter.kind for kind, all_ in DISCIPLINES.items() for parameter in all_}
    assert kinds["codel", "limit"] == "packets"
    assert kinds["red", "limit"] == "size"
    assert kinds["cake", "ack-filter"] == "flag"
    assert kinds["cake", "priority"] == "choice"
    assert QDISCS["fq_codel"].from_drawing({"target": "5ms", "noecn": "1", "ecn": "0"}) == {
        "target_us": 5000,
        "ecn": False,
    }
    assert SHARE.spelled(0.0001) == "0.01%"
    assert PACKETS_32.read("100p") == PACKETS_32.read("100") == 100


# --- command lines


def test_commands_are_found_wherever_they_stand():
    """In scripts, manuals and programs; words abbreviated as tc allows; what is only shown or deleted too."""
    text = """sudo tc qdisc replace dev s1-eth1 parent 1: handle 2: tbf rate 1gbit \\
   burst 500000; tc q a dev "$IF" root pie
settings = ["tc qdisc add dev a ingress", 'tc -s qdisc show dev b']
`tc class change …`, etc qdisc, and tc's words: tc qdisc del root dev c
tc qdisc add dev DEV [ parent ID | root ] sfq"""
    assert [(line.verb, line.device, line.parent, line.handle, line.kind) for line in lines_in(text)] == [
        ("replace", "s1-eth1", "1:", "2:", "tbf"),
        ("add", "$IF", "root", "", "pie"),
        ("add", "a", "ingress", "", "ingress"),
        ("show", "b", "root", "", ""),
        ("change", "", "root", "", ""),
        ("delete", "c", "root", "", ""),
        ("add", "DEV", "root", "", ""),
    ]


@pytest.mark.parametrize(
    ("line", "handle", "parent"),
    [
        ("tc qdisc add dev a parent 01:0A handle 0x2: pfifo", "2:", "1:a"),
        ("tc qdisc add dev a parent 1:A handle 2 pfifo", "2:", "1:a"),
        ("tc qdisc add dev a parent 1:0 handle ffff: pfifo", "ffff:", "1:"),
        ("tc qdisc add dev a root pfifo", "0:", "root"),
    ],
)
def test_names_of_disciplines_are_those_of_the_kernel(line, handle, parent):
    """Regression: "1:0A" and "1:a" were two places; numbers are hexadecimal (tc(8))."""
    found = typed(line)
    assert (found.handle, found.parent) == (handle, parent)


@pytest.mark.parametrize("name", ["12345:", "1:10:2", "h1", "0x:", "1:-1"])
def test_what_is_no_name_of_a_discipline_is_refused(name):
    """As tc refuses it."""
    with pytest.raises(InputError, match="is not the name of a discipline or class"):
        typed(f"tc qdisc add dev a parent {name} pfifo")


@pytest.mark.parametrize(
    ("line", "takes_all"),
    [
        ("protocol ip u32 match u32 0 0 flowid 1:1", True),
        ("protocol ip u32 match ip dst 0.0.0.0/0 match ip src 0.0.0.0/0 flowid 1:1", True),
        ("protocol ip u32 match ip dst 0.0.0.0/0 match ip dport 80 0xffff flowid 1:1", False),
        ("protocol all matchall flowid 1:1", True),
        ("protocol arp matchall flowid 1:1", False),
        ("protocol ip flower classid 1:1", True),
        ("protocol ip flower ip_proto tcp classid 1:1", False),
        ("protocol ip handle 7 fw classid 1:1", False),
    ],
)
def test_a_filter_takes_every_packet_if_it_compares_nothing(line, takes_all):
    """Whoever writes "match ip dst 0/0" means all of them."""
    found = read_line(f"tc filter add dev s1-eth2 parent 1: prio 1 {line}".split())
    assert found.takes_all_ip is takes_all
