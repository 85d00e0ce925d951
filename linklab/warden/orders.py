# SPDX-License-Identifier: BSD-3-Clause
"""What the warden is asked for, one line of JSON on standard input, and what it answers, one line on standard output.

    {"do": "run", "socket": path, "work": path}   a network, until the socket's other end has gone; see `linklab.agent`
    {"do": "check"}                               whether it could: {"ok": {"kernel": release, ...}}
    {"do": "probe", "qdiscs": [...], ...}         what of the named this kernel has (`linklab.warden.probe`)
    {"do": "clean"}                               {"ok": {"removed": [sentences]}}

A refusal is {"error": sentence}.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from linklab.linux import children, kernelcalls
from linklab.warden import inside, paths, probe
from linklab.warden.records import Records, start_of

PACKAGE = Path(__file__).resolve().parent.parent
GRACE_S = 5.0
"""For the agent to end what it has started, when nobody is left who could ask it for more."""
TOOLS = ("mnexec", "ip", "tc", "ifconfig", "ethtool", "brctl", "sysctl")
LONGEST = 65536


def main() -> int:
    """Read an order, obey it."""
    with contextlib.suppress(PermissionError):
        os.setsid()  # keys typed at the caller's terminal are for the caller
    for deaf in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(deaf, signal.SIG_IGN)  # the socket's end is the order to end
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    os.umask(0o022)
    try:
        if os.getuid() != 0:
            raise paths.RefusedError("this program runs as root alone; `linklab run --engine host` calls it by sudo")
        uid = paths.caller()
        paths.check_code(PACKAGE, uid)
        order = json.loads(sys.stdin.readline(LONGEST))
        answer = {"run": _run, "check": _check, "probe": _probe, "clean": _clean}[order["do"]](order, uid)
    except paths.RefusedError as error:
        return _say({"error": str(error)}, 1)
    except (ValueError, KeyError, TypeError) as error:
        return _say({"error": f"that is no order: {type(error).__name__}: {error}"}, 1)
    except OSError as error:
        return _say({"error": f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")}, 1)
    return _say({"ok": answer}, 0)


def _say(answer: dict[str, Any], status: int) -> int:
    with contextlib.suppress(OSError):  # whoever asked may have gone
        print(json.dumps(answer), flush=True)
    return status


def _check(_: dict[str, Any], uid: int) -> dict[str, Any]:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise paths.RefusedError(
            f"the host engine needs {', '.join(missing)}: sudo apt-get install mininet iproute2 "
            "net-tools ethtool bridge-utils procps"
        )
    probe.probe({})  # raises where no network namespace can be made
    return {"kernel": os.uname().release, "uid": uid}


def _probe(order: dict[str, Any], _: int) -> dict[str, Any]:
    return dict(probe.probe({kind: [str(name) for name in order.get(kind, ())] for kind in probe.KINDS}))


def _clean(_: dict[str, Any], __: int) -> dict[str, Any]:
    return {"removed": Records().clean()}


def _run(order: dict[str, Any], uid: int) -> dict[str, Any]:
    """Make a network's space and wait for its end."""
    work, gid = Path(order["work"]), int(os.environ.get("SUDO_GID", "0"))
    folder, writable = paths.open_work(work, uid)
    taken = kernelcalls.take_mount(folder)
    channel = paths.connect(Path(order["socket"]), uid)
    owners = None
    with contextlib.suppress(OSError):  # a machine may allow no user namespaces
        owners = kernelcalls.swapping_namespace(uid, gid) if uid else None
    probe.load_congestion_controls()
    records = Records()
    record = records.begin(uid, str(work), gid)
    first = 0
    try:
        alive, ours = os.pipe()
        told, report = os.pipe()
        space = inside.Space(
            channel=channel.fileno(),
            report=report,
            work=taken,
            writable=writable,
            package=PACKAGE,
            name=record.id,
            foreign=uid != 0,
            owners=owners,
        )
        kernelcalls.unshare(kernelcalls.CLONE_NEWPID)  # for children only
        first = os.fork()
        if first == 0:

            def become_first() -> None:
                kernelcalls.die_with_parent()
                os.close(ours)
                if select.select([alive], [], [], 0)[0]:
                    raise SystemExit(1)  # the warden died before it could be noticed
                os.close(record.file)
                os.close(folder)  # its mount is the machine's, with all that lies above it
                inside.live(space)

            children.live(become_first)
        record.write(first=first, first_start=start_of(first))
        os.close(report)
        os.close(taken)
        if os.read(told, 1) == inside.HAND_OVER:
            about = os.fstat(folder)
            record.write(folder=[about.st_dev, about.st_ino])
        _wait(first, channel)
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            if first:
                os.kill(first, signal.SIGKILL)
                os.waitpid(first, 0)
        records.end(record)
    return {"id": record.id}


def _wait(first: int, channel: Any) -> None:
    """Until the space has ended, or its engine has gone and the agent did not end by itself."""
    ended = os.pidfd_open(first)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(channel.fileno(), select.POLLRDHUP)
    if not any(file == ended for file, _ in poll.poll()):
        poll.unregister(channel.fileno())
        poll.poll(GRACE_S * 1000)
    os.close(ended)
