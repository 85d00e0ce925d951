# SPDX-License-Identifier: BSD-3-Clause
"""How the page shares its time among terminals that print (drawing.js); its terminals here note what they draw."""

import pytest
from browsing import needs_browser

pytestmark = needs_browser
PIECE = 32 * 2**10
DRAWS_MS = 5
SCRIPT = """
const [work, takes, done] = arguments;
(async () => {
  const { Drawing } = await import(new URL("static/drawing.js", location));
  const seen = [];
  class Noted {
    constructor(name) { this.name = name; }
    clear() { seen.push(`${this.name} cleared`); }
    draw(bytes) {
      seen.push(`${this.name} ${bytes[0]} ${bytes.length}`);
      for (const until = performance.now() + takes; performance.now() < until;);
      return Promise.resolve();
    }
  }
  const terminals = { a: new Noted("a"), b: new Noted("b"), c: new Noted("c") };
  const drawing = new Drawing(() => terminals.a);
  const begun = performance.now();
  for (const [act, name, ...parts] of work) {
    if (act === "add") for (const [byte, size] of parts) drawing.add(terminals[name], new Uint8Array(size).fill(byte));
    else drawing[act](terminals[name]);
  }
  while (drawing.runs) await new Promise((again) => setTimeout(again, 1));
  done([seen, performance.now() - begun]);
})().catch((error) => done([[String(error)], 0]));
"""


@pytest.fixture
def drawn(lab, browser):
    """What is drawn, in its order, and how many milliseconds that takes; terminal a is the one in front."""
    running, page = lab("1"), browser()
    page.open(running.address)
    return lambda *work: tuple(page.driver.execute_async_script(SCRIPT, work, DRAWS_MS))


def test_terminals_share_the_time_of_the_page(drawn):
    """One piece after the other, the terminal in front every other one, and as long a rest after each as it took."""
    seen, took_ms = drawn(
        ("add", "b", (1, 10), (1, PIECE), (2, PIECE), (3, PIECE)),
        ("add", "c", (1, PIECE), (2, 1)),
        ("add", "a", (1, PIECE), (2, PIECE)),
    )
    assert seen == [
        "b 1 10",  # nothing else waits yet
        f"b 1 {PIECE}",
        f"a 1 {PIECE}",
        f"c 1 {PIECE}",
        f"a 2 {PIECE}",
        f"b 2 {PIECE}",
        "c 2 1",
        f"b 3 {PIECE}",
    ]
    assert took_ms >= (2 * len(seen) - 1) * DRAWS_MS

    seen, _ = drawn(("add", "b", (1, 10)), ("add", "b", *[(2, 4096)] * 9))
    assert seen == ["b 1 10", f"b 2 {PIECE}", "b 2 4096"]


def test_what_is_old_is_not_drawn(drawn):
    """A terminal that is cleared, or closed, leaves out what waited."""
    seen, _ = drawn(
        ("add", "a", (1, 10), (2, 10)), ("add", "b", (3, 10)), ("reset", "a"), ("add", "a", (4, 10)), ("forget", "b")
    )
    assert seen == ["a 1 10", "a cleared", "a 4 10"]
