# SPDX-License-Identifier: BSD-3-Clause
"""A lab's page as a screen reader gets it, for tests: the accessibility tree, what is announced, and keys alone."""

import time

ALT, PAGE_DOWN = "\ue00a", "\ue00f"
"""Selenium's codes of these keys."""
TICK = "#terminals input[type=checkbox]"
LISTEN = """
window.said = [];
const quiet = "[aria-live=off], [aria-hidden=true]";
const live = "[role=status], [role=alert], [role=log], [aria-live], output";
new MutationObserver((changes) => {
  const whole = new Set();
  for (const { target, addedNodes } of changes) {
    const region = (target.closest ? target : target.parentElement)?.closest(live);
    if (!region || region.closest(quiet)) continue;
    const atomic = region.getAttribute("aria-atomic") ?? String(!region.matches("[role=log], [aria-live]:not([role])"));
    if (atomic === "true") whole.add(region);
    else if (addedNodes.length) window.said.push(...[...addedNodes].map((one) => one.textContent));
    else if (target.nodeType === Node.TEXT_NODE) window.said.push(target.data);
  }
  for (const region of whole) if (region.textContent) window.said.push(region.textContent);
}).observe(document.body, { subtree: true, childList: true, characterData: true });
"""
"""Notes what live regions have a reader say, in order: of a log what is added, of a status all of it (WAI-ARIA 1.2)."""
FIREFOX_TREE = """
const service = Cc["@mozilla.org/accessibilityService;1"].getService(Ci.nsIAccessibilityService);
const chromiums = { "text leaf": "StaticText", summary: "DisclosureTriangle" };
const found = [];
const walk = (one) => {
  const state = {}, kind = service.getStringRole(one.role);
  one.getState(state, {});
  const focused = Boolean(state.value & Ci.nsIAccessibleStates.STATE_FOCUSED);
  found.push([chromiums[kind] ?? one.computedARIARole, one.name ?? "", one.description ?? "", focused]);
  for (let child = one.firstChild; child; child = child.nextSibling) walk(child);
};
const page = Services.wm.getMostRecentWindow("navigator:browser").gBrowser.selectedBrowser;
const root = service.getAccessibleFor(page); // none while the service, which the first question starts, looks around
if (root) walk(root);
return found;
"""
"""What Firefox tells screen readers, by its own code (nsIAccessible.idl), with Chromium's names where ARIA has none."""
QUIET_S = 0.6
"""Longer than the page waits for a program to rest (terminal-voice.js)."""
PROMPT = "root@h1:~#"


class Reader:
    """A page of a running lab, without its looks."""

    def __init__(self, running, page):
        self.page = page
        page.open(running.address)
        running.wait_for("The network runs")
        page.until(lambda: "steps done" in page.one("#guide").text, "what the guide says")
        page.driver.execute_script(LISTEN)

    def tree(self):
        """(role, name, description) of what is told, and whether it has the focus, in order."""
        if self.page.kind == "firefox":
            with self.page.driver.context("chrome"):
                return [tuple(node) for node in self.page.driver.execute_script(FIREFOX_TREE)]
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
        """Role, name, and description of what has the focus; Firefox at times has none while it moves."""
        return ([node[:3] for node in self.tree() if node[3]] or [("", "", "")])[-1]

    def said(self):
        """What was announced since this was last asked."""
        return self.page.driver.execute_script("return window.said.splice(0)")

    def hears(self, *words):
        """Wait until all of these words were announced; the announcement that has the first."""
        heard = []

        def found():
            heard.extend(self.said())
            having = [next((each for each in heard if word in each), "") for word in words]
            return all(having) and having[0]

        try:
            return self.page.until(found, "the words", 15)
        except AssertionError:
            raise AssertionError(f"{words} were not announced, but: {heard}") from None

    def types(self, line):
        """Type a line into the terminal in front, once its prompt is there."""
        self.page.until(lambda: self.focus()[0] == "textbox", "the terminal's focus")
        self.page.until(lambda: self.page.screen().rstrip().endswith("#"), "the prompt")
        self.page.keys(line + "\n")

    def hears_up_to(self, last):
        """What is announced up to this, which must come."""
        heard = []
        try:
            self.page.until(lambda: heard.extend(self.said()) or last in heard, "the last")
        except AssertionError:
            raise AssertionError(f"{last} was not announced, but: {heard}") from None
        return heard

    def opens(self):
        """Tick the box Screen reader, and open a terminal of h1, until nothing more is told; what was told of it.

        Its prompt is told if it comes when the terminal has the focus already.
        """
        self.page.one(TICK).click()
        self.page.button("New terminal").click()
        heard = self.hears_up_to("Terminal h1 is open.")
        self.page.until(lambda: PROMPT in self.page.screen(), "the prompt")
        time.sleep(QUIET_S)
        return [each for each in heard + self.said() if "done." not in each]  # of the step that begins the network

    def goes_to(self, step):
        """Press Alt+PageDown until the step of this name has the focus."""
        for _ in range(40):
            self.page.keys(ALT, PAGE_DOWN)
            if self.focus()[1].endswith(step):
                return
        raise AssertionError(f"there is no step {step}")
