# SPDX-License-Identifier: BSD-3-Clause
"""Whether an interface has a queue, as the sampler learns it of tc, and what tc's failure is."""

import json
import sys

import pytest

from linklab.agent import sampler


@pytest.fixture
def sampled(tmp_path, monkeypatch):
    """A function that runs the sampler with a tc that prints this and ends so; its exit status, what it wrote."""
    out = tmp_path / "q.jsonl"
    monkeypatch.setattr(sampler, "QdiscReader", lambda _: None)
    monkeypatch.setattr(sampler, "sample", lambda *_, **__: None)
    monkeypatch.setattr(sampler.signal, "signal", lambda *_: None)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def run(shown, status, *options):
        tc = tmp_path / "tc"
        tc.write_text(f"#!/bin/sh\necho '{shown}'\n[ {status} = 0 ] || echo 'Cannot find device' >&2\nexit {status}\n")
        tc.chmod(0o755)
        monkeypatch.setattr(sys, "argv", ["sampler.py", "h1-eth0", "--out", str(out), *options])
        return sampler.main(), out.read_text() if out.exists() else ""

    return run


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ('[{"kind":"noqueue"}]', sampler.EXIT_NO_QUEUE),
        ('[{"kind":"noqueue"},{"kind":"clsact"}]', sampler.EXIT_NO_QUEUE),
        ('[{"kind":"noqueue"},{"kind":"pfifo"}]', 0),
        ("[]", 0),
    ],
)
def test_an_interface_whose_disciplines_hold_no_packets_has_no_queue(sampled, shown, status):
    """Where tc lists none, that is not known."""
    assert sampled(shown, 0, "--needs-queue")[0] == status


def test_what_tc_calls_the_disciplines_is_the_first_line(sampled):
    """Whatever they are, if no queue is asked for."""
    status, written = sampled('[{"kind":"noqueue"}]', 0)
    assert (status, json.loads(written)["tc"]) == (0, [{"kind": "noqueue"}])


@pytest.mark.parametrize(("shown", "ended"), [("", 1), ("[]", 1), ("no JSON", 0)])
@pytest.mark.parametrize("options", [(), ("--needs-queue",)])
def test_a_tc_that_fails_says_nothing_of_queues(sampled, capsys, shown, ended, options):
    """Regression: the interface "has no queue", since an empty list has none that is one."""
    assert sampled(shown, ended, *options) == (1, "")
    why = "Cannot find device" if ended else "no JSON"
    assert f"sampler: h1-eth0: tc could not list its queueing disciplines: {why}" in capsys.readouterr().err


def test_a_missing_tc_is_said(sampled, monkeypatch, capsys, tmp_path):
    """As a sentence."""
    real = sampler.subprocess.run
    monkeypatch.setattr(
        sampler.subprocess, "run", lambda argv, **options: real([str(tmp_path / "none"), *argv], **options)
    )
    assert sampled("[]", 0)[0] == 1
    assert "tc could not list its queueing disciplines: [Errno 2]" in capsys.readouterr().err
