# SPDX-License-Identifier: BSD-3-Clause
"""The page of a lab as a screen reader gets it: the browser's accessibility tree, what is announced, and keys alone."""

import re
from collections import Counter

import pytest
from browsing import needs_browser

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = needs_browser
LISTEN = """
window.said = [];
const live = "[role=status]:not([aria-live=off]), [aria-live=polite], output:not([aria-live=off])";
new MutationObserver((changes) => {
  const inside = changes.map(({ target }) => (target.closest ? target : target.parentElement));
  for (const region of new Set(inside.map((one) => one?.closest(live)))) {
    if (region?.textContent) window.said.push(region.textContent);
  }
}).observe(document.body, { subtree: true, childList: true, characterData: true });
"""
"""Notes what a live region says, as it says it."""


class Reader:
    """A page of a running lab, without its looks."""

    def __init__(self, running, page):
        self.page = page
        page.open(running.address)
        running.wait_for("The network runs")
        page.until(lambda: "steps done" in " ".join(self.names("StaticText")), "what the guide says")
        page.driver.execute_script(LISTEN)

    def tree(self):
        """(role, name, description) of what is told, and whether it has the focus, in order."""
        nodes = self.page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [
            (
                *(node.get(key, {}).get("value", "") for key in ("role", "name", "description")),
                any(each["name"] == "focused" and each["value"]["value"] for each in node.get("properties", [])),
            )
            for node in nodes
            if not node["ignored"]
        ]

    def names(self, *roles):
        """The names of all that have one of these roles."""
        return [name for role, name, _, _ in self.tree() if role in roles]

    def focus(self):
        """Role, name, and description of what has the focus."""
        return [node[:3] for node in self.tree() if node[3]][-1]

    def said(self):
        """What was announced since this was last asked."""
        return self.page.driver.execute_script("return window.said.splice(0)")

    def goes_to(self, step):
        """Press Alt+PageDown until the step of this name has the focus."""
        for _ in range(30):
            self.page.keys(Keys.ALT, Keys.PAGE_DOWN)
            if self.focus()[1] == step:
                return
        raise AssertionError(f"there is no step {step}")


@pytest.fixture
def reader(lab, browser):
    """Opens a lab."""
    return lambda number, *options: Reader(lab(number, *options), browser())


def test_each_control_is_known_by_its_name_alone(reader):
    """Regression: in a list of buttons thirty were called "Type with Enter", and as many "Hint"."""
    told = reader("3")
    buttons = told.names("button", "DisclosureTriangle")
    assert "Type with Enter: On h1 list the network interfaces" in buttons
    assert [name for name, count in Counter(buttons).items() if count > 1] == []
    assert "Keep my prediction 1" in buttons


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
    assert told.focus() == ("group", step, "Terminal of h1 ○ open")
    page.keys(Keys.ALT, Keys.ENTER)
    page.until(lambda: told.focus()[0] == "textbox", "the terminal's focus")
    page.until(lambda: "In terminal h1: ifconfig. Press Enter to run it." in told.said(), "that Enter is to be pressed")
    page.keys(Keys.ENTER)
    page.until(lambda: f"{step}: done." in [each.strip() for each in told.said()], "that the step is done")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: told.focus() == ("group", step, "Terminal of h1 ✓ done"), "the step again")


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
        lambda: "This is a prediction: Alt+PageDown leads to the next step." in told.said(), "that nothing is put"
    )
    told.page.keys(Keys.TAB)
    assert told.focus()[:2] == ("textbox", "Number")
    told.page.keys(Keys.ALT, Keys.PAGE_DOWN)
    assert told.focus()[1] == "On h1 delay everything that leaves by 100 ms"


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
    assert told.focus()[2] == ""
    page.until(
        lambda: any("sudo mn" in name for name in told.names("listitem", "StaticText")[-40:]), "the screen's rows"
    )


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


def test_a_terminal_that_is_left_does_not_talk_into_the_manual(reader):
    """Regression: what a running ping printed interrupted everything that was read elsewhere."""
    told = reader("3")
    page, live = told.page, ".panel.terminal:not([hidden]) .live-region"
    page.one("#terminals input[type=checkbox]").click()
    told.goes_to("Check from h1 that h2 answers, and stop the test with Ctrl+C after five replies")
    page.keys(Keys.ALT, Keys.SHIFT, Keys.ENTER)
    page.until(lambda: told.focus()[0] == "textbox", "the terminal's focus")
    page.until(lambda: page.one(live).get_attribute("aria-live") == "assertive", "that it talks")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: page.one(live).get_attribute("aria-live") == "off", "that it is silent")


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
