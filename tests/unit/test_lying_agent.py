# SPDX-License-Identifier: BSD-3-Clause
"""What an agent in a sandbox may answer, played by the test: whatever it is, it costs its own network alone.

A program of a stranger's can speak in the agent's name, so the answers are true ones with any part replaced.
"""

import contextlib
import copy
import json
import socket
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linklab.agent.protocol import LENGTH, Decoder
from linklab.engine import pocket
from linklab.engine.agent_link import AgentLink
from linklab.engine.api import Clock
from linklab.errors import LinklabError
from linklab.grade import sandbox
from linklab.grade.limits import Limits
from linklab.grade.rebuild import Rebuilt, rebuild
from linklab.grade.sandbox import SandboxEngine, SandboxNetwork
from linklab.pocket_kernel import Kernel
from linklab.topology import Topology
from linklab.topology.model import Host

DEEP = "[" * 100_000 + "]" * 100_000
"""Nobody's parser has room for it."""
TRUE = {
    "build": {"nodes": ["h1"], "environment": {"tc": "iproute2-6.1.0"}, "ready_clock_s": 1.5, "warnings": []},
    "now": {"now_s": 2.0, "clock_s": 3.5},
    "computed": {"computed": [{"program": "python3", "from_s": 1.0, "s": 0.5}]},
}
FAILED = {"node": "h1", "command": "true", "status": 1, "output": ""}
DONE = {"terminal": "client", "text": "true", "output": "", "exit_status": 0, "start_s": 1.0, "end_s": 1.5}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -1, 256, float("inf"), float("nan")]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["\x1b]0;x\x07", "topology", "tool", "h1", "\ud800"]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


class Liar:
    """An agent with `lies[n]` in place of a part of its n-th answer, from 0: build, h1, prepare, work.sh, state."""

    def __init__(self, connection, lies):
        self.connection, self.lies, self.answered = connection, lies, 0
        self.over = False  # after what nobody can take for an answer, none would come

    def serve(self):
        """Answer until the other side has gone."""
        decoder = Decoder()
        with contextlib.suppress(OSError):
            while data := self.connection.recv(65536):
                for asked in decoder.feed(data):
                    self.connection.sendall(self.answer(asked))
                    if self.over:
                        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def answer(self, asked):
        """A frame, or what stands in its place."""
        if asked["op"] == "run":
            true = {"done": [DONE for _ in asked["actions"]]}
        else:
            true = TRUE.get(asked["op"], {"done": [DONE]})
        message = copy.deepcopy({"id": asked["id"], "ok": true})
        where, what = self.lies.get(self.answered, (None, None))
        self.answered += 1
        self.over = where in ("raw", "whole")
        if where == "raw":
            return what
        if where == "whole":
            message = what
        elif where == "error":
            message = {"id": asked["id"], "error": what, "fault": what}
        elif where == "failed":
            key, value = what
            message["ok"] = {**true, "failed_commands": [{**FAILED, key: value}]}
        elif where is not None:
            replace_part(message, where, what)
        return framed(message)


def framed(message):
    """As `encode`, of anything at all."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


def replace_part(message, where, what):
    """Put `what` in the place of the part to which the numbers of `where` lead, as far as there are parts."""
    holder, key = message, "ok"
    for number in where:
        part = holder[key]
        keys = list(part) if isinstance(part, dict) else list(range(len(part))) if isinstance(part, list) else []
        if not keys:
            break
        holder, key = part, keys[number % len(keys)]
    holder[key] = what


WHERE = st.lists(st.integers(0, 6), max_size=4)
RAW = st.one_of(
    st.binary(max_size=12),
    st.just(LENGTH.pack(2**31) + b"x"),
    st.just(LENGTH.pack(2) + b"\xff\xfe"),
    st.just(LENGTH.pack(len(DEEP)) + DEEP.encode()),
    st.just(LENGTH.pack(4) + b"null"),
    st.just(LENGTH.pack(12) + b'{"id": [[]]}'),
    st.just(LENGTH.pack(17) + b'{"event": ["x"]} '),
)
LIE = st.one_of(
    st.tuples(WHERE, ANYTHING),
    st.tuples(st.just("raw"), RAW),
    st.tuples(st.just("whole"), ANYTHING),
    st.tuples(st.just("error"), ANYTHING),
    st.tuples(st.just("failed"), st.tuples(st.sampled_from([*FAILED, "more"]), ANYTHING)),
)


class _Told(SandboxNetwork):
    """A sandbox's network without the sandbox: its agent is the test's."""

    lies: ClassVar = {}

    def boot(self):
        ours, agents = socket.socketpair()
        self.link = AgentLink(ours, self.largest_message, self.most_values)
        threading.Thread(target=Liar(agents, self.lies).serve, daemon=True).start()
        self.link.begin()

    def close(self):
        self.link.end("the network has been closed")

    def used_s(self):
        return 0.0


class _Engine(SandboxEngine):
    def check(self):
        pass

    def _network(self, **options):
        network = _Told(self.limits, None, **options)
        network.lies = self.lies
        return network


@pytest.fixture(scope="module", autouse=True)
def _no_kernel_is_needed():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pocket.pocket_kernel, "require", lambda: Kernel(Path("linux"), "7.3", "0", {}))
        patch.setattr(sandbox, "another_user", lambda: None)
        patch.setattr("linklab.engine.agent_link.REASON_WAIT_S", 0.0)
        yield


def test_what_hearing_the_keeper_takes_counts(tmp_path):
    """Regression: on its socket nothing was counted, and empty lines without end held a processor for half an hour."""
    options = {"workdir": tmp_path, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    network = SandboxNetwork(Limits(), None, **options)
    network._control, keeper = socket.socketpair()
    hearing = threading.Thread(target=lambda: list(network._keeper_says()))
    hearing.start()
    for _ in range(10):
        keeper.sendall(b"\n" * 50_000)
    keeper.close()
    hearing.join()
    network._control.close()
    assert network._heard_s > 0.05


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lies=st.dictionaries(st.integers(0, 4), LIE, min_size=1, max_size=2))
def test_whatever_is_answered_ends_in_words_of_ours(lies):
    """It is told of the submission, or is an error that the grader expects; nothing else gets out."""
    engine = _Engine()
    engine.lies = lies
    topology = Topology(
        hosts=(Host("1", 100, 100, {"hostname": "h1", "nodeNum": 1, "sched": "host", "startCommand": "true"}),)
    )
    try:
        found = rebuild(topology, [("h1", "true")], "true\n", engine)
    except LinklabError:
        return
    assert isinstance(found, Rebuilt)
    assert found.state_text is None or isinstance(found.state_text, str)
    assert all(isinstance(note, str) and len(note) < 2000 for note in found.notes)
