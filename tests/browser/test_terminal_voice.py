# SPDX-License-Identifier: BSD-3-Clause
"""What a screen reader hears of the terminals on a lab's page, and how it reads what they have printed."""

import time

import pytest
from browsing import in_both, needs_browser
from screen_reader import PROMPT, QUIET_S, TICK, Reader

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = [*needs_browser, pytest.mark.long]
TOO_MUCH = "There is more output than is read aloud; F7 shows it as text."
CONNECTIONS_CAN_BE_CUT = """
const all = [], Real = window.WebSocket;
window.WebSocket = class extends Real {
  constructor(...given) {
    super(...given);
    all.push(this);
  }
};
window.cut = () => all.forEach((one) => one.close());
"""
"""All at once; the page opens them again."""


@in_both
def test_each_line_is_told_once_when_it_is_complete(reader):
    """Regression: with each line a reader said all of them again, and a typed command after its keys ("lsls")."""
    told = reader("3")
    assert told.opens() in (["Terminal h1 is open.", PROMPT], ["Terminal h1 is open."])
    told.page.keys("for n in 1 2 3; do echo line $n; sleep 0.1; done\n")
    assert told.hears_up_to(PROMPT) == ["line 1", "line 2", "line 3", PROMPT]
    told.page.keys("printf '\\033[31mred\\033[0m\\n'; printf unended\n")
    assert told.hears_up_to(f"unended{PROMPT}") == ["red", f"unended{PROMPT}"]


def test_what_a_program_asks_is_told_and_an_answer_is_not(reader):
    """The question stands on a line that is not ended; the terminal shows the answer behind it."""
    told = reader("3")
    told.opens()
    told.page.keys("read -p 'Which node? ' node; echo It is $node\n")
    assert told.hears_up_to("Which node?") == ["Which node?"]
    told.page.keys("h7\n")
    assert told.hears_up_to(PROMPT) == ["It is h7", PROMPT]


@in_both
def test_a_line_that_the_shell_changes_is_told(reader):
    """A command that comes back, what Tab completes, and what is erased, which the reader tells by itself."""
    told = reader("3")
    told.opens()
    told.page.keys("echo some words\n")
    assert told.hears_up_to(PROMPT) == ["some words", PROMPT]
    told.page.keys(Keys.UP)
    assert told.hears_up_to("echo some words") == ["echo some words"]
    for _ in "words":
        told.page.keys(Keys.BACKSPACE)
    told.page.keys("/proc/uptim")
    told.page.until(lambda: told.page.screen().rstrip().endswith("/proc/uptim"), "the typed path")
    time.sleep(QUIET_S)
    assert told.said() == []
    told.page.keys(Keys.TAB)
    assert told.hears_up_to("e") == ["e"]


def test_a_terminal_that_is_left_does_not_talk_into_the_manual(reader):
    """Regression: what ran was told elsewhere too, and back in the terminal all that had been printed meanwhile."""
    told = reader("3")
    page = told.page
    told.goes_to("Check from h1 that h2 answers, and stop the test with Ctrl+C after five replies")
    told.opens()
    page.keys("echo before; sleep 2; echo meanwhile; sleep 4; echo after\n")
    assert told.hears_up_to("before") == ["before"]
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: page.screen().count("meanwhile") == 2, "what is printed meanwhile")
    page.keys(Keys.F6)
    page.until(lambda: told.focus()[0] == "textbox", "the terminal again")
    assert told.hears_up_to(PROMPT) == ["Manual", "Terminals", "after", PROMPT]


@in_both
def test_much_output_is_read_as_text(reader):
    """Regression: it said "navigate to rows manually", by no key of this page, in a list without a name."""
    told = reader("3")
    told.opens()
    told.page.keys("seq 100\n")
    assert told.hears_up_to(PROMPT) == [*map(str, range(1, 21)), TOO_MUCH, PROMPT]
    told.page.keys(Keys.F7)
    assert told.page.focused().startswith("Output of h1, 102 lines ")
    line = "const { value, selectionStart } = document.activeElement; return value.slice(selectionStart).split('\\n')"
    assert told.page.driver.execute_script(line)[:2] == [f"{PROMPT} seq 100", "1"]
    told.page.keys("x")  # regression: arrow keys did not move in Chromium, so nothing was read
    told.page.keys(Keys.HOME)
    told.page.keys(Keys.DOWN)
    told.page.keys(Keys.DOWN)
    assert told.page.driver.execute_script(line)[:2] == ["2", "3"]
    told.page.keys(Keys.ESCAPE)
    assert told.page.focused().startswith("Terminal h1; F6 leaves it ")
    told.page.keys("echo again\n")
    assert told.hears_up_to(PROMPT) == ["again", PROMPT]


def test_what_comes_back_after_a_lost_connection_is_not_told_again(lab, browser):
    """The page gets all that the terminal has shown once more; what is printed then is told."""
    running, page = lab("3"), browser()
    page.before_pages(CONNECTIONS_CAN_BE_CUT)
    told = Reader(running, page)
    told.opens()
    page.keys("echo once\n")
    assert told.hears_up_to(PROMPT) == ["once", PROMPT]
    page.driver.execute_script("window.cut()")
    page.until(lambda: "is sent when it is back" in page.one(".note-line").text, "that it is lost")
    page.until(lambda: page.screen().count("once") == 2, "what was shown")
    page.keys("echo twice\n")
    assert [each for each in told.hears_up_to(PROMPT) if "connection" not in each] == ["twice", PROMPT]


def test_output_and_a_step_that_it_does_are_both_told(reader):
    """Regression: the output was assertive, and cut off that the step is done; a reader says a polite region whole."""
    told = reader("3")
    told.page.one(TICK).click()
    told.goes_to("On h1 list the network interfaces")
    told.page.keys(Keys.ALT, Keys.SHIFT, Keys.ENTER)
    done = "3.2, step 1: On h1 list the network interfaces: done."
    heard = [each.strip() for each in told.hears_up_to(PROMPT)]
    if done not in heard:
        heard += [each.strip() for each in told.hears_up_to(done)]
    begins = heard.index("Terminal h1 is open.")  # the step that the start of the network does may be told before
    heard = heard[begins:]
    assert heard[:2] == ["Terminal h1 is open.", "In terminal h1: ifconfig"]
    assert [each for each in heard if "inet 10.0.0.1" in each]
    assert heard.count(done) == 1
    interrupts = "[role=alert]:not([aria-live]), [aria-live=assertive]"
    assert told.page.all(interrupts) == []
