# SPDX-License-Identifier: BSD-3-Clause
"""The page of a lab as a screen reader gets it: the browser's accessibility tree, what is announced, and keys alone."""

import re
from collections import Counter

import pytest
from browsing import needs_browser

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = [*needs_browser, pytest.mark.long]


def test_each_control_is_known_by_its_name_alone(reader):
    """Regression: in a list of buttons thirty were called "Type with Enter", and as many "Hint"."""
    told = reader("3")
    buttons = told.names("button", "DisclosureTriangle")
    assert "Type with Enter: On h1 list the network interfaces" in buttons
    assert [name for name, count in Counter(buttons).items() if count > 1] == []
    assert "Keep my prediction 1" in buttons
    stops = "(one) => one.scrollWidth > one.clientWidth === (one.tabIndex === 0) && one.ariaLabel"
    known = f"return [...document.querySelectorAll('#manual table, #manual pre')].every({stops})"
    told.page.until(lambda: told.page.driver.execute_script(known), "tables and listings that are stops if they scroll")


def test_a_prediction_is_asked_where_it_is_answered(reader):
    """The first field of a prediction is described by its question, which Tab does not come to."""
    fields = [(name, about) for role, name, about, _ in reader("3").tree() if role == "textbox"]
    name, about = next(each for each in fields if each[0] == "Number")
    assert name == "Number"
    assert about.endswith("?")


def test_a_step_says_how_far_it_is_and_is_come_back_to(reader):
    """Regression: the focus on a step told its name alone; back from the terminal one was at the top of the manual."""
    told = reader("3")
    page, step = told.page, "On h1 list the network interfaces"
    told.goes_to(step)
    assert told.focus() == ("group", f"3.2, step 1: {step}", "Terminal of h1 ○ open")
    page.keys(Keys.ALT, Keys.ENTER)
    page.until(lambda: told.focus()[0] == "textbox", "the terminal's focus")
    told.hears("In terminal h1: ifconfig. Press Enter to run it.")
    page.keys(Keys.ENTER)
    page.until(lambda: f"3.2, step 1: {step}: done." in [each.strip() for each in told.said()], "that the step is done")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: told.focus() == ("group", f"3.2, step 1: {step}", "Terminal of h1 ✓ done"), "the step again")
    page.driver.refresh()  # regression: F6 led to the top of the manual then, and Alt+PageDown to its first step
    page.until(lambda: "steps done" in page.one("#guide").text, "what the guide says")
    page.keys(Keys.F6)
    page.until(lambda: told.focus() == ("group", f"3.2, step 1: {step}", "Terminal of h1 ✓ done"), "the step once more")


def test_a_prediction_is_not_passed_by_on_the_way_from_step_to_step(reader):
    """Regression: Alt+PageDown went from step to step, and past the question that is to be answered between them."""
    told = reader("3")
    told.goes_to("On h2 list the network interfaces, too")
    told.page.keys(Keys.ALT, Keys.PAGE_DOWN)
    role, name, about = told.focus()
    assert (role, name) == ("region", "Prediction 1 – write down what you expect, and why, before you measure")
    assert about.startswith("You will delay what leaves h1 by 100 ms, and set nothing on h2.")
    told.page.keys(Keys.ALT, Keys.ENTER)
    told.page.until(
        lambda: "This is a prediction: Alt+PageDown leads to what comes next." in told.said(), "that nothing is put"
    )
    told.page.keys(Keys.TAB)
    assert told.focus()[:2] == ("textbox", "Number")
    told.page.keys(Keys.ALT, Keys.PAGE_DOWN)
    assert told.focus()[1] == "3.3, step 1: On h1 delay everything that leaves by 100 ms"


def test_all_steps_that_become_done_at_once_are_told(reader):
    """Regression: one announcement took the place of the other before it was read out."""
    told = reader("3")
    told.page.button("New terminal").click()
    told.types("sudo ~/set_env.sh 3.4")
    both = "3.3, step 1: On h1 delay everything that leaves by 100 ms: done differently. by set_env.sh."
    told.hears(both)
    told.types("sudo ~/set_env.sh 4")
    told.hears(
        "3.4, step 1: On h2 set the same delay: done differently. by set_env.sh.",
        "3.5, step 1: On h1 change the delay to 50 ms: done differently. by set_env.sh.",
        "3.5, step 2: Change the delay on h2 too: done differently. by set_env.sh.",
    )


def test_a_mistake_is_told_with_what_it_means_and_told_again_when_it_is_made_again(reader):
    """Regression: the same failure a second time was silent, and that the step explains the message was not said."""
    told = reader("3")
    told.page.button("New terminal").click()
    told.types("tc qdisc add dev h1-eth0 root netem delai 100ms")
    wrong = "3.3, step 1: On h1 delay everything that leaves by 100 ms: not right yet"
    said = told.hears(f"{wrong}. “tc qdisc add dev h1-eth0 root netem delai 100ms” in h1 was refused: ")
    assert re.search(r"What the message means: tc read .* does not know this word\. The step says more\.$", said)
    told.types("tc qdisc add dev h1-eth0 root netem delai 100ms")
    told.hears(f"{wrong}, once more. “tc qdisc add dev h1-eth0 root netem delai 100ms” in h1 was refused: ")


def test_another_mistake_at_the_same_step_is_not_called_the_same(reader):
    """Regression: a delay of 10 ms was "not right yet, once more", though what had been wrong was the interface."""
    told = reader("3")
    told.page.button("New terminal").click()
    told.types("tc qdisc add dev h2-eth0 root netem delay 100ms")
    wrong = "not right yet. “tc qdisc add dev h2-eth0 root netem delay 100ms” in h1 was refused: "
    told.hears(f"3.3, step 1: On h1 delay everything that leaves by 100 ms: {wrong}")
    told.types("tc qdisc add dev h1-eth0 root netem delay 10ms")
    told.hears(
        "3.3, step 1: On h1 delay everything that leaves by 100 ms: still not right yet. "
        "h1-eth0 has netem delay 10ms; wanted is netem delay 100ms."
    )


def test_a_terminal_that_is_closed_is_told(reader):
    """Regression: the button was silent, and who pressed it again closed the next terminal without a word."""
    told = reader("3")
    page = told.page
    page.button("New terminal").click()
    told.hears("Terminal h1 is open.")
    page.until(lambda: told.focus()[0] == "textbox", "the terminal's focus")
    page.keys(Keys.SHIFT, Keys.TAB)
    for _ in range(3):
        page.keys(Keys.SHIFT, Keys.TAB)
    assert told.focus()[:2] == ("button", "Close this terminal")
    page.keys(Keys.ENTER)
    told.hears("Terminal h1 is closed.")
    page.keys(Keys.ENTER)
    told.hears("No terminal is open.")


def test_after_the_last_step_come_the_questions_and_then_the_end(reader):
    """Regression: at the last step the keys were silent, a field did not say what is asked, and F6 led back."""
    told = reader("3")
    page = told.page
    told.goes_to("Stop the network in the editor")
    told.said()
    page.keys(Keys.ALT, Keys.ENTER)
    told.hears("On this page the network runs until you end the lab.")
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    assert told.focus()[:2] == ("textbox", "Your name, for the report")
    told.hears("The steps end here. Now your name, and then the questions: there are 7.")
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    role, name, about = told.focus()
    assert (role, name) == ("textbox", "Your answer to question 1")
    assert about.startswith("You want to emulate a path of 3,000 km between h1 and h2.")
    page.keys(Keys.ALT, Keys.ENTER)
    told.hears("This is a question: write your answer into its field.")
    page.keys(Keys.F6)
    page.until(lambda: "answer-1" not in page.focused(), "another part")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: told.focus()[1] == "Your answer to question 1", "the question again")
    for _ in range(6):
        page.keys(Keys.ALT, Keys.PAGE_DOWN)
    assert told.focus()[1] == "Your answer to question 7"
    told.said()
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    told.hears("This is the end of the manual: there is no further step or question.")
    assert told.focus()[1] == "Your answer to question 7"


def test_a_prediction_says_when_it_can_be_compared(reader):
    """Regression: its table appeared without a word, and that the answer can be opened was not said either."""
    told = reader("3")
    page = told.page
    told.goes_to("On h2 list the network interfaces, too")
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    page.keys(Keys.TAB)
    page.keys("0.1 s")
    page.button("Keep my prediction 1").click()
    told.hears("Your prediction is kept. Below it, “Show the answer to prediction 1” opens the theory.")
    told.goes_to("On h1 delay everything that leaves by 100 ms")
    page.keys(Keys.ALT, Keys.ENTER)
    told.hears("Press Enter to run it.")
    page.keys(Keys.ENTER)
    told.hears("3.3, step 1: On h1 delay everything that leaves by 100 ms: done.")
    told.types("ping -c 5 10.0.0.2")
    said = told.hears("Prediction 1 can be compared.")
    assert "Your prediction: 0.1 s = 100 ms. Measured by you: Ping h2 from h1, stop after five replies, and" in said
    assert said.count("Ping h2 from h1, stop after five replies") == 1  # regression: once for each number
    theory = "Theory: 100 ms. netem holds what leaves h1-eth0, so the request waits for 100 ms;"
    assert re.search(rf"mean round-trip time of ping [\d.]+ ms, .* of ping [\d.]+ .s\. {theory}", said)
    assert said.endswith(" The table below the prediction says more.")
    fields = [role for role, name, _, _ in told.tree() if name == "Unit"]
    assert fields[0] == "textbox"  # read-only, which a combobox of Chromium does not say


def test_a_terminal_says_how_its_screen_is_read(reader):
    """Regression: without the box above it a terminal was mute, and Tab, which belongs to the shell, led nowhere."""
    told = reader("1")
    page = told.page
    told.goes_to("In the Client's terminal start Mininet")
    page.keys(Keys.ALT, Keys.ENTER)
    page.until(lambda: told.focus()[1] == "Terminal client; F6 leaves it", "the terminal's focus")
    assert told.focus()[2] == "To have it read aloud, press Shift+Tab and tick Screen reader."
    page.keys(Keys.SHIFT, Keys.TAB)
    page.until(lambda: told.focus()[:2] == ("checkbox", "Screen reader"), "the box")
    page.keys(Keys.SPACE)
    page.keys(Keys.F6)
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: told.focus()[0] == "textbox", "the terminal again")
    assert told.focus()[2] == "F7 shows its output as text."
    assert "Screen of client" in told.names("list")
    page.until(lambda: any("sudo mn" in name for name in told.names("StaticText")[-40:]), "the screen's rows")


def test_the_box_stays_ticked_when_the_lab_is_started_again(lab, browser):
    """Regression: it was kept with the address, and each start of a lab has another port."""
    running, page = lab("3"), browser()
    box = "#terminals input[type=checkbox]"
    page.open(running.address)
    running.wait_for("The network runs")
    page.one(box).click()
    assert running.end() == 0
    page.open(lab("3", "--continue").address)
    assert page.one(box).is_selected()
    page.one(box).click()
    page.driver.refresh()
    page.until(lambda: page.all(".box .do button"), "the manual has its buttons")
    assert not page.one(box).is_selected()


def test_a_problem_is_announced_once(reader):
    """Regression: both the head of the page and the hidden region for announcements were read out."""
    told = reader("3")
    told.goes_to("Check from h1 that h2 answers, and stop the test with Ctrl+C after five replies")
    told.page.keys(Keys.ALT, Keys.SHIFT, Keys.ENTER)
    told.page.until(lambda: "bytes from" in told.page.screen(), "that it runs")
    told.said()
    told.page.keys(Keys.ALT, Keys.ENTER)
    refusal = "A command runs in h1: press the button again when the prompt is back; Ctrl+C there stops the command."
    heard = []
    told.page.until(lambda: heard.extend(told.said()) or refusal in heard, "that a command runs")
    assert heard.count(refusal) == 1


def test_the_slider_of_the_plots_tells_a_time(reader):
    """Regression: it told 524.774658203125, and another such number with each drawing while it follows the network."""
    told = reader("3")
    page = told.page
    page.button("Plots").click()
    page.until(lambda: "Scroll back: network time at the right end" in told.names("slider"), "the slider")
    slider = page.one("#picture-plots input[type=range]")
    page.until(lambda: slider.get_attribute("aria-valuetext") == "now", "that it follows")
    page.until(lambda: float(slider.get_attribute("max")) > 2, "two seconds")
    slider.send_keys(Keys.LEFT)
    page.until(lambda: re.fullmatch(r"\d+\.\d s", slider.get_attribute("aria-valuetext")), "a time")


def test_slow_motion_does_not_talk_without_end(reader):
    """Regression: the moment that is shown was announced with each frame."""
    told = reader("3")
    told.page.button("Slow motion").click()
    told.page.until(lambda: any("Slow motion:" in each for each in told.said()), "that it has begun")
    moments = "return document.querySelector('[aria-label=\"Moment that is shown\"]').textContent"
    first = told.page.driver.execute_script(moments)
    told.page.until(lambda: told.page.driver.execute_script(moments) != first, "another moment")
    assert told.said() == []


def test_what_a_capture_does_is_announced_once(reader):
    """Regression: a refused filter was told by its line and by the log, and the beginning by answer and event."""
    told = reader("3")
    page = told.page
    page.button("Packets").click()
    page.until(lambda: "no capture is running; 0 packets kept" in told.said(), "the tab's state")
    page.one("#packets-filter").send_keys("imcp", Keys.ENTER)
    refused = told.hears('capture filter "imcp"')
    page.one("#packets-filter").send_keys(Keys.BACKSPACE * 4, "icmp", Keys.ENTER)
    begun = told.hears("capturing ")
    page.button("Stop").click()
    heard = told.hears_up_to("no capture is running; 0 packets kept")
    assert [each for each in heard if each in (refused, begun)] == []
