# SPDX-License-Identifier: BSD-3-Clause
"""Parsing manuals: blocks, options, sections, quotes, and what is said when one is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.finish import Background, Prompt, StopAfter
from linklab.errors import ManualError
from linklab.manual.info import join_lines
from linklab.manual.model import Await, Commands, EditorActions, Interrupt, Show, WriteFile
from linklab.manual.parse import groups, load_manual, parse_manual


def parse(text, nodes=("h1", "h2", "s1")):
    """The manual of that text."""
    return parse_manual(text, Path("manual.md"), nodes)


def block(info, body="true", before="## S\n"):
    """The step of a manual with one block."""
    return parse(f"{before}```{info}\n{body}\n```\n").steps[0]


def wrong(text):
    """What is said about a broken manual."""
    with pytest.raises(ManualError) as caught:
        parse(text)
    return str(caught.value)


def test_a_block_is_a_step():
    """The info string names the terminal, the lines are the commands, the step waits for the prompt."""
    step = block("h1 id=bulk", "ping \\\n  -c 1 10.0.0.2\n\nls")
    assert (step.id, step.line, step.terminal, step.section) == ("bulk", 2, "h1", "1")
    assert step.action == Commands(("ping -c 1 10.0.0.2", "ls"), Prompt())
    assert (step.status, step.show, step.setup, step.optional) == (0, Show("auto"), False, False)


@pytest.mark.parametrize(
    ("option", "finish"),
    [("background", Background()), ("for=3.5s", StopAfter(3.5)), ("for=500ms", StopAfter(0.5))],
)
def test_how_a_command_ends(option, finish):
    """A command ends at the prompt, after a while, or not before it is stopped."""
    assert block(f"h1 {option}").action.finish == finish


def test_background_is_stopped_or_waited_for():
    """A later block with stop or wait ends what one with background left running."""
    manual = parse(
        "```h2 id=a background\niperf3 -s\n```\n```h2 stop=a\n```\n```h2 id=b background\nx\n```\n```h2 wait=b\n```\n"
    )
    assert [step.action for step in manual.steps[1::2]] == [Interrupt("a", "Ctrl+C"), Await("b")]


def test_a_key_other_than_ctrl_c_is_told_to_the_reader():
    """A window that a key closes: the body of the stop block is the key."""
    manual = parse("```client id=q background\nplot_q.sh s1-eth1\n```\n```client stop=q\ns\n```\n")
    assert manual.steps[1].action == Interrupt("q", "s")
    assert manual.steps[1].typed == "s"


def test_files_are_written_or_added_to():
    """file=PATH makes the body a file's content, append adds it at the end."""
    assert block("client file=/etc/sysctl.conf append", "a=1").action == WriteFile("/etc/sysctl.conf", "a=1\n", True)
    assert block("client file=x", "a").action == WriteFile("x", "a\n", False)


def test_editor_blocks_are_verbs():
    """In the editor each line is one thing done."""
    action = block("editor", 'open "Lab 8.mn"\nset h1 ip 10.0.0.1/8\nrun').action
    assert isinstance(action, EditorActions)
    assert [verb.words for verb in action.verbs] == [("open", "Lab 8.mn"), ("set", "h1", "ip", "10.0.0.1/8"), ("run",)]
    assert [verb.line for verb in action.verbs] == [3, 4, 5]


def test_listings_are_no_steps():
    """Blocks called text or formula are only read."""
    assert parse("```text\nls\n```\n```formula\na = b\n```\n").steps == ()


def test_sections_are_numbered_unless_marked():
    """Headings are numbered by their level; {-} leaves the number out and does not count."""
    manual = parse("## A {-}\n## B\n### C\n### D & e\n## F\n### G\n")
    assert [(s.number, s.title, s.level, s.slug) for s in manual.sections] == [
        ("", "A", 1, "a"),
        ("1", "B", 1, "b"),
        ("1.1", "C", 2, "c"),
        ("1.2", "D & e", 2, "d-e"),
        ("2", "F", 1, "f"),
        ("2.1", "G", 2, "g"),
    ]


def test_steps_are_numbered_in_their_section_and_give_titles():
    """A paragraph that begins with "Step." numbers the blocks after it; its first sentence is their title."""
    manual = parse(
        "## A\nStep. Do `it` now. More.\n\n```h1\na\n```\n\nStep. Again:\n\n```h1\nb\n```\n"
        "### B\nStep. X.\n\n```h1\nc\n```\n"
    )
    assert [(s.number, s.title, s.section) for s in manual.steps] == [
        (1, "Do it now", "1"),
        (2, "Again", "1"),
        (1, "X", "1.1"),
    ]


def test_quotes_and_figures_are_found_with_their_lines():
    """Numbers, sections and figures of the prose are known, those in code are left alone."""
    quoted = "{{bulk.iperf3.rtt.mean as ms .1}} `{{not.this}}`"
    manual = parse(f"## A\none\ntwo {quoted}\n\n![c](run:bulk/rtt)\n\n{{{{lab.roadmap}}}} {{{{section.a}}}}\n")
    assert [(q.line, q.kind, q.step, q.metric, q.unit, q.decimals) for q in manual.quotes] == [
        (3, "scalar", "bulk", "iperf3.rtt.mean", "ms", 1),
        (7, "lab", "", "roadmap", None, None),
        (7, "section", "", "a", None, None),
    ]
    assert [(f.line, f.kind, f.step, f.name) for f in manual.figures] == [(5, "run", "bulk", "rtt")]


def test_steps_with_one_name_are_done_together():
    """Blocks that follow each other with the same together form a group."""
    manual = parse("```h1 id=a together=x\na\n```\n```h2 id=b together=x\nb\n```\n```h1 id=c\nc\n```\n")
    assert [[step.id for step in group] for group in groups(manual.steps)] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n```h9\nls\n```\n", 'manual.md:2: unknown terminal "h9"; this lab has h1, h2, s1, client and mininet'),
        ("```bash\nls\n```\n", 'manual.md:1: unknown terminal "bash"'),
        ("```\nls\n```\n", "manual.md:1: a block needs the name of its terminal"),
        ("```h1 backgrond\nls\n```\n", 'manual.md:1: unknown option "backgrond"; I know append, at-once, background'),
        ("```h1 for=5\nls\n```\n", 'manual.md:1: for="5" is no duration; write it as 500ms, 5s or 2min'),
        ("```h1 for=\nls\n```\n", 'manual.md:1: option "for" needs a value'),
        ("```h1 setup=1\nls\n```\n", 'manual.md:1: option "setup" takes no value'),
        ("```h1 id=a id=b\nls\n```\n", 'manual.md:1: option "id" is given twice'),
        ("```h1 id=A\nls\n```\n", 'manual.md:1: id="A": use small letters'),
        ("```h1 for=1s background\nls\n```\n", "manual.md:1: for and background exclude each other"),
        ("```h1 background\na\nb\n```\n", "manual.md:1: background needs a block of one command, this one has 2"),
        ("```h1\n\n```\n", "manual.md:1: the block is empty"),
        ("```h1 stop=x\n```\n", 'manual.md:1: "x" is not running in h1 here'),
        ("```h1 id=a\na\n```\n\n```h1 id=a\nb\n```\n", 'manual.md:5: id="a" is used already on line 1'),
        (
            "```h1 id=a background\na\n```\n```h1\nb\n```\n",
            'manual.md:4: h1 is still busy with "a" (line 1); stop it first',
        ),
        ("```h1 show=some\na\n```\n", 'manual.md:1: show="some"; use all, none, first:N, last:N or FROM-TO'),
        ("```h1 status=bad\na\n```\n", 'manual.md:1: status="bad"; use the exit status to expect, or any'),
        ("```h1 append\na\n```\n", "manual.md:1: append goes with file=PATH"),
        ("```editor\nrun\nfly h1\n```\n", 'manual.md:3: the editor cannot "fly"'),
        ("```editor\nset h1 mac 1\n```\n", 'manual.md:2: "set h1 mac 1": write set … ip … or set … ip'),
        (
            "```h1 together=x\na\n```\n```h1 together=x\nb\n```\n",
            "manual.md:4: steps done together need different terminals",
        ),
        ("```h1 setup\na\n```\n", "manual.md:1: a block with setup stands in a numbered section"),
        ("a\n\n{{bulk}}\n", 'manual.md:3: "{{bulk}}": write {{STEP.METRIC}}'),
        ("{{lab.color}}\n", 'manual.md:1: "{{lab.color}}": of the lab I know number, objectives, roadmap, title'),
        ("\n```h1\nls\n", "manual.md:2: the block is never closed"),
    ],
)
def test_a_broken_manual_is_named_with_file_and_line(text, says):
    """Whatever a block says that is not known is named where it stands."""
    assert says in wrong(text)


def test_a_missing_manual_is_said(tmp_path):
    """A manual that is not there is a sentence, not a traceback."""
    with pytest.raises(ManualError, match="there is no such manual"):
        load_manual(tmp_path / "manual.md")


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1))
def test_commands_survive_being_written_over_several_lines(words):
    """A command broken with backslashes is the command."""
    assert join_lines(" \\\n   ".join(words)) == [" ".join(words)]
