# SPDX-License-Identifier: BSD-3-Clause
"""The lab page's figures: start until it can be used, a key to its echo, an idle page, floods, an hour of network time.

In a real Chromium without a window, as tests/browser use it. `python tools/bench_page.py [NAME]…` prints them; `LONG`
gives rows (what, asked, found, ok) to tools/bench.py, where they are measured by name on a quiet machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/browser"))
if TYPE_CHECKING:
    from browsing import Browser
    from lab_student import LabStudent

LAB = "14"
STARTS, KEYS, IDLE_S, FLOODS, FLOOD_S, PAUSES = 5, 200, 20, 8, 15, 10
HOUR_S = 3600
HOUR_WALL_S = 1200
Row = tuple[str, str, str, bool]
BUSY = "yes 'all work and no play makes a dull network'"
FRONT = ".panel.terminal:not([hidden])"
ECHO = """
const done = arguments[arguments.length - 1], rows = document.querySelector('{front} .xterm-rows');
const area = document.querySelector('{front} .xterm-helper-textarea');
const before = rows.textContent.split('§').length, begun = performance.now();
const look = new MutationObserver(() => {
  if (rows.textContent.split('§').length === before) return;
  look.disconnect();
  done(performance.now() - begun);
});
look.observe(rows, {childList: true, characterData: true, subtree: true});
area.focus();
area.value = '§';
area.dispatchEvent(new InputEvent('input', {data: '§', inputType: 'insertText', bubbles: true, composed: true}));
""".replace("{front}", FRONT)
"""Types a letter where xterm.js takes letters, and gives the milliseconds until a row that holds it is drawn."""


@contextlib.contextmanager
def begun() -> Iterator[LabStudent]:
    """A lab on its page with somebody at it (LabStudent), with one terminal of the Client's."""
    from browsing import Browser, RunningLab  # noqa: PLC0415 - selenium is not everywhere
    from lab_student import LabStudent  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as work:
        page = Browser(1280, 800)
        running = None
        try:
            running = RunningLab(LAB, Path(work))
            student = LabStudent(running, page)
            student.goes_to("client")
            yield student
        finally:
            page.close()
            if running is not None:
                running.end()


def types(page: Browser, text: str) -> None:
    """Type into the terminal in front."""
    page.one(f"{FRONT} .xterm-helper-textarea").send_keys(text)


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found, new = set(), {pid}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in new} - found
    return sorted(found)


def cpu_s(pids: list[int]) -> float:
    """Processor time of processes, seconds; one that has ended counts nothing."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Resident memory of one process, MB (proc(5), VmRSS)."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def heap_mb(page: Browser) -> float:
    """JavaScript's heap of the page after its garbage was collected, MB."""
    page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return float(page.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]) / 1e6


def start() -> list[Row]:
    """From the command to its address, and to a page with buttons whose network runs; the browser is there already."""
    from browsing import Browser, RunningLab  # noqa: PLC0415 - selenium is not everywhere

    addresses, usable = [], []
    page = Browser(1280, 800)
    try:
        for _ in range(STARTS):
            with tempfile.TemporaryDirectory(prefix="linklab-bench-") as work:
                start_s = time.monotonic()
                running = RunningLab(LAB, Path(work))
                addresses.append(time.monotonic() - start_s)
                try:
                    page.open(running.address)
                    page.until(lambda: page.all("#which-node option"), "the nodes")
                    usable.append(time.monotonic() - start_s)
                finally:
                    running.end()
    finally:
        page.close()
    address, ready = statistics.median(addresses), statistics.median(usable)
    return [
        ("page, `linklab lab 14` until its address is printed", "at most 1 s", f"{address:.2f} s", address <= 1),
        (
            "page, until its steps have buttons and terminals can be opened",
            "under 3 s",
            f"{ready:.2f} s (at most {max(usable):.2f} s)",
            ready < 3,
        ),
    ]


def echo() -> list[Row]:
    """From a key to its echo on the screen, at 1x."""
    with begun() as student:
        page, times = student.page, []
        for number in range(KEYS):
            times.append(float(page.driver.execute_async_script(ECHO)))
            if number % 40 == 39:
                types(page, "\ue009c\ue000")  # Ctrl+C: a new line
                time.sleep(0.2)
        late = statistics.quantiles(times, n=20)[-1]
    found = f"{late:.1f} ms (median {statistics.median(times):.1f}, longest {max(times):.1f})"
    return [("page, key to echo on the screen at 1x, 95 of 100", "within 50 ms", found, late <= 50)]


def idle() -> list[Row]:
    """A page that nobody uses: its server, the pocket, and the browser."""
    with begun() as student:
        running, page = student.running, student.page
        time.sleep(3)
        lab, browser = family(running.process.pid), family(page.driver.service.process.pid)
        server = [running.process.pid]
        before = [cpu_s(server), cpu_s(lab), cpu_s(browser)]
        time.sleep(IDLE_S)
        server_s, lab_s, browser_s = (
            now - then for now, then in zip([cpu_s(server), cpu_s(lab), cpu_s(browser)], before, strict=True)
        )
    return [
        ("page, idle, its server", "under 3 % of a core", f"{server_s / IDLE_S:.1%}", server_s < 0.03 * IDLE_S),
        ("page, idle, the browser", "under 3 % of a core", f"{browser_s / IDLE_S:.1%}", browser_s < 0.03 * IDLE_S),
        (
            "page, idle, the network that it shows",
            "under 5 % of a core",
            f"{(lab_s - server_s) / IDLE_S:.1%}",
            lab_s - server_s < 0.05 * IDLE_S,
        ),
    ]


def floods() -> list[Row]:
    """Eight terminals that print without end: how long the page's thread is held, an answer takes, and a key needs."""
    with begun() as student:
        running, page = student.running, student.page
        for number in range(FLOODS):
            if number:
                page.button("New terminal").click()
                page.until(lambda: "root@client" in student.screen() and "dull" not in student.screen(), "the prompt")
            types(page, f"{BUSY}\n")
            page.until(lambda: student.screen().count("dull") > 5, "the flood")
        page.driver.execute_script(
            "window.held = 0; let last = performance.now(); const look = () => { const now = performance.now();"
            " window.held = Math.max(window.held, now - last); last = now; setTimeout(look, 5); }; look();"
        )
        page.driver.execute_script("window.held = 0")
        begin_s, clock = time.monotonic(), network_time(page)
        time.sleep(FLOOD_S)
        went = (network_time(page) - clock) / (time.monotonic() - begin_s)
        waits = []
        for _ in range(PAUSES):
            asked_s = time.monotonic()
            page.button("Pause", "#clock").click()
            page.button("Resume", "#clock").click()
            page.button("Pause", "#clock")
            waits.append(time.monotonic() - asked_s)
        held = float(page.driver.execute_script("return window.held")) / 1000
        memory = resident_mb(running.process.pid)
        asked_s = time.monotonic()
        types(page, "\ue009c\ue000")
        page.until(lambda: student.screen().rstrip().endswith("#"), "the prompt after Ctrl+C")
        stopped = time.monotonic() - asked_s
    wait = max(waits)
    return [
        (
            f"page, {FLOODS} terminals that print without end, longest freeze",
            "under 0.5 s",
            f"{held:.2f} s",
            held < 0.5,
        ),
        ("page, the same, pausing and resuming time", "under 2 s", f"{wait:.2f} s at most", wait < 2),
        ("page, the same, Ctrl+C until the prompt", "under 2 s", f"{stopped:.2f} s", stopped < 2),
        ("page, the same, the network's time", "goes on", f"{went:.0%} of the clock on the wall", went > 0.2),
        ("page, the same, memory of its server", "at most 300 MB", f"{memory:.0f} MB", memory <= 300),
    ]


def network_time(page: Browser) -> float:
    """What the clock in the page's head shows, seconds."""
    return float(page.until(lambda: page.one("#clock output").text, "the clock").partition(" ")[0])


def hour() -> list[Row]:
    """A page that is left for an hour of network time, with a ping a second, plots, and packets open."""
    with begun() as student:
        running, page = student.running, student.page
        student.types("client", "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms")
        page.one("#tab-plots").click()
        student.types("h1", "ping 10.0.0.3", ends=False)
        page.until(lambda: "icmp_seq=3" in student.screen(), "replies")
        page.until(lambda: page.all("#picture-plots figure"), "plots")
        student.goes_to("client")
        before = resident_mb(running.process.pid), heap_mb(page)
        begun_at, begin_s = network_time(page), time.monotonic()
        cpu = cpu_s([running.process.pid])
        browser = family(page.driver.service.process.pid)
        browser_cpu = cpu_s(browser)
        types(page, f"sleep {HOUR_S}; echo over-$((20 + 2))\n")
        page.button("Fast-forward", "#clock").click()
        page.until(lambda: "over-22" in student.screen(), "the end of the hour", HOUR_WALL_S)
        wall = time.monotonic() - begin_s
        page.until(lambda: network_time(page) - begun_at >= HOUR_S, "an hour on the page's clock")
        cpu, browser_cpu = cpu_s([running.process.pid]) - cpu, cpu_s(browser) - browser_cpu
        page.until(lambda: page.one("#clock select").get_attribute("value") == "1", "the speed as before")
        after = resident_mb(running.process.pid), heap_mb(page)
        types(page, "echo still-$((40 + 2))\n")
        page.until(lambda: "still-42" in student.screen(), "that the terminal works")
        complaints = page.complaints()
    server, heap = after[0] - before[0], after[1] - before[1]
    return [
        ("page, an hour of network time with a ping a second and plots", "done", f"{wall:.0f} s", not complaints),
        ("page, the same, processor time of its server", "reported", f"{cpu:.1f} s", True),
        ("page, the same, processor time of the browser", "reported", f"{browser_cpu:.1f} s", True),
        (
            "page, the same, what the server's memory grew by",
            "at most 50 MB",
            f"{server:.0f} MB, to {after[0]:.0f} MB",
            server <= 50,
        ),
        (
            "page, the same, what the heap of its JavaScript grew by",
            "at most 30 MB",
            f"{heap:.1f} MB, to {after[1]:.1f} MB",
            heap <= 30,
        ),
    ]


LONG: dict[str, Callable[[], list[Row]]] = {
    "page-start": start,
    "page-echo": echo,
    "page-idle": idle,
    "page-floods": floods,
    "page-hour": hour,
}


def main(names: list[str]) -> int:
    """Print what is asked for; exit 1 if a figure misses what is asked of it."""
    good = True
    for name in names or LONG:
        for what, asked, found, ok in LONG[name]():
            print(f"{'ok ' if ok else 'NO '} {what}: {found} (asked: {asked})", flush=True)
            good &= ok
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
