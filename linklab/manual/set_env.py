# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a manual that set something up, as `set_env.sh [SECTION]`.

The script is for whoever starts in the middle: it makes every setting that stands before SECTION. Nodes' commands run
in the node's namespaces through Mininet's `mnexec`, as its own helper `m` does it.
"""

from __future__ import annotations

import re
import shlex

from linklab.errors import ManualError
from linklab.manual.model import Commands, Manual, Step, WriteFile
from linklab.tc import lines_in

_HEAD = """\
#!/usr/bin/env bash
# {name}: make the settings that stand before SECTION, or all.  Usage: sudo ./set_env.sh [SECTION]
# Derived from manual.md by `linklab set-env`; change the manual, not this file.
set -euo pipefail
m() {{ # node command…: run a command on a node of the running network; what it prints says which
  local pid
  pid=$(pgrep -o -f "mininet:$1\\$") || {{ echo "set_env.sh: node $1 is not running" >&2; exit 3; }}
  mnexec -a "$pid" "${{@:2}}" | sed "s/^/$1: /"
}}
sections="{sections}"
[[ " $sections " == *" ${{1:-end}} "* ]] || {{ echo "set_env.sh: no section $1; I know $sections" >&2; exit 2; }}
at() {{ for section; do [[ $section != "$goal" ]] || exit 0; done; }} # ends the script at the section asked for
goal=${{1:-end}}
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
    lines = [f"{clear} 2>/dev/null || true" for clear in _clearing(manual)]
    waiting: list[str] = []  # sections reached without a setting since the last line
    steps = [step for step in manual.steps if step.setup]
    for number in numbers:
        waiting.append(number)
        commands = [command for step in steps if step.section == number for command in _commands(step, manual)]
        if commands:
            lines += [f"at {' '.join(waiting)}", *commands]
            waiting = []
    lines = lines or [": nothing in this lab outlasts its section"]
    head = _HEAD.format(name=name, sections=" ".join([*numbers, "end"]))
    # A function, so that the shell has read the whole file before it changes anything.
    return "\n".join([f"{head}settings() {{", *(f"    {line}" for line in lines), "}", "settings", ""])


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
    """Deletes what an earlier run of the script shaped: one command an interface, in order of appearance."""
    found: dict[str, None] = {}
    for step in manual.steps:
        if step.setup and isinstance(step.action, Commands):
            for line in step.action.lines:
                for shaped in lines_in(line):
                    if shaped.object == "qdisc" and shaped.device:
                        found[_on(step.terminal.partition("#")[0], f"tc qdisc del dev {shaped.device} root")] = None
    return list(found)
