# SPDX-License-Identifier: BSD-3-Clause
"""A script's experiments, the network they run on, what is set on it, and the plan of each."""

from pathlib import Path

import pytest

from linklab.errors import InputError
from linklab.experiment.path import parse_path
from linklab.experiment.ready import draw_star
from linklab.netesto.campaign import CampaignSettings, plan_campaign, seed_of
from linklab.netesto.capture_plan import captured
from linklab.netesto.disciplines import Standing, commands, drawn, with_netem, with_qdisc
from linklab.netesto.expand import expand
from linklab.netesto.experiments import experiments, machines
from linklab.netesto.lines import ScriptError
from linklab.netesto.machines import drawn_for, on_topology, read_map
from linklab.netesto.network_plan import plan_experiment

TWO = """
SET_SYSCTL host=h1 net.ipv4.tcp_wmem=10000,262144,20971520
DO_SERVER exp=COUNTER host=h3 order=0 expName=first start=1
DO_CLIENT exp=PREV host=h1 server=h3 ca=bbr dur=10 instances=3 test=TCP_STREAM stats=1
RAND_WAIT 0.1
SET_NETEM host=h2 netem_delay=20 loss=0.5
DO_CLIENT exp=PREV host=h2 server=h3 ca=cubic dur=5 delay=2 req=10K reply=1 localBuffer=64K
WAIT 20
PROCESS_EXP
SET_SYSCTL host=h1 net.ipv4.tcp_wmem=4096,262144,20971520
DO_CLIENT exp=COUNTER expName=second host=h1 server=h3 ca=cubic dur=10 req=1M stats=1
PROCESS_EXP
"""
NETEM = {"netem_delay": "40", "limit": "1000", "loss": "0"}
TBF = {"qdisc": "tbf", "action": "replace", "rate": "10mbit", "burst": "3000", "limit": "400000", "other": ""}


def expansion(tmp_path: Path, text: str, seed: int = 1):
    """A script's commands."""
    script = tmp_path / "script"
    script.write_text(text)
    return expand(script, seed=seed)


def star(hosts=("h3", "h1", "h2"), words="100mbit 0ms 1000p", router="r1"):
    """A router between hosts; h3 is 10.0.1.1 at r1-eth0."""
    return draw_star(parse_path(words), hosts, router)


def planned(tmp_path: Path, text: str, number: int = 0, topology=None, **more):
    """The plan of an experiment of a script."""
    found = expansion(tmp_path, text)
    network = on_topology(found.commands, topology or star(), {})
    return plan_experiment(experiments(found)[number], network, 7, **more)


def test_an_experiment_lies_between_its_first_command_and_its_processing(tmp_path):
    """Times count from its begin, delays are added, and what a later setting of the same name replaces is left out."""
    first, second = experiments(expansion(tmp_path, TWO))
    wait_s = round(first.groups[1].start_s - 2, 6)
    assert 0 < wait_s < 0.1
    assert [(group.number, group.test, group.instances, group.start_s) for group in first.groups] == [
        (1, "TCP_STREAM", 3, 0.0),
        (2, "TCP_RR", 1, 2 + wait_s),
    ]
    assert (first.groups[1].req_bytes, first.groups[1].reply_bytes, first.groups[1].local_buffer) == (10240, 1, 65536)
    assert [(each.word, each.at_s) for each in first.settings] == [("SET_SYSCTL", None), ("SET_NETEM", wait_s)]
    assert [(each.word, *each.arguments.values()) for each in second.settings] == [
        ("SET_NETEM", "20", "1000", "0.5"),
        ("SET_SYSCTL", "4096,262144,20971520"),
    ]
    assert (first.counted, first.length_s) == (("h3", "h1"), 10.0)


def test_a_number_that_is_used_twice_is_refused(tmp_path):
    """The second experiment would replace the folder of the first."""
    client = "DO_CLIENT exp=3 host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    with pytest.raises(InputError, match="experiment 3 is begun twice"):
        experiments(expansion(tmp_path, client * 2))


def test_a_number_that_is_used_twice_has_its_place(tmp_path):
    """All of them at once, each where the second one begins."""
    client = "DO_CLIENT exp={0} host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    text = "".join(client.format(number) for number in (3, 4, 3, 4))
    with pytest.raises(ScriptError) as raised:
        experiments(expansion(tmp_path, text))
    assert [problem.where.line for problem in raised.value.problems] == [5, 7]


def test_many_open_experiments_share_what_is_set(tmp_path, monkeypatch):
    """Regression: each kept each setting from then on, so both times and memory grew with their product."""
    opened = "".join(f"DO_CLIENT exp={number} host=h1 server=h3 ca=cubic dur=1\n" for number in range(1, 1001))
    found = expansion(tmp_path, opened + "FOR d IN 1..1000 DO\nSET_NETEM host=h1 netem_delay=$d\nDONE\n")
    with pytest.raises(ScriptError, match=r"more than 1,000,000 settings and commands"):
        experiments(found)
    with pytest.raises(ScriptError, match=r":1001:1: more than 1,000 experiments are under way"):
        experiments(expansion(tmp_path, opened + "DO_CLIENT exp=2000 host=h1 server=h3 ca=cubic dur=1\n"))


def test_commands_of_an_experiment_keep_the_order_of_the_script(tmp_path):
    """Those of others are not among them; groups that have one number get the next."""
    client = "DO_CLIENT exp={} host={} server=h3 ca=cubic dur=1 group=1\n"
    netem = "SET_NETEM host=h1 netem_delay={}\nWAIT 1\n"
    text = (
        netem.format(1)
        + client.format(1, "h1")
        + netem.format(2)
        + client.format(2, "h2")
        + client.format(1, "h2")
        + netem.format(3)
        + "PROCESS_EXP exp=1\n"
        + netem.format(4)
    )
    first, second = experiments(expansion(tmp_path, text))
    assert [(each.word, each.at_s) for each in first.commands] == [
        ("DO_CLIENT", 0.0),
        ("SET_NETEM", 0.0),
        ("DO_CLIENT", 1.0),
        ("SET_NETEM", 1.0),
    ]
    assert [(each.arguments["netem_delay"], each.at_s) for each in first.settings] == [
        ("1", None),
        ("2", 0.0),
        ("3", 1.0),
    ]
    assert [(each.arguments["netem_delay"], each.at_s) for each in second.settings] == [
        ("2", None),
        ("3", 0.0),
        ("4", 1.0),
    ]
    assert [group.number for group in first.groups] == [1, 2]


def test_settings_do_not_grow_with_the_script(tmp_path):
    """A hundred experiments that set the same values leave the last experiment with one of each."""
    one = "SET_SYSCTL host=h1 net.ipv4.tcp_ecn=1\nDO_CLIENT exp=COUNTER host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    assert len(experiments(expansion(tmp_path, one * 100))[-1].settings) == 1


# --- machines


def test_names_are_nodes_with_or_without_a_suffix_or_by_a_map(tmp_path):
    """The map of the command line comes before that of the file beside the script."""
    text = "DO_CLIENT exp=COUNTER host=h1.example.com server=kerneltest014 ca=cubic dur=1\nPROCESS_EXP\n"
    found = expansion(tmp_path, text)
    (tmp_path / "hosts.map").write_text("kerneltest014 = h2\n\nkerneltest015=h1\n")
    given = read_map(["kerneltest014=h3"], tmp_path / "script")
    assert given == {"kerneltest014": "h3", "kerneltest015": "h1"}
    assert on_topology(found.commands, star(), given).nodes == {"h1.example.com": "h1", "kerneltest014": "h3"}


def test_a_machine_that_is_no_node_is_refused_with_all_names(tmp_path):
    """The message has what is missing, what the topology has, and what the script names."""
    text = "DO_CLIENT exp=COUNTER host=alpha server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    with pytest.raises(InputError) as raised:
        on_topology(expansion(tmp_path, text).commands, star(), {})
    for word in ("alpha", "h1, h2", "--map alpha=", "hosts.map"):
        assert word in str(raised.value)
    with pytest.raises(InputError, match="NAME=NODE"):
        read_map(["alpha"], tmp_path / "script")


def test_a_network_is_drawn_for_a_script_with_its_router_in_the_middle(tmp_path):
    """A machine with a shaper at which no flow ends is the router; long names become short ones."""
    text = "SET_QDISC host=kerneltest010 qdisc=tbf rate=10mbit burst=3000 limit=9000 action=replace\n" + TWO.replace(
        "h3", "kerneltest014"
    )
    found = expansion(tmp_path, text)
    drawn_ = drawn_for(found.commands, {})
    assert drawn_.nodes["h1"] == "h1"
    assert drawn_.nodes["kerneltest010"] == "r1"
    assert drawn_.nodes["kerneltest014"] not in ("h1", "h2", "r1")
    assert sorted(node.name for node in drawn_.topology.nodes) == sorted(drawn_.nodes.values())
    assert machines(found.commands) == ("kerneltest010", "h1", "kerneltest014", "h2")


def test_names_of_several_domains_are_several_machines(tmp_path):
    """Regression: a.x.com and a.y.com were one node; only a name without a suffix is that of one with it."""
    text = "".join(
        f"DO_CLIENT exp=COUNTER host={host} server=s ca=cubic dur=1\n" for host in ("a.x.com", "a.y.com", "a")
    )
    nodes = drawn_for(expansion(tmp_path, text).commands, {}).nodes
    assert nodes == {"a.x.com": "a", "s": "s", "a.y.com": "h1", "a": "a"}


def test_a_map_and_a_suffix_hold_on_a_network_that_is_drawn(tmp_path):
    """Regression: --map k1=h9 was not for k1.x.com there, and HOST_SUFFIX was never appended."""
    text = "HOST_SUFFIX .x.com\nDO_CLIENT exp=COUNTER host=k1 server=k2.y.com ca=cubic dur=1\nDO_TCPDUMP server=X\n"
    found = expansion(tmp_path, text)
    assert machines(found.commands) == ("k1.x.com", "k2.y.com")
    for given in ({"k1": "h9"}, {"k1.x.com": "h9"}):
        assert drawn_for(found.commands, given).nodes == {"k1.x.com": "h9", "k2.y.com": "k2"}
        assert on_topology(found.commands, star(("h9", "k2")), given).nodes["k1.x.com"] == "h9"


# --- disciplines


def test_netem_and_a_shaper_stand_at_one_interface():
    """In either order netem comes first and the shaper within it; taking the delay away leaves the shaper."""
    netem_last = with_netem(with_qdisc(Standing(), TBF, ""), NETEM)
    netem_first = with_qdisc(with_netem(Standing(), NETEM), TBF, "")
    assert netem_last == netem_first
    lines = [" ".join(words) for words in commands("x", Standing(), netem_first)]
    assert lines == [
        "tc qdisc add dev x root handle 1: netem limit 1000 delay 40000us",
        "tc qdisc add dev x parent 1: handle 2: tbf rate 10000000bit burst 3000 limit 400000",
    ]
    alone = with_netem(netem_first, {**NETEM, "netem_delay": "0"})
    assert alone == with_qdisc(Standing(), TBF, "")


def test_values_change_while_packets_wait():
    """Where the kinds stay the same, nothing is removed."""
    before = with_qdisc(Standing(), TBF, "")
    after = with_qdisc(before, {**TBF, "rate": "5mbit"}, "")
    assert [words[2] for words in commands("x", before, after)] == ["change"]
    other = with_qdisc(before, {**TBF, "qdisc": "fq_codel", "rate": "", "burst": "", "limit": "50"}, "")
    assert [words[2] for words in commands("x", before, other)] == ["del", "add"]
    assert with_qdisc(before, {**TBF, "action": "del"}, "").is_empty


def test_half_a_percent_of_loss_is_half_a_percent():
    """Netesto's own packs the first character alone, which makes it 0."""
    standing = with_netem(Standing(), {**NETEM, "loss": "0.5"})
    assert "loss 0.5%" in " ".join(commands("x", Standing(), standing)[0])
    assert not with_netem(Standing(), {**NETEM, "netem_delay": "0", "loss": "0.5"}).is_empty


def test_what_a_drawing_has_stays_beside_what_the_script_sets():
    """A delay of the script's is added to the drawing's shaper."""
    before = drawn(["tc qdisc add dev x root handle 2: tbf rate 100mbit burst 1600b limit 1514000"], other=False)
    lines = [" ".join(words) for words in commands("x", before, with_netem(before, NETEM))]
    assert lines[0] == "tc qdisc del dev x root"
    assert "netem" in lines[1]
    assert "parent 1:" in lines[2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"other": "; rm -rf /"},
        {"other": "parent 1:"},
        {"rate": ""},
        {"qdisc": "nonsense"},
        {"qdisc": "red", "action": "change"},
        {"qdisc": "mq"},
        {"rate": "fast"},
    ],
)
def test_words_that_no_discipline_has_are_refused(wrong):
    """Nothing that a script writes reaches tc unread."""
    with pytest.raises(InputError):
        with_qdisc(Standing(), {**TBF, **wrong}, "")


# --- plans


def test_settings_go_to_the_interfaces_towards_the_others(tmp_path):
    """Of a router those towards the servers; of a host that takes no part none."""
    text = (
        "SET_QDISC host=r1 qdisc=tbf rate=10mbit burst=3000 limit=400000 action=replace\n"
        "SET_NETEM host=h3 netem_delay=40\nSET_NETEM host=h2 netem_delay=10\n"
        "DO_CLIENT exp=COUNTER host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    )
    found = planned(tmp_path, text)
    assert [(each["host"], each["interfaces"]) for each in found.about["settings"]] == [
        ("r1", ["r1-eth0"]),
        ("h3", ["h3-eth0"]),
    ]
    # the drawing's own shaper at r1-eth0 becomes the script's
    lines = {each["name"].split(" handle")[0] for each in found.plan.data["settings"]}
    assert lines == {
        "tc qdisc del dev r1-eth0 root",
        "tc qdisc add dev r1-eth0 root",
        "tc qdisc add dev h3-eth0 root",
    }


def test_mq_on_one_queue_becomes_the_default_discipline(tmp_path):
    """The scripts that set the default and then mq mean that each queue has it."""
    text = (
        "SET_SYSCTL host=h1 net.core.default_qdisc=fq_codel\nSET_QDISC host=h1 qdisc=pfifo action=replace\n"
        "SET_QDISC host=h1 qdisc=mq action=replace\n"
        "DO_CLIENT exp=COUNTER host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    )
    found = planned(tmp_path, text)
    assert [note for note in found.about["notes"] if "one transmit queue" in note]
    lines = [" ".join(each["argv"]) for each in found.plan.data["settings"] if each.get("argv")]
    assert lines == ["tc qdisc add dev h1-eth0 root handle 2: fq_codel"]


def test_flows_have_their_source_group_and_exact_start(tmp_path):
    """A group is one program; a stream with a buffer of its own is not iperf3's."""
    found = planned(tmp_path, TWO)
    assert [(flow.series, flow.source, flow.start_s) for flow in found.expanded.flows[:3]] == [
        ("STREAM 1::1", "h1", 0.0),
        ("STREAM 1::2", "h1", 0.0),
        ("STREAM 1::3", "h1", 0.0),
    ]
    clients = {each["id"]: each for each in found.plan.data["programs"] if each["role"] == "flow"}
    assert list(clients) == ["tcp-1", "rpc-1", "icmp-1", "icmp-2"]
    assert clients["tcp-1"]["argv"][-4:] == ["-P", "3", "-C", "bbr"]
    assert clients["rpc-1"]["node"] == "h2"
    assert {"10240", "65536"} <= set(clients["rpc-1"]["argv"])
    group = found.about["groups"][1]
    assert (group["group"], group["host"], group["series"], group["localBuffer"]) == (2, "h2", ["RR 2::1"], 65536)
    buffered = planned(tmp_path, TWO.replace("instances=3", "instances=3 remoteBuffer=1M"))
    ids = [each["id"] for each in buffered.plan.data["programs"]]
    assert "tcp-1" not in ids
    assert "stream" in next(each["argv"] for each in buffered.plan.data["programs"] if each["id"] == "rpc-1")


def test_no_two_flows_have_one_port(tmp_path):
    """Regression: two hosts chose the same port, and the server's samples of one flow became the other's."""
    text = "".join(
        f"DO_CLIENT exp={e} host={h} server=h3 ca=cubic dur=1 instances=6 req=1M\n"
        for e, h in (("COUNTER", "h1"), ("PREV", "h2"))
    )
    found = planned(tmp_path, text + "PROCESS_EXP\n")
    argvs = [
        each["argv"] for each in found.plan.data["programs"] if each["id"].startswith("rpc-") and "ask" in each["argv"]
    ]
    spans = [(int(argv[argv.index("--from") + 1]), int(argv[argv.index("--connections") + 1])) for argv in argvs]
    ports = [port for first, count in spans for port in range(first, first + count)]
    assert len(ports) == len(set(ports)) == 12
    assert max(ports) < 32768


def test_captures_are_there_before_the_first_flow(tmp_path):
    """Each has a file of its own; without a server it has no filter."""
    text = (
        "DO_TCPDUMP exp=COUNTER host=h1 server=h3 packets=50\nDO_TCPDUMP exp=PREV host=h3 server=X\n"
        "DO_CLIENT exp=PREV host=h1 server=h3 ca=cubic dur=1\nPROCESS_EXP\n"
    )
    found = planned(tmp_path, text)
    dumps = [each for each in found.plan.data["programs"] if each["id"].startswith("capture")]
    assert [each["role"] for each in dumps] == ["server", "server"]
    assert dumps[0]["argv"][-2:] == ["host", "10.0.1.1"]
    assert "host" not in dumps[1]["argv"]
    assert {"-s", "128", "-c", "50"} <= set(dumps[0]["argv"])
    assert found.about["captures"] == ["h1-h3.pcap", "h3-X.pcap"]


def test_captures_that_nobody_would_find_are_said(tmp_path):
    """Regression: one after the last flow began at 100 s and ended at 5 s; two names of a machine gave one file."""
    text = (
        "DO_TCPDUMP exp=COUNTER host=h1 server=h3\nDO_TCPDUMP exp=PREV host=h1.example.org server=h3\n"
        "DO_CLIENT exp=PREV host=h1 server=h3 ca=cubic dur=1\nWAIT 100\n"
        "DO_TCPDUMP exp=PREV host=h3 server=h1\nPROCESS_EXP\n"
    )
    found = planned(tmp_path, text)
    dumps = [each["id"] for each in found.plan.data["programs"] if each["id"].startswith("capture")]
    assert dumps == ["capture-1", "capture-2"]
    assert found.about["captures"] == ["h1-h3.pcap", "h1-h3-2.pcap"]
    assert found.about["notes"] == ["a DO_TCPDUMP stands where the last flow has ended, so nothing is captured there"]
    assert captured(found.experiment, {"h1": "h1", "h1.example.org": "h1", "h3": "h3"}) == {
        "capture-1.out": "h1-h3.pcap",
        "capture-2.out": "h1-h3-2.pcap",
    }


def test_groups_that_start_together_forget_once(tmp_path):
    """Regression: two equal commands at one time, of which the runner lost the first."""
    later = "DO_CLIENT exp=PREV host=h1 server=h3 ca=cubic dur=2\n"
    text = "DO_CLIENT exp=COUNTER host=h1 server=h3 ca=cubic dur=2\nWAIT 5\n" + 2 * later + "PROCESS_EXP\n"
    flushes = [each for each in planned(tmp_path, text).plan.data["settings"] if each["argv"][0] == "ip"]
    assert [(each["node"], each["at_s"]) for each in flushes] == [("h1", 4.95)]


def test_the_kernels_memory_of_connections_is_forgotten_before_a_later_flow(tmp_path):
    """The first flows of a network find nothing to forget."""
    text = (
        "DO_CLIENT exp=COUNTER host=h1 server=h3 ca=cubic dur=2\nWAIT 5\n"
        "DO_CLIENT exp=PREV host=h1 server=h3 ca=cubic dur=2\nPROCESS_EXP\n"
    )
    flushes = [each for each in planned(tmp_path, text).plan.data["settings"] if each["argv"][0] == "ip"]
    assert [(each["node"], each["at_s"]) for each in flushes] == [("h1", 4.95)]


def test_a_campaign_names_what_cannot_be_with_its_place(tmp_path):
    """Whatever is wrong is said before anything runs."""
    server = "DO_SERVER exp=COUNTER expName=e host=h3 start=1\n"
    flow = server + "DO_CLIENT host=h1 server=h3 ca={ca} dur=1\nWAIT 1\nPROCESS_EXP\n"

    def plan(text):
        found = expansion(tmp_path, text)
        return plan_campaign(found, on_topology(found.commands, star(), {}), CampaignSettings())

    with pytest.raises(ScriptError, match=r"script:6:29: .* no congestion control prague: TCP Prague is not part"):
        plan(flow.format(ca="cubic") + flow.format(ca="prague"))
    with pytest.raises(ScriptError, match=r"script:1:31: .* no DO_SERVER begins h3"):
        plan(flow.format(ca="cubic").replace(server, "").replace("host=h1", "host=h1 exp=COUNTER"))
    with pytest.raises(ScriptError) as raised:  # a drawing may have a discipline to change, so its place is kept
        plan("\nSET_QDISC host=h1 qdisc=red action=change limit=9\n" + flow.format(ca="cubic") * 2)
    (problem,) = raised.value.problems
    assert problem.where.line == 2
    assert problem.what == "SET_QDISC host=h1: there is no red to change; set it first, with action=replace"
    with pytest.raises(InputError, match="starts no flows"):
        plan("WAIT 1\n")
    with pytest.raises(InputError, match=r"experiment 1 \(e\): .*no IPv6 address"):
        found = expansion(tmp_path, flow.format(ca="cubic"))
        plan_campaign(found, on_topology(found.commands, star(), {}), CampaignSettings(version=6))


def test_an_experiments_seed_depends_on_nothing_but_its_number(tmp_path):
    """So an experiment that is added changes no other, and a list says by its digest whether it is the same."""
    found = expansion(tmp_path, TWO)
    plans = [
        plan_campaign(found, on_topology(found.commands, star(), {}), CampaignSettings(seed=seed)) for seed in (1, 1, 2)
    ]
    seeds = [[entry.trial.seed for entry in plan.entries] for plan in plans]
    assert seeds[0] == [seed_of(1, 1), seed_of(1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert len(set(seeds[0] + seeds[2])) == 4
