# SPDX-License-Identifier: BSD-3-Clause
r"""Marks in what a terminal shows, for the guide of a lab: where a command begins and where it has ended.

Read by `linklab.guide.marks`. A mark is an operating system command (ECMA-48, OSC) with the number that terminals use
for prompts, which shows nothing in any of them:

    \e]133;C;linklab;NODE;MICROSECONDS;COMMAND\a        a command begins, at this network time
    \e]133;D;linklab;NODE;MICROSECONDS;STATUS\a         it has ended; no status where there is none

In a command, control characters and "%" are written as "%0A". Only terminals in a folder whose lab is guided have them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from linklab.agent import live_rc

FOLDER = ".linklab"
"""Of the guide, in the working folder of a lab; `linklab.guide.progress` makes it."""
FILE = "progress.jsonl"
ZERO = "LINKLAB_ZERO_US"
GUIDED = "LINKLAB_GUIDED"
RC_FILE = live_rc.FOLDER / "guided.bashrc"
RC = r"""# bash(1), PROMPTING: PS0 is shown when a command was read and before it runs.
_linklab_mark() {
  local us=$((${EPOCHREALTIME//[^0-9]/} - LINKLAB_ZERO_US)) text=$2
  text=${text//%/%25} text=${text//$'\n'/%0A} text=${text//$'\t'/%09} text=${text//$'\e'/%1B} text=${text//$'\a'/%07}
  printf '\e]133;%s;linklab;%s;%d;%s\a' "$1" "$LINKLAB_NODE" "$us" "$text"
}
_linklab_begins() {
  local typed
  typed=$(HISTTIMEFORMAT='' history 1)
  [[ $typed =~ ^[[:space:]]*[0-9]+[*]?[[:space:]]*(.*)$ ]] && _linklab_mark C "${BASH_REMATCH[1]}"
}
_linklab_ends() {
  [[ -z ${_linklab_busy:-} ]] || _linklab_mark D "$1"
  _linklab_busy=
}
_linklab_any=x
PS0='${_linklab_any:$((_linklab_busy=1,0)):0}$(_linklab_begins 2>/dev/null)'
PROMPT_COMMAND='_linklab_ends "$?" 2>/dev/null; history -a'
"""


def is_guided(folder: Path) -> bool:
    """Whether terminals that begin in this folder are marked."""
    return (folder / FOLDER / FILE).is_file()


def begin(now_s: float) -> dict[str, str]:
    """What a marked terminal's shell needs in its environment, {} if its file cannot be written.

    now_s: network time.
    """
    try:
        RC_FILE.parent.mkdir(parents=True, exist_ok=True)
        RC_FILE.write_text(live_rc.RC + RC, encoding="utf-8")
    except OSError:
        return {}  # a folder that is full or read-only must not keep a terminal from opening
    return {ZERO: str(round((time.time() - now_s) * 1e6)), GUIDED: "1"}


def mark(environment: Mapping[str, str], node: str, kind: str, text: str) -> str:
    """A mark as the shells make it; kind: "C" or "D"."""
    now_us = round(time.time() * 1e6) - int(environment[ZERO])
    plain = "".join(f"%{ord(letter):02X}" if letter == "%" or ord(letter) < 32 else letter for letter in text)
    return f"\x1b]133;{kind};linklab;{node};{now_us};{plain}\x07"
