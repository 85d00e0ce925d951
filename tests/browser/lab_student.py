# SPDX-License-Identifier: BSD-3-Clause
"""Somebody who does a lab on its page, for tests: types lines into its terminals, and reads what it says of a step.

Nothing is waited for by time alone: a line has ended when the prompt is back behind it, a step is judged when its box
says so.
"""

import re
from functools import partial

from browsing import Browser, RunningLab
from selenium.webdriver.support.ui import Select

OPEN, DONE, DIFFERENTLY, WRONG = "○ open", "✓ done", "✓ done differently", "✗ not right yet"
LEFT_OUT = "○ left out"
LONG_S = 120
"""For a measurement that is fast-forwarded on a busy machine."""


class LabStudent:
    """A page and the lab that it shows, once its network runs."""

    def __init__(self, running: RunningLab, page: Browser) -> None:
        self.running, self.page = running, page
        page.open(running.address)
        running.wait_for("(The network runs)")
        page.until(lambda: page.all("#which-node option"), "the nodes on which a terminal can be opened")

    def goes_to(self, terminal: str) -> None:
        """Show a terminal, opened if it is not there, and wait for its prompt."""
        page = self.page
        if terminal in page.tabs():
            tab = next(one for one in page.all('#terminals [role="tab"]') if one.text == terminal)
            page.driver.execute_script("arguments[0].click()", tab)
        else:
            Select(page.one("#which-node")).select_by_visible_text(terminal.partition("#")[0])
            page.button("New terminal").click()
        page.until(lambda: self.in_front == terminal, f"terminal {terminal} in front")
        page.until(lambda: self._is_back(""), f"the prompt of {terminal}")

    @property
    def in_front(self) -> str:
        """The name of the terminal in front; "" for none."""
        return "".join(self._texts('#terminals [role="tab"][aria-selected="true"]'))

    def types(self, terminal: str, text: str, *, ends: bool = True) -> None:
        """Type a line; ends: wait until its command has ended."""
        self.goes_to(terminal)
        self.page.one(".panel.terminal:not([hidden]) .xterm-helper-textarea").send_keys(f"{text}\n")
        if ends:
            self.page.until(lambda: self._is_back(text), f"the end of {text}", LONG_S)

    def writes(self, field: str, text: str) -> None:
        """Write into a field of the manual, brought into view first."""
        found = self.page.one(field)
        self.page.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", found)
        found.send_keys(text)

    def screen(self) -> str:
        """What the terminal in front shows, read at one moment, as it may be drawn anew all the time."""
        return "\n".join(self._texts(".panel.terminal:not([hidden]) .xterm-rows > div"))

    def _texts(self, selector: str) -> list[str]:
        """The texts of elements, read at one moment: the page may replace them at any other."""
        read = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
        return list(self.page.driver.execute_script(read, selector))

    def _is_back(self, text: str) -> bool:
        """Whether the prompt stands last, behind a line; the screen breaks lines and drops spaces at their ends."""
        shown = _squeezed(self.screen())
        typed = _squeezed(text)
        behind = shown.rpartition(typed)[2] if typed else shown
        return typed in shown and re.search(r"root@[^#$]*[#$]$", behind) is not None

    def sees(self, step: str, mark: str, *words: str) -> str:
        """Wait until the page says this of a step, with these words below it; all that stands there."""
        page = self.page
        page.until(lambda: self._texts(f"#block-{step} .mark") == [mark], f"{step}: {mark}")
        for each in words:
            page.until(partial(self._says, step, each), f"{step}: {each}")
        return self.story(step)

    def _says(self, step: str, words: str) -> bool:
        return words in self.story(step)

    def story(self, step: str) -> str:
        """What the page says of a step beyond its mark."""
        return "\n".join(self._texts(f"#block-{step} .found > p"))

    def is_helped(self, step: str) -> str:
        """Ask for a hint at a step; what is said."""
        shown = f'#block-{step} [role="status"] p'
        before = self._texts(shown)
        self.page.button("Hint", f"#block-{step}").click()
        self.page.until(lambda: self._texts(shown) not in ([], before), f"a hint for {step}")
        return "\n".join(self._texts(shown))


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)
