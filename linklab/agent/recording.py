# SPDX-License-Identifier: BSD-3-Clause
"""What is typed in the terminals of an exercise's folder, kept in `terminals/NODE.log` with network time.

Read by `linklab.exercise.terminals`. A log is text: a head whenever a terminal opens, then for each command a line when
it begins and one with its exit status when it has ended.

    # network 1732160000.250000 t1
    12.345678 t1 $ tc qdisc add dev s1-eth2 root netem delay 20ms
    12.401220 t1 = 0

Further lines of one command begin with a tab.  The number in the head is the moment of network time 0 (s since the
epoch, on the network's own clock): it tells one network from the next.
"""

from __future__ import annotations

import time
from pathlib import Path

from linklab.agent import live_rc

RC_FILE = live_rc.FOLDER / "recording.bashrc"
RC = r"""# bash(1), PROMPTING: PS0 is expanded when a command was read and before it runs, in this shell.
_linklab_log() {
  local us=$((${EPOCHREALTIME//[^0-9]/} - LINKLAB_ZERO_US)) tab=$'\t' line=$'\n'
  printf '%d.%06d %s %s %s\n' $((us / 1000000)) $((us % 1000000)) "$LINKLAB_TERMINAL" "$1" \
    "${2//$line/$line$tab}" >>"$LINKLAB_LOG"
}
_linklab_begins() {
  local typed
  typed=$(HISTTIMEFORMAT='' history 1)
  [[ $typed =~ ^[[:space:]]*[0-9]+[*]?[[:space:]]*(.*)$ ]] && _linklab_log '$' "${BASH_REMATCH[1]}"
}
_linklab_ends() {
  [[ -z ${_linklab_busy:-} ]] || _linklab_log = "$1"
  _linklab_busy=
}
_linklab_any=x
PS0='${_linklab_any:$((_linklab_busy=1,0)):0}$(_linklab_begins 2>/dev/null)'
PROMPT_COMMAND='_linklab_ends "$?" 2>/dev/null; history -a'
"""


def is_kept(folder: Path) -> bool:
    """Whether terminals that begin in this folder are recorded."""
    return (folder / "instance.json").is_file()


def rc_options() -> list[str]:
    """What makes bash keep the log."""
    return live_rc.options(RC_FILE)


def begin(folder: Path, node: str, terminal: str, now_s: float) -> dict[str, str]:
    """Make the log ready for a terminal; what its shell needs in its environment, {} if no log can be kept.

    Args:
        folder: the working folder.
        node: its name, as the file's.
        terminal: name of this terminal among the node's.
        now_s: network time.
    """
    path = folder / "terminals" / f"{node}.log"
    zero_s = time.time() - now_s
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"# network {zero_s:.6f} {terminal}\n")
        RC_FILE.parent.mkdir(parents=True, exist_ok=True)
        RC_FILE.write_text(live_rc.RC + RC, encoding="utf-8")
    except OSError:
        return {}  # a folder that is full or read-only must not keep a terminal from opening
    return {"LINKLAB_LOG": str(path), "LINKLAB_TERMINAL": terminal, "LINKLAB_ZERO_US": str(round(zero_s * 1e6))}


def note(environment: dict[str, str], sign: str, text: str) -> None:
    """Write one line as the shells do; `sign` is "$" for a command, "=" for its status."""
    now_s = time.time() - int(environment["LINKLAB_ZERO_US"]) / 1e6
    indented = text.replace("\n", "\n\t")
    try:
        with Path(environment["LINKLAB_LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{now_s:.6f} {environment['LINKLAB_TERMINAL']} {sign} {indented}\n")
    except OSError:
        return  # as in `begin`
