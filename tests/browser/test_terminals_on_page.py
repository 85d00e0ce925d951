# SPDX-License-Identifier: BSD-3-Clause
"""Terminals of the page that are shown again, and what stands in their lines."""

import pytest
from browsing import needs_browser
from lab_student import LabStudent

pytestmark = needs_browser
COUNT = "while sleep 0.1; do echo $((++n)) lines; done"
SHOWN_HIGHER = "document.body.style.setProperty('--terminals', arguments[0])"


@pytest.fixture
def student(lab, browser):
    """Begins Lab 3 on its page."""
    return LabStudent(lab("3", "--speed", "10"), browser(1280, 800))


def last_row(student):
    """The last row of the terminal in front that has something in it."""
    return student.screen().rstrip().rpartition("\n")[2].strip()


def lines(student):
    """How many lines the last row of the terminal in front counts; 0 for no such row."""
    number, _, word = last_row(student).partition(" ")
    return int(number) if word == "lines" else 0


def test_a_terminal_that_is_shown_again_in_another_size_follows_its_program(student):
    """Regression: it stood still a few rows above the end, and the prompt came below where nobody saw it."""
    page = student.page
    student.goes_to("h2")
    student.types("h1", COUNT, ends=False)
    page.until(lambda: lines(student), "the first line")
    for height in ("40%", "55%", "45%"):
        student.goes_to("h2")
        page.driver.execute_script(SHOWN_HIGHER, height)
        tab = next(one for one in page.all('#terminals [role="tab"]') if one.text == "h1")
        page.driver.execute_script("arguments[0].click()", tab)
        page.until(lambda: student.in_front == "h1", "h1 in front")
        later = lines(student) + 100
        page.until(lambda later=later: lines(student) > later, "later lines")


@pytest.mark.parametrize(("width", "size"), [(1024, "11px"), (1280, "13px")])
def test_a_line_of_80_letters_stays_whole_on_a_small_screen(student, width, size):
    """Regression: at a width of 1024, each line of a report of iperf3 was broken, and a blank one stood behind it."""
    page = student.page
    student.goes_to("h1")
    page.resize(width, 700)
    shown = "return getComputedStyle(document.querySelector('.xterm-rows')).fontSize"
    page.until(lambda: page.driver.execute_script(shown) == size, f"letters of {size}")
    student.types("h1", "printf '%080d\\n' 7")
    assert "0" * 79 + "7" in student.screen().split("\n")


def test_a_terminal_that_has_ended_says_so_and_leaves_its_name_to_the_next(student):
    """Regression: the sentence lay under the screen, and Ctrl+C for the next one opened a third."""
    page = student.page
    student.types("h1", "exit", ends=False)
    note = page.until(lambda: page.all(".panel.terminal:not([hidden]) .note-line:not([hidden])"), "a note")[0]
    assert note.text == "This terminal has ended; close its tab or open another one."
    on_top = (
        "const {x, y} = arguments[0].getBoundingClientRect();"
        "return document.elementFromPoint(x + 9, y + 9) === arguments[0]"
    )
    assert page.driver.execute_script(on_top, note)
    page.button("Put into h1", "#block-unshaped").click()
    page.until(lambda: page.tabs() == ["h1", "h1"], "one that has its name")
    page.button("Ctrl+C", "#block-unshaped").click()
    page.until(lambda: "^C" in student.screen(), "Ctrl+C in it")
    assert page.tabs() == ["h1", "h1"]


def test_a_command_is_put_behind_a_prompt_that_does_not_begin_its_row(student):
    """Regression: behind the output of a program that ends without a line's end, nothing was put any more."""
    page = student.page
    student.types("h1", "printf done", ends=False)
    page.until(lambda: last_row(student) == "doneroot@h1:~#", "the prompt in the midst of a row")
    page.button("Type with Enter", "#block-ifconfig-h1").click()
    page.until(lambda: "inet 10.0.0.1" in student.screen(), "that ifconfig ran")


def test_a_page_that_is_loaded_again_opens_where_the_reader_was(student):
    """Regression: it opened at the top of the manual, with the first terminal in front."""
    page = student.page
    student.goes_to("h1")
    student.goes_to("h2")
    page.driver.execute_script("document.querySelector('#block-both-sides').scrollIntoView({behavior: 'instant'})")
    above = "return document.querySelector('#block-both-sides').getBoundingClientRect().top"
    was = page.driver.execute_script(above)
    page.driver.refresh()
    page.until(lambda: page.all(".box .do button"), "the manual has its buttons")
    page.until(lambda: student.in_front == "h2", "the terminal that was in front")
    page.until(lambda: abs(page.driver.execute_script(above) - was) < 2, "the same place in the manual")


def test_a_new_terminal_opens_on_the_host_with_which_the_manual_begins(student):
    """Regression: it opened on the Client, where Lab 3 does nothing and h2 cannot be reached."""
    page = student.page
    page.button("New terminal").click()
    page.until(lambda: student.in_front == "h1", "a terminal of h1")
