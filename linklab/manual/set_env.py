# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a manual that set something up, as `set_env.sh [SECTION]`.

The script is for whoever starts in the middle or has lost the thread: it first undoes whatever was set in the network
since its start (`linklab.agent.fresh`), then makes every setting that stands before SECTION.  So the state of SECTION
is reached from any other.  Nodes' commands run in the node's namespaces through Mininet's `mnexec`, as its own helper
`m` does it.
"""

from __future__ import annotations

import re
import shlex

from linklab.errors import ManualError
from linklab.manual.model import Commands, Manual, Step, WriteFile
from linklab.tc import lines_in

_HEAD = """\
#!/usr/bin/env bash
# {name}: undo changes to queues, offloads, MTU, and sysctls, then repeat the settings before SECTION, or all.
# Usage, in any terminal of the running network: sudo ./set_env.sh [SECTION]
# Derived from manual.md by `linklab set-env`; change the manual, not this file.
set -euo pipefail
m() {{ # node command…: run a command on a node of the running network; what it prints says which
  local pid
  pid=$(pgrep -o -f "mininet:$1\\$") || {{ echo "set_env.sh: node $1 is not running" >&2; exit 3; }}
  mnexec -a "$pid" "${{@:2}}" | sed "s/^/$1: /"
}}
sections="{sections}"
[[ " $sections " == *" ${{1:-end}} "* ]] || {{ echo "set_env.sh: no section $1; I know $sections" >&2; exit 2; }}
pgrep -f "mininet:" >/dev/null || {{
  echo "set_env.sh: no network is running here; type this in a terminal of it, such as the one of: linklab attach" >&2
  exit 3
}}
[[ $(id -u) == 0 ]] || {{ echo "set_env.sh: only root may change these settings: sudo ./set_env.sh $*" >&2; exit 3; }}
here=$(readlink /proc/self/ns/net) root=$(readlink /proc/1/ns/net || true)
[[ -z $root || $here == "$root" ]] || exec mnexec -a 1 bash "$0" "$@" # a node does not see the switches' ports
# tells the guide that what changes from here on is this script's doing: its process, and when that started
if [[ -d /sys/module/pocket ]]; then
  stat=$(</proc/$$/stat)
  read -ra stat <<<"${{stat##*) }}"
  echo "$$ ${{stat[19]}}" >>/run/linklab/set_env || true
fi
at() {{ # ends the script at the section asked for
  for section; do [[ $section != "$goal" ]] || {{ echo "Section $goal can begin."; exit 0; }}; done
}}
goal=${{1:-end}}
undo() {{ # whatever was set since the network was started; where Linklab keeps no record of that, only the queues
  local status=3
  [[ -z ${{LINKLAB_INSIDE:-}} ]] || {{ status=0; PYTHONSAFEPATH=1 python3 -m linklab.agent.fresh || status=$?; }}
  case $status in
  0) return ;;
  3) ;; # no record
  *) echo "set_env.sh: not everything could be undone, see above; the settings were not made" >&2; exit 1 ;;
  esac
{undo}
}}
"""

_SHELL_SYNTAX = re.compile(r"[|&;<>$`(){}*?]")


def set_env_script(manual: Manual, name: str) -> str:
    """The text of `set_env.sh`; interfaces it shapes are cleared first, so that it may be run again.

    Args:
        manual: whose blocks with `setup` are taken, in order.
        name: what the head comment calls it, such as "Lab 14".

    Raises:
        ManualError: a block with `setup` that cannot run outside its own terminal.
    """
    numbers = [section.number for section in manual.sections if section.number]
    undo = [f"{clear} 2>/dev/null || true" for clear in _clearing(manual)] or [":"]
    lines: list[str] = []
    waiting: list[str] = []  # sections reached without a setting since the last line
    steps = [step for step in manual.steps if step.setup]
    for number in numbers:
        waiting.append(number)
        commands = [command for step in steps if step.section == number for command in _commands(step, manual)]
        if commands:
            lines += [f"at {' '.join(waiting)}", *commands]
            waiting = []
    lines = lines or [": nothing in this lab outlasts its section"]
    head = _HEAD.format(name=name, sections=" ".join([*numbers, "end"]), undo="\n".join(f"  {line}" for line in undo))
    # A function, so that the shell has read the whole file before it changes anything.
    return "\n".join(
        [
            f"{head}settings() {{",
            *(f"    {line}" for line in lines),
            "}",
            "undo",
            "settings",
            'echo "All settings are made."',
            "",
        ]
    )


def _commands(step: Step, manual: Manual) -> list[str]:
    terminal = step.terminal.partition("#")[0]
    match step.action:
        case Commands(lines=lines) if terminal != "mininet":
            return [_on(terminal, line) for line in lines]
        case WriteFile(path=path, text=text, append=append):
            arrow = ">>" if append else ">"
            return [f"printf %s {shlex.quote(text)} {arrow} {shlex.quote(path)}"]
        case _:
            raise ManualError(f"{manual.path}:{step.line}: setup is for commands of a node or client terminal")


def _on(terminal: str, command: str) -> str:
    """The command as the script, run as root in the root namespace, gives it."""
    plain = re.sub(r"^sudo\s+", "", command)
    if terminal == "client":
        return plain
    outside = re.sub(r"'[^']*'", "", plain)
    if _SHELL_SYNTAX.search(outside):
        return f"m {terminal} bash -c {shlex.quote(plain)}"
    return f"m {terminal} {plain}"


def _clearing(manual: Manual) -> list[str]:
    """Deletes what any step of the manual may have shaped: one command an interface, in order of appearance."""
    found: dict[str, None] = {}
    for step in manual.steps:
        terminal = step.terminal.partition("#")[0]
        if isinstance(step.action, Commands) and terminal not in ("mininet", "editor"):
            for line in step.action.lines:
                for shaped in lines_in(line):
                    if shaped.object == "qdisc" and shaped.device:
                        found[_on(terminal, f"tc qdisc del dev {shaped.device} root")] = None
    return list(found)
