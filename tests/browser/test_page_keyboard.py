# SPDX-License-Identifier: BSD-3-Clause
"""The page of a lab by keyboard alone, on a small laptop's screen at 200 %: a whole lab, and where Tab stops."""

import pytest
from browsing import in_both, needs_browser

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = [*needs_browser, pytest.mark.long]
TWICE = (512, 350)
"""1024 x 700 at 200 %."""
STEPS = ("mn", "help", "nodes", "net", "ifconfig", "ping", "exit", "clean")
"""All of Lab 1 that is done in a terminal; the rest is drawn in the editor."""
SEEN = """
const one = document.activeElement, box = one.getBoundingClientRect();
const main = one.closest("main")?.getBoundingClientRect(), guide = document.querySelector("#guide");
const below = main && !guide.contains(one) ? guide.getBoundingClientRect().bottom : 0;
const room = main ? { top: Math.max(main.top, below), bottom: main.bottom } : { top: 0, bottom: innerHeight };
const between = (least, value, most) => Math.min(Math.max(least + 1, value), most - 1);
const x = (between(0, box.left, innerWidth) + between(0, box.right, innerWidth)) / 2;
const y = (between(room.top, box.top, room.bottom) + between(room.top, box.bottom, room.bottom)) / 2;
const top = document.elementFromPoint(x, y);
const shown = Math.min(box.bottom, room.bottom) - Math.max(box.top, room.top);
const enough = main ? Math.min(box.height, (room.bottom - room.top) / 2) - 1 : 0;
return shown >= enough && (one.contains(top) || top.contains(one) && top !== document.body);
"""
"""Whether the element with the focus is in the window, with nothing above it.

In the manual all of it is, below the line of the guide, or so much that it fills half of the room.
"""
MARKED = """
const one = document.activeElement;
return [one, ...one.querySelectorAll("*")].some((each) => {
  const style = getComputedStyle(each);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || parseFloat(style.strokeWidth) >= 4;
}) || one.matches(".xterm-helper-textarea");
"""
"""Whether the focus can be seen: an outline, a thick line of a drawing, or the cursor of a terminal."""
WHICH = """
const one = document.activeElement;
return `${one.tagName} ${one.id} ${one.getAttribute("aria-label") || one.textContent.trim().slice(0, 40)}`;
"""


def stop(page):
    """What has the focus, which must be seen."""
    which = page.driver.execute_script(WHICH)
    page.until(lambda: page.driver.execute_script(SEEN), f"{which}, which has the focus, in the window", 5)
    assert page.driver.execute_script(MARKED), f"the focus cannot be seen on {which}"
    return which


def tabbed(page, words, *, back=False, most=150):
    """Press Tab until this has the focus."""
    for _ in range(most):
        page.keys(*((Keys.SHIFT, Keys.TAB) if back else (Keys.TAB,)))
        if words in (which := stop(page)):
            return which
    raise AssertionError(f"Tab does not come to {words}")


@in_both
def test_a_whole_lab_at_twice_the_size(lab, browser):
    """Predicted, done step by step, compared, answered, and reported without a mouse; light at first, then dark."""
    running, page = lab("1", "--name", "Ada Lovelace"), browser(*TWICE)
    page.prefer("light")
    page.open(running.address)
    running.wait_for("The network runs")
    tabbed(page, "Skip to the manual")
    page.keys(Keys.ENTER)
    page.until(lambda: "Manual main" in page.focused(), "the manual's focus")
    for name, why in (("own-interfaces", "all four of them"), ("first-ping", "ARP comes first")):
        tabbed(page, f"prediction-{name}-why")
        page.keys(why)
        tabbed(page, "Keep my prediction")
        page.keys(Keys.ENTER)
        page.until(lambda name=name: "is kept" in page.one(f"#predict-{name}").text, f"that {name} is kept")
    tabbed(page, "Next: In the Client's terminal", back=True)
    page.keys(Keys.ENTER)
    for number, step in enumerate(STEPS):
        page.prefer("light" if number < len(STEPS) / 2 else "dark")
        while f"block-{step} " not in page.focused() + " ":
            before = page.focused()
            page.keys(Keys.ALT, Keys.PAGE_DOWN)
            page.until(lambda before=before: page.focused() != before, "the next step")
            stop(page)
        page.keys(Keys.ALT, Keys.SHIFT, Keys.ENTER)
        page.until(lambda: "Terminal client" in page.focused(), "the terminal's focus")
        if step == "ping":
            page.until(lambda: page.screen().count("bytes from") >= 4, "four replies")
            page.keys(Keys.CONTROL, "c")
        mark = f"return document.querySelector('#block-{step} .mark').textContent"
        page.until(lambda mark=mark: "✓ done" in page.driver.execute_script(mark), f"{step} is done")
        page.until(lambda: page.screen().rstrip().endswith((">", "#")), "the prompt, at which the next one is put")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: "8 of 8 steps done" in page.one("#guide").text, "that this is all")
    for name in ("own-interfaces", "first-ping"):
        page.until(lambda name=name: page.all(f"#predict-{name} .compared:not([hidden])"), f"what settles {name}")
    tabbed(page, "answer-1", most=200)
    page.keys("Four of them")
    page.until(lambda: "kept" in page.one("#answer-1 ~ [role=status]").text, "that the answer is kept")
    page.keys(Keys.F6)
    page.until(lambda: "Terminal client" in page.focused(), "the terminal's focus")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: "answer-1" in page.focused(), "the question where the reader was")
    tabbed(page, "Report", back=True, most=200)
    page.keys(Keys.ENTER)
    page.until(lambda: len(page.driver.window_handles) == 2, "the report")
    page.driver.switch_to.window(page.driver.window_handles[1])
    page.until(lambda: "8 of 8 steps done" in page.one("header").text, "all steps in the report")
    for words in ("all four of them", "ARP comes first", "Four of them"):
        assert words in page.one("main").text
    assert page.complaints() == []


@in_both
def test_the_link_to_the_next_step_keeps_the_focus(lab, browser):
    """What the guide says anew while its link has the focus takes the focus from nobody."""
    running, page = lab("1"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.until(lambda: "0 of 8 steps done" in page.one("#guide").text, "what the guide says first")
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    page.keys(Keys.ALT, Keys.ENTER)
    page.until(lambda: "Terminal client" in page.focused(), "the terminal's focus")
    page.keys(Keys.ENTER)
    page.driver.execute_script("document.querySelector('#guide a').focus()")
    page.until(lambda: "1 of 8 steps done" in page.one("#guide").text, "the first step is done")
    assert "Next: " in stop(page)


@pytest.mark.parametrize("size", [(1024, 700), TWICE], ids=["as it is", "at 200 %"])
def test_the_focus_is_always_seen(lab, browser, size):
    """Wherever Tab stops, in each part, and whatever is open there; and it leaves each part again."""
    running, page = lab("14"), browser(*size)
    page.open(running.address)
    running.wait_for("The network runs")
    tabbed(page, "Skip to the manual")
    assert tabbed(page, "TEXTAREA answer-", most=500)
    page.keys(Keys.F6)
    tabbed(page, "New terminal")
    page.keys(Keys.ENTER)
    page.until(lambda: "Terminal h1" in page.focused(), "the terminal's focus")
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    page.keys("ping 10.0.0.3\n")
    for tab, last in (("topology", "Slow motion"), ("plots", "Save data"), ("packets", "Download")):
        page.keys(Keys.F6)
        page.until(lambda: "pictures" in page.focused(), "the focus of the lower part")
        tabbed(page, "tab-", most=2)
        if tab != "topology":
            page.keys(Keys.RIGHT)
        page.until(lambda tab=tab: page.all(f"#picture-{tab} button"), f"what {tab} has")
        tabbed(page, last)
        page.keys(Keys.SHIFT, Keys.F6)


NAME_SEEN = """
const stop = document.activeElement;
const label = (stop.querySelector(".label") ?? stop.firstElementChild).getBoundingClientRect();
return label.top >= document.querySelector("#guide").getBoundingClientRect().bottom && label.bottom <= innerHeight;
"""
"""Whether the name of the step that has the focus is in the window, below the line of the guide."""


@in_both
def test_a_step_is_shown_with_its_name(lab, browser):
    """Also one that is higher than the manual's part of the window, which was centred and began above it."""
    running, page = lab("14"), browser(*TWICE)
    page.open(running.address)
    page.until(lambda: page.one("#guide").text.startswith("1 of"), "that the network runs, which is the first step")
    for _ in range(12):
        before = page.focused()
        page.keys(Keys.ALT, Keys.PAGE_DOWN)
        page.until(lambda before=before: page.focused() != before, "the next step")
        page.until(lambda: page.driver.execute_script(NAME_SEEN), f"the name of {page.focused()}", 5)


CLOSE_FIRST = """
const done = arguments[0];
const panel = document.querySelector(".panel.terminal:not([hidden])");
fetch(`terminals/${panel.id.split("-").at(-1)}`, { method: "DELETE", credentials: "same-origin",
  headers: { "Content-Type": "application/json" } }).then(() => done());
"""
"""Another browser closes the terminal in front."""


def test_what_disappears_leaves_the_focus_beside_it(lab, browser):
    """Regression: it went to the page's body, and Tab began at the top: hidden, disabled, redrawn, removed, closed."""
    running, page = lab("1"), browser()
    page.open(running.address)
    running.wait_for("The network runs")

    def focus(selector):
        page.driver.execute_script("document.querySelector(arguments[0]).focus()", selector)
        assert page.driver.execute_script("return document.activeElement.matches(arguments[0])", selector)

    def gone(what, act, *given, inside):
        page.driver.execute_script(act, *given)
        script = f"return document.activeElement !== document.body && !!document.activeElement.closest('{inside}')"
        page.until(lambda: page.driver.execute_script(script), f"the focus in {inside} after {what}", 5)

    keep = "#predict-own-interfaces form button"
    focus(keep)
    gone("a button is hidden", "document.activeElement.hidden = true", inside="#predict-own-interfaces")
    focus(".box .do button:not([hidden])")
    gone("a button is disabled", "document.activeElement.disabled = true", inside=".box")
    focus("#guide a")
    gone("a line is written anew", "document.querySelector('#guide').innerHTML += ''", inside="#guide")
    page.button("New terminal").click()
    page.until(lambda: "root@client" in page.screen(), "the prompt")
    page.button("New terminal").click()
    page.until(lambda: len(page.tabs()) == 2 and "root@client" in page.screen(), "a second one")
    page.until(lambda: "Terminal client" in page.focused(), "the terminal's focus")
    page.driver.execute_async_script(CLOSE_FIRST)
    page.until(lambda: len(page.tabs()) == 1, "one terminal")
    page.until(lambda: "Terminal client" in page.focused(), "the focus in the other terminal")
    assert page.complaints() == []
