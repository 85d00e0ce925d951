# SPDX-License-Identifier: BSD-3-Clause
"""What Wireshark asks a program of its extcap folder, answered for running networks; and the link in that folder.

Wireshark runs the program to list interfaces, link types and options, and to capture into a named pipe; doc/extcap.md
of Wireshark has the sentences. An interface is called "linklab:ID:NODE:IF", or "linklab:ID:all" for all of a network.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import linklab
from linklab.base.files import write
from linklab.errors import InputError
from linklab.linux import pcapng

SCRIPT = "linklab-extcap"
ALL = "all"
NAMED = re.compile(r"linklab:(\d+):(?:(all)|([A-Za-z0-9_.-]+):(\S+))")
LEAST_WITH_PERSONAL = "4.2"
ETHERNET_DLT = 1
USUAL_PERSONAL = Path(".local/lib/wireshark/extcap")
DOCS = "https://www.wireshark.org/docs/man-pages/extcap.html"


def _safe(text: str) -> str:
    """Words between braces, in which Wireshark's parser allows no brace."""
    return re.sub(r"[{}\x00-\x1f\x7f]", " ", text)


def sentence(kind: str, **fields: object) -> str:
    """Return one sentence, such as "dlt {number=1}{name=EN10MB}"."""
    return f"{kind} {''.join(f'{{{name}={_safe(str(value))}}}' for name, value in fields.items())}"


def greeting() -> str:
    """Return what comes before a list of interfaces."""
    return sentence("extcap", version=linklab.__version__, help=DOCS, display="Linklab")


def interface_sentences(network: Mapping[str, Any], there: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each interface of a network, and one for all of them, loopbacks left out.

    Args:
        network: as `linklab.terminal.attach.networks` has it.
        there: its nodes and their interfaces.
    """
    title = f"{network['name']} ({network['id']})"
    places = [f"{node}:{name}" for node, names in there.items() for name in names if name != "lo"]
    if not places:
        return []
    return [
        *(sentence("interface", value=f"linklab:{network['id']}:{each}", display=f"{title} {each}") for each in places),
        sentence("interface", value=f"linklab:{network['id']}:{ALL}", display=f"{title} all interfaces"),
    ]


def link_type_sentence() -> str:
    """Return the link type of every interface; the file itself says what an interface of another kind has."""
    return sentence("dlt", number=pcapng.ETHERNET, name="EN10MB", display="Ethernet")


def option_sentences() -> list[str]:
    """Return the options of a capture that Wireshark offers."""
    tip = "Bytes to keep of each packet; 128 hold the headers"
    range_ = f"1,{2**18}"
    return [
        f"arg {{number=0}}{{call=--snaplen}}{{display=Bytes to keep}}{{tooltip={tip}}}{{type=unsigned}}"
        f"{{range={range_}}}{{default={2**18}}}"
    ]


def parse(name: str) -> tuple[str, str]:
    """Return the network's id and the place, ALL or "NODE:IF", of an interface as Wireshark calls it.

    Raises:
        InputError: the name is not of an interface of ours.
    """
    found = NAMED.fullmatch(name)
    if found is None:
        raise InputError(
            f"{name}: no interface of Linklab; they are called linklab:ID:NODE:IF, such as linklab:1:h1:h1-eth0"
        )
    return found[1], found[2] or f"{found[3]}:{found[4]}"


# --- the link in Wireshark's folder


def script(python: str = sys.executable) -> str:
    """Return the program that Wireshark is given: ours, wherever it lies."""
    root = Path(linklab.__file__).resolve().parents[1]
    # -P is Python 3.11's: Wireshark may be started in any folder, whose files are not ours
    return (
        "#!/bin/sh\n"
        "# Written by `linklab extcap --install`: networks of Linklab as interfaces of Wireshark.\n"
        f'PYTHONPATH={shlex.quote(str(root))} PYTHONSAFEPATH=1 exec {shlex.quote(python)} -m linklab extcap "$@"\n'
    )


def folders() -> dict[str, Path]:
    """Return Wireshark's folders for such programs, "personal" and "system", as far as it says them."""
    program = next(filter(None, map(shutil.which, ("tshark", "wireshark"))), None)
    if program is None:
        return {}
    shown = subprocess.run([program, "-G", "folders"], capture_output=True, text=True, check=False, timeout=60).stdout
    found = {}
    for line in shown.splitlines():
        name, _, where = line.partition(":")
        if "xtcap" in name and where.strip():
            found["personal" if "ersonal" in name else "system"] = Path(where.strip())
    return found


def target(*, for_all: bool) -> Path:
    """Return where the program is to lie; InputError where Wireshark does not say where it looks for all users."""
    known = folders()
    if not for_all:
        return known.get("personal", Path.home() / USUAL_PERSONAL) / SCRIPT
    if "system" not in known:
        raise InputError("Wireshark's folder for all users is not known here: install tshark or wireshark first")
    return known["system"] / SCRIPT


def install(*, for_all: bool) -> tuple[Path, str]:
    """Put the program there; its path, and a sentence of advice where this Wireshark does not look there."""
    path = target(for_all=for_all)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, script())
    path.chmod(0o755)
    known = folders()
    if for_all or "personal" in known:
        return path, ""
    advice = (
        f"this Wireshark looks in {known['system']} alone" if "system" in known else "Wireshark is not installed here"
    )
    return path, (
        f"{advice}; Wireshark {LEAST_WITH_PERSONAL} and later look in your folder. Until then use "
        f"`sudo {sys.executable} -m linklab extcap --install --system`, or start it as "
        f"`WIRESHARK_EXTCAP_DIR={path.parent} wireshark`"
    )


def remove(*, for_all: bool) -> Path | None:
    """Remove the program; its path, None where it was not there."""
    path = target(for_all=for_all)
    if not path.is_file():
        return None
    path.unlink()
    return path
