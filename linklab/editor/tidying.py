# SPDX-License-Identifier: BSD-3-Clause
"""Edit > Mend, Edit > Lay Out, and the offer to mend a file with faults when it is opened.

`topology.mending` and `grouping` decide what changes; this module shows it, asks, and makes it undoable.
"""

from __future__ import annotations

from collections.abc import Callable

from linklab.base.catalogue import Say
from linklab.base.text import excerpt
from linklab.editor.document import Document, everyone
from linklab.editor.grouping import laid_out
from linklab.topology import Topology
from linklab.topology.arrange import arranged
from linklab.topology.checks import wireless_names
from linklab.topology.mending import is_placed, mend, moved
from linklab.windows.window import Window
from linklab.windows.words import Phrase, of_number

MOST_LINES = 8
LONGEST_LINE = 150


class Tidying:
    """The commands of one document."""

    def __init__(self, window: Window, document: Document) -> None:
        self.window, self.document = window, document

    def opened(self, name: str) -> None:
        """Report what is doubtful in the file just opened; if it cannot run, offer to mend it."""
        topology = self.document.topology
        problems = topology.problems()
        errors = [str(problem) for problem in problems if problem.severity == "error"]
        if names := wireless_names(topology):
            errors.append(f"Mininet-WiFi's nodes cannot be run: {', '.join(sorted(names))}")
        warnings = [str(problem) for problem in problems if problem.severity == "warning"]
        nodes = everyone(topology)
        if errors:
            text = Phrase("The file is open, but it cannot run until it is mended.\n\n")
            mended, said = mend(topology)
            self.window.soon(
                lambda: self._offer("There are faults in this file", text, errors, topology, (mended, said))
            )
        elif len(nodes) > 1 and not any(is_placed(node) for node in nodes):
            self.document.apply("Lay Out", moved(topology, arranged(topology)), ())
            self.window.say(Phrase("opened {file}, which has no coordinates, and laid it out", file=name))
        elif warnings:
            doubt: str = excerpt(warnings[0], LONGEST_LINE)
            if len(warnings) > 1:
                doubt = Phrase("{first} (and {count} more)", first=doubt, count=len(warnings) - 1)
            curable = "opened {file}; {doubt}; Edit > Mend… writes it as MiniEdit does"
            plain = "opened {file}; {doubt}"
            self.window.say(Phrase(curable if mend(topology)[1] else plain, file=name, doubt=doubt))
        else:
            self.window.say(Phrase("opened {file}", file=name))

    def mend(self) -> None:
        """Show what would be mended, and mend it all at once."""
        topology = self.document.topology
        problems = topology.problems()
        mended, said = mend(topology)
        if not said:
            if problems:
                left = excerpt(str(problems[0]), LONGEST_LINE)
                self.window.say(Phrase("nothing to mend; please look at this yourself: {problem}", problem=left))
            else:
                self.window.say("nothing to mend")
            return
        self._offer("Mend this drawing?", "", [str(problem) for problem in problems], topology, (mended, said))

    def _offer(
        self, title: str, text: str, problems: list[str], before: Topology, offer: tuple[Topology, list[str]]
    ) -> None:
        mended, said = offer
        say = self.window.look.say
        told = say(text) + _lines(problems, say)
        if not said:
            self.window.tell(title, told)
            return
        told += f"\n\n{say('Mend does this, and Undo takes it back:')}\n\n{_lines(said, say)}"
        answers: list[tuple[str, Callable[[], None]]] = [
            ("Mend", lambda: self._take(before, mended, said)),
            ("Leave It", lambda: None),
        ]
        self.window.ask(title, told, answers)

    def _take(self, before: Topology, mended: Topology, said: list[str]) -> None:
        if self.document.topology is not before:  # it has changed since the question was asked
            mended, said = mend(self.document.topology)
        self.document.apply("Mend", mended, ())
        what = excerpt("; ".join(said), LONGEST_LINE)
        self.window.say(
            of_number(len(said), "mended {count} thing: {what}", "mended {count} things: {what}", what=what)
        )

    def lay_out(self) -> None:
        """Give every node a new place, and every group's frame with its nodes."""
        topology = self.document.topology
        if not topology.nodes:
            self.window.say("there is nothing to lay out yet")
            return
        self.document.apply("Lay Out", laid_out(topology))
        self.window.say("laid out; Undo takes it back")


def _lines(sentences: list[str], say: Say) -> str:
    """The first sentences as a list for a dialog, and how many more there are."""
    shown = [f"• {excerpt(sentence, LONGEST_LINE)}" for sentence in sentences[:MOST_LINES]]
    more = len(sentences) - len(shown)
    return "\n".join([*shown, *([say(Phrase("… and {count} more", count=more))] if more else [])])
