# SPDX-License-Identifier: BSD-3-Clause
"""What the guide says, in sentences: what was found, what is wanted, and hints that grow plainer.  Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
from pathlib import PurePosixPath
from typing import Any

from linklab.base.finish import StopAfter
from linklab.base.numbers import format_number
from linklab.base.text import excerpt
from linklab.errors import StateError
from linklab.guide.evidence import FileEvidence, TypedEvidence
from linklab.guide.plan import FileWant, GuideStep, RunWant, SettingWant, line_run
from linklab.guide.programs import ProgramRun, RunDifference
from linklab.guide.settings import kind_of, spoken
from linklab.guide.shell import CLIENT, CONSOLE, ShellCommand, commands_in, unwrapped
from linklab.judge.expectation import ExpectationVerdict
from linklab.judge.verdict import Outcome
from linklab.manual.blocks import terminal_name
from linklab.manual.model import Commands, EditorActions, Interrupt, Step
from linklab.tc import CLASSES, QDISCS

PAGE, EDITOR, TERMINAL = VIEWS = ("page", "editor", "terminal")
"""Where somebody does a lab: on its page, in the editor, or in terminals alone (`linklab shell`)."""
_OPENING = {
    PAGE: "press “Open {all}” at this step, or choose the node above the terminals and press New",
    EDITOR: "right-click the node in the drawing while the network runs, and choose Terminal",
    TERMINAL: "type “linklab attach {first}” in another terminal of your machine, and so for each node",
}
LONGEST_MESSAGE = 120
"""Letters of what a command said that are quoted."""
_PROMPT = re.compile(r"((?:\w+@[\w-]+:\S*|\w*)[$#]) +(.+)")
"""A shell's prompt in front of a command: of these terminals, of others, and a bare $ or #."""
_ADD = re.compile(r"(?<=\bqdisc )add(?= dev)")
_REPLACES = "(The manual says add, which the kernel refuses while a discipline is there; replace removes that one.)"
_PING_BEGINS = re.compile(r"^PING \S+", re.MULTILINE)
SCRIPT = "set_env.sh"
_NAMED = re.compile(r"(?<![\w.-])set_env\.sh(?![\w.-])")
_QUOTES = re.compile(r"[#'\"`\\]")
_AND_THEN = re.compile(r"(?:[^;&\n]|&>|>&)*(?:&&|[;\n])\s*(.+)", re.DOTALL)
_BEFORE_SCRIPT = frozenset((".", "source", "sh", "bash", "dash"))
_ENDING = frozenset(("kill", "pkill", "killall", "fg"))
_OPTIONS = {
    "target": "the target",
    "time": "the time -t",
    "parallel": "the number of streams -P",
    "omit": "the seconds left out, -O",
    "count": "the number of pings -c",
    "tcpdump count": "the number of packets -c",
    "interval": "the interval -i",
    "port": "the port -p",
    "udp": "UDP, -u",
    "server": "the role of server, -s",
    "json": "JSON, -J",
    "paced": "the pacing rate --fq-rate",
    "mss": "the segment size -M",
    "bytes": "the amount -n",
    "size": "the size -s",
    "once": "a server for one test, -1",
    "congestion": "the congestion control -C",
    "window": "the window -w",
    "filter": "the filter",
    "interface": "the interface -i",
    "into": "the file -w",
    "direction": "the direction -Q",
    "from": "a file to read, -r,",
    "compiled": "showing the compiled filter, -d,",
}


# --- settings


def setting(key: str, value: Any) -> str:
    """A setting in words: "netem delay 20ms on s1-eth2", "net.ipv4.tcp_rmem = 10240 … on h1"."""
    place, _, what = key.partition(" ")
    kind = kind_of(key)
    if value is None:
        return f"no {what} on {place}"
    if isinstance(value, Mapping):
        return f"{_disciplined(kind, what, value)} on {place}"
    return f"{what} = {_plain(value)} on {place}"


def _disciplined(kind: str, what: str, value: Mapping[str, Any]) -> str:
    known = CLASSES["htb"] if kind == "class" else QDISCS.get(kind)
    options = {name: value[name] for name in spoken(value)}
    if kind == "netem" and options.get("limit") == 1000:
        del options["limit"]
    try:
        said = known.words(options, spelled=True) if known else [f"{name} {text}" for name, text in options.items()]
    except StateError:
        said = [f"{name} {text}" for name, text in options.items()]
    return " ".join([what, *said])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value, "") if isinstance(value, float) and not value.is_integer() else _whole(value)


def _whole(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)


def found_setting(key: str, wanted: Any, found: Any) -> str:
    """What was found in place of what is wanted."""
    place = key.partition(" ")[0]
    if found is None:
        return f"{place} has no {_short(key, wanted)}"
    if wanted is None:
        return f"{place} still has {_short(key, found)}"
    return f"{place} has {_short(key, found)}; wanted is {_short(key, wanted)}"


def _short(key: str, value: Any) -> str:
    text = setting(key, value)
    return text.removesuffix(f" on {key.partition(' ')[0]}")


def not_set(key: str, wanted: Any, found: Any, where: str = "") -> str:
    """A setting that a measurement needs, as a sentence; where: the step that makes it, in brackets, "" for none."""
    if wanted is None:
        return f"{setting(key, found)} is still to be removed{where}."
    return f"{setting(key, wanted)}{where} is not set: {found_setting(key, wanted, found)}."


def misplaced(key: str, wanted_key: str, value: Any) -> str:
    """The right value at the wrong place."""
    return f"{_short(key, value)} is set on {key.partition(' ')[0]}; it belongs on {wanted_key.partition(' ')[0]}"


def undone(key: str, wanted: Any, found: Any, line: TypedEvidence | None) -> str:
    """A setting that was as wanted and no longer is; line: what changed it, None where only the kernel told."""
    by = f", since “{excerpt(line.text)}” in {terminal_name(line.terminal)}" if line is not None else ""
    return f"undone: {found_setting(key, wanted, found)}{by}"


def of_left_out(why: str, section: str) -> str:
    """A measurement that was left out, and that would not count now; why: which setting it lacks, as a sentence."""
    begin = (
        f" “sudo ~/set_env.sh {section}” undoes your settings and makes those that the lab has before section "
        f"{section}, which earn no point then where the lab is graded."
        if section
        else ""
    )
    return f"left out, and it would show something else now: {why}{begin}"


def name_of(step: GuideStep) -> str:
    """A step as people call it: the sentence that asks for it, or else its id."""
    return step.step.title.rstrip(".") or step.id


def other_setting(typed: str, want: SettingWant) -> str:
    """A line that set something else."""
    wanted = "; ".join(setting(key, value) for key, value in want.changes.items())
    return f"“{excerpt(typed)}” set something else; wanted is {wanted}"


def of_refused(typed: str, terminal: str, why: str) -> str:
    """A command that set nothing."""
    return f"“{excerpt(typed)}” in {terminal_name(terminal)} was refused: {excerpt(why, LONGEST_MESSAGE)}"


# --- runs


def of_run(run: ProgramRun, differing: Sequence[RunDifference]) -> str:
    """How a run differs from what is wanted."""
    return "; ".join(_difference(run.program, one) for one in differing).replace("  ", " ")


def _difference(program: str, one: RunDifference) -> str:
    if one.what == "node":
        return f"it ran on {one.found}; it belongs on {one.wanted}"
    if one.what == "words":
        if not one.found:
            return f"“{one.wanted}” is missing"
        return f"“{one.found}” was typed" + (f" where “{one.wanted}” is wanted" if one.wanted else " and is not wanted")
    name = _OPTIONS.get(f"{program} {one.what}") or _OPTIONS.get(one.what, one.what)
    if not one.wanted:
        given = "" if one.found == "on" else f" ({one.found})"
        return f"{name} was given{given} and is not wanted"
    return f"{name} is {one.found or 'missing'}" + ("" if one.wanted == "on" else f"; wanted is {one.wanted}")


def of_unknown_part(text: str, *, alone: bool) -> str:
    """A command before a “;”, of which the shell does not tell whether it succeeded.

    alone: its line measures several times, so && would not help.
    """
    which = f"“{excerpt(text)}” does not tell whether this command succeeded"
    return f"{which}: type it on a line of its own" + ("" if alone else ", or put && after it")


def of_mixed_parts(text: str) -> str:
    """Two measurements in one line."""
    return f"“{excerpt(text)}” measures twice, which cannot be told apart: type each on a line of its own"


def of_shown_into(files: Sequence[str]) -> str:
    """Output that went into a file, where the step is about what the terminal shows."""
    return f"The output went into {files[0]}. This step looks at the terminal, so type the command without “>”."


def of_cut_off(line: TypedEvidence) -> str:
    """The reason why a ping printed no summary; "" if it did, or if this is no ping."""
    if not _PING_BEGINS.search(line.output) or "packets transmitted" in line.output:
        return ""
    if "|" in line.text:
        return "its summary is not shown; leave out what stands behind “|”"
    return "ping was ended before it printed its summary, which it prints after Ctrl+C, or after -c COUNT pings"


def of_script(text: str) -> str:
    """A measurement that may have been made by a script of the reader's."""
    return f"What a script measures, such as “{excerpt(text)}”, does not count: type this command into the terminal."


def of_prompt(prompt: str, text: str) -> str:
    """A command that was copied together with the prompt before it."""
    return f"“{prompt}” is the prompt, which the terminal prints itself: type only “{excerpt(text)}”"


def behind_prompt(text: str) -> tuple[str, str] | None:
    """A line that begins with a prompt, as one that was copied does: the prompt, and what stands behind it."""
    found = _PROMPT.fullmatch(text.strip())
    return (found[1], found[2]) if found else None


def of_status(line: TypedEvidence, expected: int) -> str:
    """A command that failed, or that should have."""
    said = last_line(line.output)
    told = f": {excerpt(said, LONGEST_MESSAGE)}" if said else ""
    if expected:
        return f"“{excerpt(line.text)}” ended with status {line.status}; status {expected} is expected{told}"
    return f"“{excerpt(line.text)}” failed (status {line.status}){told}"


def last_line(output: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")


def as_printed(want: RunWant, terminal: str, line: TypedEvidence, nodes: Collection[str]) -> bool:
    """Whether a run that fits is by the manual's own program."""
    return _programs(terminal, want.text, nodes) == _programs(line.terminal, line.text, nodes)


def is_own_tool(step: GuideStep, line: TypedEvidence, nodes: Collection[str]) -> bool:
    """Whether the output is that of the program whose output lab.toml describes."""
    own = {name for typed in step.step.typed.splitlines() for name in _programs(step.step.terminal, typed, nodes)}
    return not own or bool(own & _programs(line.terminal, line.text, nodes))


def _programs(terminal: str, text: str, nodes: Collection[str]) -> set[str]:
    return {command.source.program for command in commands_in(terminal, text, nodes)}


def is_stopped(step: Step) -> bool:
    """Whether the reader stops it with Ctrl+C, so that its exit status says nothing."""
    return isinstance(step.action, Commands) and isinstance(step.action.finish, StopAfter)


# --- files and the editor


def file_name(path: str) -> str:
    """A file's name, by which it is known wherever the terminal was."""
    return PurePosixPath(path).name


def has_text(text: str, want: FileWant) -> bool:
    """Whether a file says what it should; comments, empty lines and spaces at the ends of lines do not count."""
    wanted, found = _said(want.text), _said(text)
    return found[-len(wanted) :] == wanted if want.append else found == wanted


def _said(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def of_file(file: FileEvidence, want: FileWant) -> str:
    """The first line of a file that is not as wanted."""
    wanted, found = _said(want.text), _said(file.text)
    if want.append:
        found = found[-len(wanted) :]
    for one, other in zip([*wanted, *[""] * len(found)], [*found, *[""] * len(wanted)], strict=False):
        if one != other:
            there = f"has “{excerpt(other)}”" if other else "ends"
            return f"{file.path} {there} where " + (f"“{excerpt(one)}” is wanted" if one else "nothing more is wanted")
    return f"{file.path} is not as wanted"


def same_verb(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two things done in the editor come to the same: places do not matter, nor which end a link begins at."""
    match tuple(one), tuple(other):
        case (("host" | "switch") as kind, name, *_), (also, named, *_):
            return (kind, name) == (also, named)
        case ("link", *ends), ("link", *others):
            return set(ends) == set(others)
        case _:
            return tuple(one) == tuple(other)


# --- hints


def hints(
    step: GuideStep,
    story: str,
    verdicts: Sequence[ExpectationVerdict] = (),
    view: str = TERMINAL,
    *,
    in_the_way: str = "",
) -> list[str]:
    """What to tell somebody who is stuck, plainer each time; the last one says what to type or to press.

    Args:
        step: the step.
        story: what is the matter with it, "" for nothing.
        verdicts: on what the lab expects of it.
        view: one of `VIEWS`, in which it is done.
        in_the_way: what is where a discipline is to be added: "same", one of its kind; else the interface that has
            another; "" for nothing.
    """
    if nodes := _opened(step):
        how = _OPENING[view].format(all=", ".join(nodes), first=nodes[0])
        return [f"{step.step.title}.", f"To open a terminal on {' and '.join(nodes)}, {how}."]
    where = _where(step.step.terminal, view)
    found = [
        f"{step.step.title}. This is done in {where}" + (f"; the subgoal is: {step.subgoal}." if step.subgoal else ".")
    ]
    if verdicts or not story:  # otherwise it did not come to a result: what is the matter stands at the step
        failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
        missed = [verdict.expectation for verdict in failed] or ([] if verdicts else list(step.expectations))
        found += [each.hint for each in missed[:1] if each.hint]
        found += [f"What should come out, and why: {each.why}." for each in missed[:1]]
    if isinstance(step.step.action, Interrupt):
        found.append(f"Click into {where}, hold the key Ctrl, and press C.")
    elif isinstance(step.step.action, EditorActions | Commands) or step.step.typed:
        typed = step.step.typed
        if in_the_way == "same" and _ADD.search(typed):
            found.append(f"In {where}: {_ADD.sub('replace', typed)}\n{_REPLACES}")
        elif in_the_way and _ADD.search(typed) and f" dev {in_the_way} root " in typed:
            found.append(f"In {where}: sudo tc qdisc del dev {in_the_way} root\n{typed}")
        else:
            found.append(f"In {where}: {typed}")
    return found


def _where(terminal: str, view: str) -> str:
    """Where a step is done, within a sentence."""
    if terminal == "editor":
        beside = (
            "" if view == EDITOR else ", which is a window of its own (“linklab edit” in a terminal of your machine)"
        )
        return f"the editor{beside}"
    node = terminal.partition("#")[0]
    return terminal_name(terminal) if node in (CLIENT, CONSOLE) else f"the terminal of {terminal_name(terminal)}"


def _opened(step: GuideStep) -> list[str]:
    """The nodes on which a step opens terminals, if it does nothing else."""
    verbs = step.step.action.verbs if isinstance(step.step.action, EditorActions) else ()
    return [verb.words[1] for verb in verbs] if all(verb.words[0] == "terminal" for verb in verbs) else []


def same_line(one: str, other: str) -> bool:
    """Whether two lines are the same but for sudo and spaces."""
    return one.replace("sudo ", "").split() == other.replace("sudo ", "").split()


def written_by(terminal: str, text: str) -> tuple[str, ...]:
    """The files into which a line writes what it shows."""
    return tuple(name for command in commands_in(terminal, text) for name in command.to)


def of_other_file(terminal: str, wanted: str, line: TypedEvidence) -> str:
    """A line that wrote into a file of another name than the manual's line does; "" if it did not."""
    asked = {file_name(path) for path in written_by(terminal, wanted)}
    given = {file_name(path) for path in written_by(line.terminal, line.text)}
    if not asked or not given or asked & given:
        return ""
    return f"the output went into {', '.join(sorted(given))}; wanted is {', '.join(sorted(asked))}"


def is_about_guide(line: TypedEvidence, nodes: Collection[str]) -> bool:
    """Whether a line only asks the guide."""
    commands = commands_in(line.terminal, line.text, nodes)
    return bool(commands) and all(command.words[:2] == ("linklab", "step") for command in commands)


def goes_on(line: TypedEvidence, nodes: Collection[str]) -> bool:
    """Whether what a line has started runs on in the background."""
    commands = commands_in(line.terminal, line.text, nodes)
    run = run_in(line, nodes)
    as_daemon = run is not None and run.role == "server" and "daemon" in run.options
    return bool(commands) and line.status in (0, None) and (as_daemon or line.text.rstrip().endswith("&"))


def ends_background(line: TypedEvidence, nodes: Collection[str]) -> str:
    """The node on which a line has ended what ran in the background, or has brought it to the front; "" for none."""
    ending = (each for each in commands_in(line.terminal, line.text, nodes) if each.program in _ENDING)
    return next((each.node for each in ending), "")


def set_up_to(line: TypedEvidence, nodes: Collection[str]) -> str | None:
    """The section up to which a line makes the settings by the lab's set_env.sh, "" for all; None if it does not."""
    for command in commands_in(line.terminal, line.text, nodes, surely_run=True):
        rest = _script_of(command)
        if rest and file_name(rest[0]) == SCRIPT:
            return rest[1] if len(rest) > 1 and rest[1] != "end" else ""
    return None


def behind_script(text: str) -> str:
    """What a line does after the lab's set_env.sh, the last one that it names; "" for nothing.

    Nor for what stands behind a comment or a quote, which are not read here.
    """
    at = max((named.end() for named in _NAMED.finditer(text)), default=None)
    found = None if at is None else _AND_THEN.match(text, at)
    return found[1] if found and not _QUOTES.search(text, 0, found.start(1)) else ""


def _is_before_script(word: str) -> bool:
    """Whether a word may stand before the script that a shell is to run: the shell, or an option of it."""
    return word in _BEFORE_SCRIPT or word.startswith("-")


def _script_of(command: ShellCommand) -> list[str]:
    """What a command runs, be it by a shell: the script and its words."""
    return list(dropwhile(_is_before_script, unwrapped(command.source.words)))


def runs_script(line: TypedEvidence) -> bool:
    """Whether a line runs a script: by a shell, or by its own name."""
    for command in commands_in(line.terminal, line.text):
        program = (*unwrapped(command.source.words), "")[0]
        if program.endswith((".sh", ".py")) or (program in _BEFORE_SCRIPT and _script_of(command)):
            return True
    return False


def is_in(section: str, wanted: str) -> bool:
    """Whether a step's section is a section or one below it; "" is none's."""
    return bool(wanted) and (section == wanted or section.startswith(f"{wanted}."))


def run_in(line: TypedEvidence, nodes: Collection[str]) -> ProgramRun | None:
    """What a line runs."""
    return line_run(commands_in(line.terminal, line.text, nodes, surely_run=True))
