# SPDX-License-Identifier: BSD-3-Clause
"""The grader's traffic: what a broken instrument is, and what the student's network did."""

import itertools
import json
from pathlib import Path

import pytest
from graded import say_it_backwards

from linklab.engine.api import Completed, Computed
from linklab.errors import DataError, EngineError, Fault, InputError
from linklab.exercise.model import Experiment, Ping
from linklab.grade.traffic import drive

ADDRESSES = {"h1": "10.0.0.1", "h2": "10.0.0.2"}
PING = Experiment("go", "submitted", {}, (), 5, 0, Ping("h1", "h2", 1.0), "", "W")
SUMMARY = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n\n--- 10.0.0.2 ping statistics ---\n{}\n"
CAPTURE = Path(__file__).parents[1] / "captures/nstat-6.1.0-echo-requests.txt"


class Said:
    """A network in which every command ends with `status`, and ping and the sampler write this; None for nothing.

    requests: what nstat counts before and after the traffic, of each experiment.
    """

    def __init__(self, folder, text="", status=0, computed=(), queue=None, *, requests=(7, 47)):
        self.folder, self.status, self._computed = folder, status, computed
        self.written = {"ping.txt": text, "queue.jsonl": queue}
        self._requests = itertools.cycle(requests)
        self.typed = []

    def run(self, actions, **_):
        """What the commands left."""
        for name, text in self.written.items():
            if text is not None:
                (self.folder / name).write_text(text)
        self.typed += [(each.terminal, each.text) for each in actions]
        return [Completed(each.terminal, each.text, self._said(each.text), self.status, 0, 5) for each in actions]

    def _said(self, line):
        if not line.startswith("nstat"):
            return "it said so"
        return CAPTURE.read_text().replace("6".ljust(16), str(next(self._requests)).ljust(16))

    def computed(self):
        """The programs that network time followed."""
        return self._computed


def lookup(name):
    """No parameter is asked for."""
    raise KeyError(name)


@pytest.mark.parametrize(
    "text",
    [
        SUMMARY.format("5 packets transmitted, 0 received, 100% packet loss, time 4095ms"),
        "ping: connect: Network is unreachable\n",
    ],
)
@pytest.mark.parametrize("reworded", [False, True])
def test_a_network_that_nothing_passes_loses_everything(tmp_path, monkeypatch, text, reworded):
    """No reply and no way are the network's doing: all is lost, whatever the words for it are."""
    if reworded:
        say_it_backwards(monkeypatch)
    assert drive(Said(tmp_path, text), PING, lookup, ADDRESSES, tmp_path).metrics == {"ping.loss": 1.0}


def test_an_unreadable_ping_is_no_loss(tmp_path):
    """An instrument that broke is an error, not the student's."""
    with pytest.raises(DataError, match="ping's output cannot be read") as caught:
        drive(Said(tmp_path, "Killed\n"), PING, lookup, ADDRESSES, tmp_path)
    assert caught.value.fault is Fault.TOOL


ANSWERED = SUMMARY.format("4 packets transmitted, 3 received, 25% packet loss, time 3ms").replace(
    "\n\n",
    "".join(f"\n[{at}.5] 64 bytes from 10.0.0.2: icmp_seq={at} ttl=64 time=2 ms" for at in (1, 2, 4)) + "\n\n",
    1,
)


@pytest.mark.parametrize(("requests", "measured"), [((5, 8), True), ((5, 9), True), ((5, 7), False), ((5, 5), False)])
def test_pings_that_the_target_did_not_receive_are_no_measurement(tmp_path, requests, measured):
    """However another node comes to answer, by an address, a prefix or a way not thought of, the target did not."""
    network = Said(tmp_path, ANSWERED, requests=requests)
    driven = drive(network, PING, lookup, ADDRESSES, tmp_path)
    assert [(on, line.split()[0]) for on, line in network.typed] == [("h2", "nstat"), ("h1#p", "ping"), ("h2", "nstat")]
    if measured:
        assert driven.broken == ""
        assert driven.metrics == {"ping.loss": 0.25, "ping.mean": 0.002, "ping.max": 0.002}
    else:
        got = requests[1] - requests[0]
        assert driven.broken == (
            f"h2 received only {got} of the 3 pings that were answered: another node answers in its place; "
            "look for its address on the other nodes"
        )
        assert (driven.metrics, driven.traces) == ({}, [])


def test_replies_that_tell_no_time_are_no_measurement(tmp_path):
    """Regression: a ping whose replies said no time ended grading as an error of ours."""
    silent = ANSWERED.replace(" time=2 ms", "")
    driven = drive(Said(tmp_path, silent), PING, lookup, ADDRESSES, tmp_path)
    assert driven.broken == "no reply to a ping from h1 to h2 told how long it took"
    assert driven.metrics == {}


@pytest.mark.parametrize(
    "said", ["", "nstat: not found\n", "#kernel\nIcmpInMsgs                      3                  0.0\n"]
)
def test_pings_that_cannot_be_counted_are_our_error(tmp_path, monkeypatch, said):
    """What is not known is not 0."""
    network = Said(tmp_path, ANSWERED)
    monkeypatch.setattr(network, "_said", lambda _: said)
    with pytest.raises(EngineError, match="the pings that h2 received cannot be counted"):
        drive(network, PING, lookup, ADDRESSES, tmp_path)


def test_figures_that_depend_on_the_graders_processor_are_an_error(tmp_path):
    """Where a program computed so long that network time followed the processor, nothing is judged by what it gave."""
    network = Said(tmp_path, SUMMARY, computed=[Computed("gzip", 3.0, 2.5)])
    with pytest.raises(EngineError, match="gzip computed so long"):
        drive(network, PING, lookup, ADDRESSES, tmp_path)


def test_a_sampler_that_ends_badly_is_an_error(tmp_path):
    """Its own word for an interface that is not there is 2, and that the student can mend."""
    sampled = Experiment("go", "submitted", {}, (), 5, 0, None, "s1-eth2", "W")
    with pytest.raises(EngineError, match="s1-eth2 could not be sampled: it said so"):
        drive(Said(tmp_path, status=137), sampled, lookup, ADDRESSES, tmp_path)
    with pytest.raises(InputError, match="no interface s1-eth2") as caught:
        drive(Said(tmp_path, status=2), sampled, lookup, ADDRESSES, tmp_path)
    assert caught.value.fault is Fault.NETWORK


def samples(*qdiscs):
    """What the sampler writes of an interface, one line for each list of disciplines."""
    lines = [{"interface": "s1-eth2", "node": "client", "period_s": 0.01, "tc": []}]
    lines += [{"t": number / 100, "qdiscs": [each]} for number, each in enumerate(qdiscs)]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


SAMPLED = Experiment("go", "submitted", {}, (), 5, 0, None, "s1-eth2", "W")


@pytest.mark.parametrize("text", ["", "Killed\n", samples(), None])
def test_unreadable_samples_of_a_queue_are_no_empty_queue(tmp_path, text):
    """Regression: a sampler that wrote nothing or rubbish left the backlog out, as if the student had no queue."""
    with pytest.raises(DataError, match="samples of the queue cannot be read") as caught:
        drive(Said(tmp_path, queue=text), SAMPLED, lookup, ADDRESSES, tmp_path)
    assert caught.value.fault is Fault.TOOL


def test_an_interface_without_a_queue_has_no_backlog(tmp_path):
    """That is the network's doing: the metric is absent, and not 0."""
    without = Said(tmp_path, queue=samples({"kind": "noqueue", "handle": "0:"}))
    assert drive(without, SAMPLED, lookup, ADDRESSES, tmp_path).metrics == {}
    full = Said(tmp_path, queue=samples({"kind": "pfifo", "handle": "1:", "backlog": 3028, "qlen": 2}))
    assert drive(full, SAMPLED, lookup, ADDRESSES, tmp_path).metrics == {"backlog.max": 3028}


@pytest.mark.parametrize(("experiment", "file"), [(PING, "ping.txt"), (SAMPLED, "queue.jsonl")])
def test_what_an_experiment_left_is_not_read_as_the_next_ones(tmp_path, experiment, file):
    """Regression: where a file was not written, that of the experiment before was read in its place."""
    full = samples({"kind": "pfifo", "handle": "1:", "backlog": 3028, "qlen": 2})
    summary = SUMMARY.format(
        "1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 1/1/1/0 ms"
    )
    received = summary.replace("\n\n", "\n[1.5] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1 ms\n\n")
    assert drive(Said(tmp_path, received, queue=full), experiment, lookup, ADDRESSES, tmp_path).metrics
    with pytest.raises(DataError, match=f"cannot be read: {file}: No such file or directory"):
        drive(Said(tmp_path, None), experiment, lookup, ADDRESSES, tmp_path)
