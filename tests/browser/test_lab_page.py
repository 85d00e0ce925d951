# SPDX-License-Identifier: BSD-3-Clause
"""A lab done in a real browser: by mouse, by keys alone, reloaded, in two browsers, and with its network killed."""

import json
import os
import signal
from pathlib import Path

import pytest
from browsing import in_both, needs_browser

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = needs_browser


def typed(browser, step, node):
    """Put the command of a step into its terminal with the mouse, then press Enter there."""
    browser.button(f"Put into {node}", f"#block-{step}").click()
    browser.until(lambda: node in browser.tabs(), f"a terminal on {node}")
    browser.until(lambda: "textarea" in browser.focused() or "Terminal" in browser.focused(), "the terminal's focus")


@in_both
def test_a_lab_is_begun_with_the_mouse(lab, browser):
    """The command is put into the terminal, Enter is the reader's, Ctrl+C a button."""
    running, page = lab("14"), browser()
    page.open(running.address)
    assert "token" not in page.driver.current_url
    running.wait_for("The network runs")
    typed(page, "ping-unshaped", "h1")
    page.until(lambda: "ping 10.0.0.3" in page.screen(), "the command")
    assert "bytes from" not in page.screen()
    page.keys(Keys.ENTER)
    page.until(lambda: page.screen().count("bytes from 10.0.0.3") >= 3, "three replies")
    page.button("Ctrl+C", "#block-ping-unshaped").click()
    page.until(lambda: "packets transmitted" in page.screen(), "the statistics of ping")
    assert page.complaints() == []
    assert running.end() == 0


@in_both
def test_a_command_is_put_on_an_empty_line_alone(lab, browser):
    """What stands there is not glued to it, nor run; the same command there already is only ended.

    Regression: a forgotten Enter made one line of two commands.
    """
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    typed(page, "ping-unshaped", "h1")
    page.until(lambda: "ping 10.0.0.3" in page.screen(), "the command")
    page.button("Put into h1", "#block-ping-h1").click()
    page.button("Type with Enter", "#block-ping-unshaped").click()
    page.until(lambda: page.screen().count("bytes from 10.0.0.3") >= 2, "two replies")
    assert page.screen().count("ping 10.0.0.3") == 1
    page.button("Put into h1", "#block-ping-h1").click()
    page.until(
        lambda: "A command runs in h1: press the button again when the prompt is back" in page.one("#notice").text,
        "that a command runs",
    )
    page.button("Ctrl+C", "#block-ping-unshaped").click()
    page.until(lambda: "packets transmitted" in page.screen(), "the statistics of ping")
    page.until(lambda: page.screen().rstrip().endswith("#"), "the prompt")
    page.keys("ec")
    page.until(lambda: page.screen().rstrip().endswith("# ec"), "a half-typed line")
    page.button("Type with Enter", "#block-ping-h1").click()
    page.until(lambda: "A line stands in h1 that was not ended" in page.one("#notice").text, "that a line stands there")
    assert page.screen().rstrip().endswith("# ec")
    page.button("Fast-forward", "#clock").click()
    page.until(lambda: "the line there is not ended" in page.one("#notice").text, "that nothing runs")
    page.one(".panel.terminal:not([hidden]) .xterm-helper-textarea").send_keys(Keys.BACKSPACE, Keys.BACKSPACE)
    page.until(lambda: page.screen().rstrip().endswith("#"), "an empty line")
    page.button("Put into h1", "#block-ping-h1").click()
    page.until(lambda: page.screen().rstrip().endswith("# ping 10.0.0.3"), "the command")


@in_both
def test_a_page_that_is_loaded_again_has_its_terminals(lab, browser):
    """What was shown is there again, and what is typed goes on in the same shell."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: page.tabs() == ["h1"], "a terminal")
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    page.keys("mine=42\n")
    page.driver.refresh()
    page.until(lambda: "mine=42" in page.screen(), "what was typed before")
    page.one(".panel.terminal:not([hidden]) .xterm-helper-textarea").send_keys("echo $mine$mine\n")
    page.until(lambda: "4242" in page.screen(), "the same shell")


def test_two_browsers_show_one_lab(lab, browser):
    """What is typed in one is seen in the other; the address works in both."""
    running, one, two = lab("14"), browser(), browser()
    one.open(running.address)
    two.open(running.address)
    running.wait_for("The network runs")
    one.button("New terminal").click()
    two.until(lambda: two.tabs() == ["h1"], "the terminal in the other browser")
    one.until(lambda: "root@h1" in one.screen(), "the prompt")
    one.keys("echo for-$((40 + 2))-both\n")
    two.until(lambda: "for-42-both" in two.screen(), "the output in the other browser")


def test_a_network_that_is_killed_is_said(lab, browser):
    """The page stays and says why; the command ends with an error."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    kernels = [pid for pid in children_of(running.process.pid) if "linux" in Path(f"/proc/{pid}/comm").read_text()]
    assert kernels
    os.kill(kernels[0], signal.SIGKILL)
    page.until(lambda: "The network has ended" in page.one("#notice").text, "that the network has ended")
    assert running.process.wait(30) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "why", "status"),
    [(signal.SIGTERM, "linklab lab was stopped", 143), (signal.SIGINT, "it was ended with Ctrl+C", 0)],
)
def test_the_end_of_the_program_is_said_with_what_to_do(lab, browser, number, why, status):
    """Regression: after SIGTERM it was "The network has ended: the network has ended", in a head of three lines."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.until(lambda: not page.one("#notice").text, "no notice")
    height = page.one("header").size["height"]
    running.process.send_signal(number)
    page.until(lambda: page.one("#notice").text, "that the network has ended")
    goes_on = "What you did is kept; start the lab again in the same folder to go on."
    assert page.one("#notice").text == f"The network has ended: {why}. {goes_on}"
    assert page.one("header").size["height"] - height <= 1.7 * 16  # one line more
    assert running.process.wait(30) == status


@in_both
def test_a_lab_is_done_by_keys_alone(lab, browser):
    """Step by step through the manual, a command into its terminal, and out of the terminal again."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    for _ in range(3):
        page.keys(Keys.ALT, Keys.PAGE_DOWN)
    page.until(lambda: "ping-unshaped" in page.focused(), "the third step")
    page.keys(Keys.ALT, Keys.ENTER)
    page.until(lambda: "ping 10.0.0.3" in page.screen(), "the command")
    page.keys(Keys.ENTER)
    page.until(lambda: page.screen().count("bytes from 10.0.0.3") >= 2, "two replies")
    page.keys(Keys.CONTROL, "c")
    page.until(lambda: "packets transmitted" in page.screen(), "the statistics of ping")
    page.keys(Keys.SHIFT, Keys.F6)
    page.until(lambda: "ping-unshaped" in page.focused(), "the step again")
    page.keys(Keys.F6)
    page.until(lambda: "Terminal h1" in page.focused(), "the terminal's focus")


def test_time_is_paused_stepped_and_fast_forwarded(lab, browser):
    """While time stands nothing comes; fast-forward goes to the end of the command."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    typed(page, "ping-unshaped", "h1")
    page.until(lambda: "ping 10.0.0.3" in page.screen(), "the command")
    page.keys(" -c 60")
    page.keys(Keys.ENTER)
    page.until(lambda: "icmp_seq=2" in page.screen(), "a reply")
    page.button("Pause", "#clock").click()
    page.until(lambda: "paused" in page.one("#clock output").text, "that time stands")
    page.button("Resume", "#clock").click()
    page.button("Fast-forward", "#clock").click()
    page.until(lambda: "60 packets transmitted" in page.screen(), "the end of the command", 20)
    page.until(lambda: page.one("#clock select").get_attribute("value") == "1", "the speed as before")


def test_terminals_at_full_speed_freeze_nothing(lab, browser):
    """Two terminals print without end; the page still answers, and Ctrl+C stops one."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    for _ in range(2):
        before = len(page.tabs())
        page.button("New terminal").click()
        page.until(lambda: len(page.tabs()) == before + 1, "one more terminal")  # noqa: B023 - waited for in this turn
        page.until(lambda: "root@h1" in page.screen(), "the prompt")
        page.keys("yes 0123456789\n")
        page.until(lambda: page.screen().count("0123456789") > 5, "the flood")
    page.button("Pause", "#clock").click()
    page.button("Resume", "#clock")
    page.button("Resume", "#clock").click()
    page.one(".panel.terminal:not([hidden]) .xterm-helper-textarea").send_keys(Keys.CONTROL, "c")
    page.until(lambda: "root@h1" in page.screen(), "the prompt again")


CONNECTIONS_CAN_BE_CUT = """
const Real = window.WebSocket, all = [];
window.WebSocket = class extends Real {
  constructor(address) {
    super(window.isCut ? new URL("/cut", address) : address);
    all.push(this);
  }
};
window.tried = () => all.length;
window.cut = (isCut) => {
  window.isCut = isCut;
  if (isCut) all.forEach((one) => one.close());
};
"""
"""While it is cut, the server refuses every new connection; one that the page's policy forbids would never close."""
PASTE = """
const text = arguments[0].repeat(arguments[1]), clipboardData = new DataTransfer();
clipboardData.setData("text/plain", text);
const paste = {clipboardData, data: text, dataType: "text/plain", bubbles: true};
document.activeElement.dispatchEvent(new ClipboardEvent("paste", paste));
"""
"""Firefox leaves `clipboardData` out and takes `data` and `dataType`, which Chromium leaves out."""


@in_both
def test_what_is_typed_while_the_connection_is_lost_follows(lab, browser):
    """The page says that the connection is lost, keeps the keys, and sends them in their order once it is back."""
    running, page = lab("14"), browser()
    page.before_pages(CONNECTIONS_CAN_BE_CUT)
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    tried = page.driver.execute_script("return window.tried()")
    page.driver.execute_script("window.cut(true)")
    page.until(lambda: "what you type is sent when it is back" in page.one(".note-line").text, "that it is lost")
    page.keys("echo kept-$((40 + 2)) > typed\n")
    page.until(
        lambda: page.driver.execute_script("return window.tried()") > 2 * tried, "that it was tried again in vain"
    )
    assert not (running.folder / "typed").exists()
    page.driver.execute_script("window.cut(false)")
    page.until((running.folder / "typed").exists, "what was typed")
    page.until(lambda: "kept-$((40 + 2))" in page.screen(), "the line")
    assert (running.folder / "typed").read_text() == "kept-42\n"
    assert not page.one(".note-line").is_displayed()


CONNECTIONS_CAN_DIE = """
const Real = window.WebSocket;
const dead = new Set(), all = new Set();
window.WebSocket = class extends Real {
  constructor(...given) {
    super(...given);
    all.add(this);
  }
  send(data) {
    if (!dead.has(this)) super.send(data);
  }
};
window.die = () => all.forEach((one) => dead.add(one));
"""
"""Connections that die without a word: what is sent over them goes nowhere, and nobody closes them."""


@in_both
def test_what_is_typed_before_a_connection_is_known_to_be_dead_follows(lab, browser):
    """Regression: keys that were sent into a connection that had broken silently were lost."""
    running, page = lab("1"), browser()
    page.before_pages(CONNECTIONS_CAN_DIE)
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: "root@client" in page.screen(), "the prompt")
    page.keys("echo first-$((40 + 1)) > typed\n")
    page.until((running.folder / "typed").exists, "what was typed before")
    page.driver.execute_script("window.die()")
    page.keys("echo second-$((40 + 2)) >> typed\n")
    page.until(lambda: "second" in (running.folder / "typed").read_text(), "what was typed into the dead connection")
    page.keys("echo third >> typed\n")
    page.until(lambda: "third" in (running.folder / "typed").read_text(), "what was typed afterwards")
    assert (running.folder / "typed").read_text() == "first-41\nsecond-42\nthird\n"


CLOSED_WHILE_LOST = """
const done = arguments[0], Real = window.WebSocket;
let opened = 0;
window.WebSocket = class { constructor() { opened += 1; window.last = this; } close() {} };
import(document.querySelector("script[type=module][src]").src.replace("app.js", "server.js")).then((server) => {
  const socket = server.socket("terminal/1", { onMessage() {} });
  window.last.onclose({ code: 1006 });
  socket.close();
  setTimeout(() => { window.WebSocket = Real; done(opened); }, 600);
});
"""
"""How many connections are opened for a socket that is lost and then closed; the second is due after 250 ms."""


def test_what_is_closed_while_it_is_lost_stays_closed(lab, browser):
    """Regression: the connection of a terminal that was closed meanwhile was opened once more."""
    running, page = lab("1"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    assert page.driver.execute_async_script(CLOSED_WHILE_LOST) == 1


@in_both
def test_a_large_paste_arrives_whole_or_is_refused_with_a_sentence(lab, browser):
    """Text of 1.75 MB, with letters that are two units of UTF-16, reaches a program; of 6 MB nothing is typed."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    line = "an odd number 🖧🖧🖧 of units\n"
    page.keys("stty -echo; cat > pasted; touch ended\n")
    page.until((running.folder / "pasted").exists, "cat")
    page.driver.execute_script(PASTE, line, 200_000)
    assert page.one(".note-line").text.startswith("This paste has 6,000,000 characters and a terminal takes 4,194,304")
    page.driver.execute_script(PASTE, line, 50_000)
    page.keys(Keys.CONTROL, "d")
    page.until((running.folder / "ended").exists, "the end of cat", 90)
    assert (running.folder / "pasted").read_text(encoding="utf-8") == line * 50_000


TIMERS_STOP_WHILE_HIDDEN = """
const run = window.setTimeout, held = [];
document.addEventListener("visibilitychange", () => {
  window.setTimeout = document.hidden ? (...timer) => held.push(timer) : run;
  if (!document.hidden) held.splice(0).forEach((timer) => run(...timer));
});
"""
"""As Chrome does to a tab that is hidden for five minutes: it runs timers once a minute."""


def test_a_flood_goes_on_in_a_hidden_tab(lab, browser):
    """The program does not wait for a tab that draws nothing, and its last lines are there when the tab is seen."""
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    page.driver.execute_script(TIMERS_STOP_WHILE_HIDDEN)
    shown = page.driver.current_window_handle
    page.keys("sleep 2; seq 300000 | tee numbers; touch ended\n")
    page.driver.switch_to.new_window("tab")
    page.until((running.folder / "ended").exists, "the end of the flood")
    assert (running.folder / "numbers").read_text().endswith("\n300000\n")
    page.driver.switch_to.window(shown)
    page.until(lambda: "\n300000\nroot@h1" in page.screen(), "the last line and the prompt")


@in_both
def test_at_twice_the_size_everything_is_reached(lab, browser):
    """At 1024 x 700 and 200 % the parts are shown one at a time, and nothing is wider than the screen."""
    running, page = lab("14"), browser(512, 350)
    page.open(running.address)
    running.wait_for("The network runs")
    for part, selector in (("Manual", "main"), ("Terminals", "#terminals"), ("Manual", "main")):
        page.button(part, "nav.parts").click()
        assert page.one(selector).is_displayed()
        assert page.beyond() <= 0
    assert not page.one("#terminals").is_displayed()


def children_of(pid):
    """The descendants of a process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


ENABLED = """
const all = document.querySelectorAll(".box .do button, #clock button, #terminals .tabs button, .predict form button");
return [...all].filter((one) => !one.disabled).map((one) => one.textContent);
"""
"""The names of the buttons that can be pressed, of steps, clock, terminals, and predictions."""


def test_a_network_that_was_ended_leaves_no_button_that_does_nothing(lab, browser):
    """Ctrl+C ends the lab: what needs it is grey, the focus stays on the page, and the page says what is kept.

    Regression: the buttons looked as before, and there was no field for the name in the report.
    """
    running, page = lab("14"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.one("#student-name").send_keys("Ada Lovelace")
    page.until(lambda: "kept for the report" in page.one(".name").text, "that the name is kept")
    page.button("New terminal").click()
    page.until(lambda: page.tabs() == ["h1"], "a terminal")
    held = page.button("Put into h1", "#block-ping-h1")
    page.driver.execute_script("arguments[0].focus()", held)
    assert running.end() == 0
    page.until(
        lambda: "It was ended" in page.one("#notice").text or "Ctrl+C" in page.one("#notice").text, "that it ended"
    )
    assert "What you did is kept" in page.one("#notice").text
    page.until(lambda: page.driver.execute_script(ENABLED) == ["h1", "Copy"], "that the others are grey")
    assert "Manual main" in page.focused()
    notes = json.loads((running.folder / ".linklab/notes.json").read_text())
    assert notes["name"] == "Ada Lovelace"


def test_plots_without_a_line_say_when_there_is_one(lab, browser):
    """Regression: the panel was empty, as in Lab 1, whose network is not drawn."""
    running, page = lab("1"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.one("#tab-plots").click()
    page.until(lambda: "Nothing is drawn yet" in page.one("#picture-plots").text, "why nothing is seen")


def test_a_prediction_answers_its_question(lab, browser):
    """It has the fields that are asked for, no other unit, no ambiguous number; what was recorded is folded away.

    Regression: 1,234 was taken for 1.234, any unit for any question, and the outcome stood below the question.
    """
    running, page = lab("14"), browser()
    page.open(running.address)
    assert not page.all("#prediction-one-round-trip-words"), "a time alone is asked for"
    assert page.all("#prediction-paced-sender-words") and not page.all("#prediction-paced-sender-number")
    recorded = page.one("#block-ping-h1 details.recorded")
    assert not recorded.get_attribute("open") and recorded.text == "Show what the recorded run gave"
    assert page.one("#block-ping-unshaped pre.output").is_displayed(), "no prediction is about it"
    for number, unit, said in (
        ("1,234", "ms", "can mean two numbers"),
        ("40", "Mbps", "a time is asked for"),
        ("40", "ms", "is kept"),
    ):
        for field, text in (("number", number), ("unit", unit)):
            page.one(f"#prediction-one-round-trip-{field}").clear()
            page.one(f"#prediction-one-round-trip-{field}").send_keys(text)
        page.button("Keep my prediction", "#predict-one-round-trip").click()
        page.until(lambda: said in page.one("#predict-one-round-trip form").text, said)  # noqa: B023 - in this turn
    assert all("400" in each for each in page.complaints()), "the two refusals"


@in_both
def test_steps_are_checked_and_predictions_compared(lab, browser):
    """Wrong, mended by another command, done; what was predicted stands beside what was measured and the theory."""
    running, page = lab("14", "--name", "Ada Lovelace"), browser(1280, 800)
    page.open(running.address)
    running.wait_for("The network runs")

    def mark(step, words):
        page.until(lambda: words in page.one(f"#block-{step} .mark").text, f"{step}: {words}")

    mark("ping-unshaped", "open")
    page.one("#prediction-one-round-trip-number").send_keys("0.04")
    page.one("#prediction-one-round-trip-unit").send_keys("s")
    page.one("#prediction-one-round-trip-why").send_keys("there and back")
    page.button("Keep my prediction", "#predict-one-round-trip").click()
    page.until(lambda: "is kept" in page.one("#predict-one-round-trip").text, "that it is kept")
    assert not page.all("#predict-one-round-trip .compared:not([hidden])")

    page.button("Type with Enter", "#block-ping-unshaped").click()
    page.until(lambda: page.screen().count("bytes from 10.0.0.3") >= 3, "three replies")
    page.button("Ctrl+C", "#block-ping-unshaped").click()
    mark("ping-unshaped", "✓ done")

    typed(page, "delay", "client")
    page.until(lambda: "netem delay 20ms" in page.screen(), "the command")
    page.keys(Keys.BACKSPACE)
    page.keys(Keys.BACKSPACE)
    page.keys("0ms\n")
    mark("delay", "✗ not right yet")
    assert "200" in page.one("#block-delay .found").text
    page.button("Hint", "#block-delay").click()
    page.until(lambda: page.all('#block-delay [role="status"] p'), "a hint")
    page.one(".panel.terminal:not([hidden]) .xterm-helper-textarea").send_keys(
        "sudo tc qdisc replace dev s1-eth2 root handle 1: netem delay 0.02s\n"
    )
    mark("delay", "✓ done")

    page.button("Type with Enter", "#block-ping-h1").click()
    page.until(lambda: page.screen().count("icmp_seq=3") == 2, "three replies to this ping too")
    page.button("Ctrl+C", "#block-ping-h1").click()
    mark("ping-h1", "✓ done")
    page.until(lambda: page.all("#predict-one-round-trip .compared:not([hidden])"), "prediction and measurement")
    beside = page.one("#predict-one-round-trip .compared").text
    assert "0.04 s = 40 ms" in beside and "there and back" in beside
    page.until(lambda: page.one("#block-ping-h1 pre.output").is_displayed(), "the recorded output")
    assert "Ping h3 from h1" in beside and "ping-h1" not in beside and " 20" in beside
    assert "the replies leave the switch through s1-eth1" in beside
    page.until(lambda: "stays as it is" in page.one("#predict-one-round-trip").text, "that it cannot be changed now")
    assert not page.one("#predict-one-round-trip form button").is_displayed()
    page.one("#prediction-one-round-trip-number").send_keys("20")
    assert page.one("#prediction-one-round-trip-number").get_attribute("value") == "0.04"
    page.driver.get(page.driver.current_url.partition("#")[0] + "report")
    assert "Ada Lovelace" in page.one("header").text
    assert page.complaints() == []
    assert running.end() == 0
    again = lab("14", "--continue")
    page.open(again.address)
    assert "✓ done" in page.one("#block-ping-unshaped .mark").text


def test_lab_1_is_done_from_its_first_step_in_the_terminal(lab, browser):
    """Its network is started by the student, inside Mininet's own command line; every step there ends done."""
    running, page = lab("1"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    for step in ("mn", "help", "nodes", "net", "ifconfig", "ping", "exit", "clean"):
        page.button("Type with Enter", f"#block-{step}").click()
        if step == "ping":
            page.until(lambda: page.screen().count("bytes from") >= 3, "three replies")
            page.button("Ctrl+C", "#block-ping").click()
        page.until(lambda: "✓ done" in page.one(f"#block-{step} .mark").text, f"{step} is done")  # noqa: B023 - in this turn
        page.until(lambda: page.screen().rstrip().endswith((">", "#")), "the prompt, at which the next one is put")
    assert page.tabs() == ["client"]
    assert page.complaints() == []


BESIDE_A_STEP = """
const box = document.querySelector(".predict textarea, .predict input"), steps = [...document.querySelectorAll(".box")];
box.focus();
return [box.id, steps.find((step) => box.compareDocumentPosition(step) & Node.DOCUMENT_POSITION_FOLLOWING).id];
"""
"""Puts the focus into the first prediction; its field, and the step below it."""


def test_the_reader_stays_where_they_are(lab, browser):
    """A clicked tab takes the keys; fast-forward keeps the focus, and stops; keys go on from where a prediction stands.

    Regression: what was typed after a click on a tab went nowhere; the focus fell to the top of the page; and from a
    prediction, Alt+PageDown led past the step that it asks about.
    """
    running, page = lab("3"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    page.button("New terminal").click()
    page.until(lambda: page.tabs() == ["h1"], "a terminal")
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    page.one('#terminals [role="tab"]').click()
    page.keys("sleep 9999\n")
    page.until(lambda: "sleep 9999" in page.screen(), "what was typed after the click")
    forward = page.button("Fast-forward", "#clock")
    page.driver.execute_script("arguments[0].focus()", forward)
    page.keys(Keys.ENTER)
    page.until(lambda: page.all("#clock button")[-1].text == "Stop (Ctrl+C)", "that it can be stopped")
    page.keys(Keys.ENTER)
    page.until(lambda: page.all("#clock button")[-1].text == "Fast-forward", "that it has stopped")
    assert page.driver.switch_to.active_element == forward
    page.until(lambda: page.screen().rstrip().endswith("#"), "the prompt")

    box, following = page.driver.execute_script(BESIDE_A_STEP)
    assert page.driver.switch_to.active_element.get_attribute("id") == box
    page.keys(Keys.ALT, Keys.PAGE_DOWN)
    page.until(lambda: following in page.focused(), f"the step after the prediction, {following}")
