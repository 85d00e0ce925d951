# SPDX-License-Identifier: BSD-3-Clause
"""A lab's page in a real browser, for tests: `linklab lab` as a person starts it, and what a person sees and does."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from linklab import pocket_kernel
from linklab.page import assets

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
GECKODRIVER = shutil.which("geckodriver") or shutil.which("geckodriver", path=str(Path.home() / ".cargo/bin"))
AXE = ROOT / "build/browser/node_modules/axe-core/axe.min.js"
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
"""axe-core's names for the rules of WCAG 2.1, levels A and AA."""
ENTER = "\ue007"
"""WebDriver's code of the key."""
WAIT_S = 30
"""For anything that happens on a machine that has other things to do."""

FIREFOX_CONSOLE = """
const told = Services.console.getMessageArray()
  .filter((one) => one instanceof Ci.nsIScriptError && /^(https?|file):/.test(one.sourceName))
  .map((one) => `${one.sourceName}: ${one.errorMessage}`);
Services.console.reset();
return told;
"""
"""What Firefox's console has of pages, and not of the browser itself; it is empty then."""
FIREFOX_SCHEMES = {
    "dark": ("layout.css.prefers-color-scheme.content-override", 0),
    "light": ("layout.css.prefers-color-scheme.content-override", 1),
}

KIND = os.environ.get("LINKLAB_BROWSER", "chromium")
"""The browser of tests that do not name one: "chromium" or "firefox"."""
if KIND not in ("chromium", "firefox"):
    raise pytest.UsageError(f"LINKLAB_BROWSER={KIND}: the browsers of these tests are chromium and firefox")
WITHOUT_CHROMIUM = "no Chromium with its driver here (make browser)" if CHROMIUM is None or DRIVER is None else ""
WITHOUT_FIREFOX = "no Firefox with its driver here (make firefox)" if FIREFOX is None or GECKODRIVER is None else ""


def lacking() -> str:
    """What these tests need and this machine lacks; "" if all is there."""
    try:
        import selenium  # noqa: F401, PLC0415 - only looked for
    except ImportError:
        return "selenium is not installed (make setup)"
    if without := WITHOUT_FIREFOX if KIND == "firefox" else WITHOUT_CHROMIUM:
        return without
    if pocket_kernel.find() is None:
        return "the pocket kernel is not built (make kernel)"
    return assets.missing()


needs_browser = [pytest.mark.browser, pytest.mark.skipif(bool(lacking()), reason=lacking())]
needs_chromium = pytest.mark.skipif(KIND != "chromium", reason="asks the browser what Firefox's driver does not tell")
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there (make browser)")
in_both = pytest.mark.parametrize(
    "browser",
    [
        pytest.param("chromium", marks=pytest.mark.skipif(bool(WITHOUT_CHROMIUM), reason=WITHOUT_CHROMIUM)),
        pytest.param("firefox", marks=pytest.mark.skipif(bool(WITHOUT_FIREFOX), reason=WITHOUT_FIREFOX)),
    ],
    indirect=True,
)
"""For tests of what browsers do differently: layout, keys, focus, sockets, files; the others run in KIND alone."""


class RunningLab:
    """`linklab lab` in a folder of its own."""

    def __init__(self, lab: str, folder: Path, *options: str) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "linklab", "lab", lab, "--no-browser", *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self.wait_for(r"(http://127\.0\.0\.1:\d+/\?token=\S+)")

    def _read(self) -> None:
        for line in self.process.stdout:
            self.said.append(line)

    def wait_for(self, pattern: str) -> str:
        """Wait until the command has printed this; what the group matched."""
        until_s = time.monotonic() + WAIT_S
        while time.monotonic() < until_s:
            if found := re.search(pattern, "".join(self.said)):
                return found[found.re.groups]
            time.sleep(0.02)
        raise AssertionError(f"{pattern} was not printed, but: {''.join(self.said)}")

    def end(self) -> int:
        """Ctrl+C, and the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


class Browser:
    """A browser that shows a lab's page; kind: "chromium" or "firefox", which takes no options."""

    def __init__(self, width: int = 1280, height: int = 800, *options: str, kind: str = KIND) -> None:
        self.kind = kind
        if kind == "firefox":
            self._start_firefox(width, height)
        else:
            self._start_chromium(width, height, options)

    def _start_firefox(self, width: int, height: int) -> None:
        from selenium import webdriver  # noqa: PLC0415 - not everywhere
        from selenium.webdriver.firefox.service import Service  # noqa: PLC0415 - as above

        given = webdriver.FirefoxOptions()
        given.binary_location = FIREFOX
        given.add_argument("-headless")
        given.enable_bidi = True  # for `before_pages`
        service = Service(GECKODRIVER, service_args=["--allow-system-access"], log_output=subprocess.DEVNULL)
        self.driver = webdriver.Firefox(options=given, service=service)
        self.resize(width, height)

    def _start_chromium(self, width: int, height: int, options: tuple[str, ...]) -> None:
        from selenium import webdriver  # noqa: PLC0415 - not everywhere
        from selenium.webdriver.chrome.service import Service  # noqa: PLC0415 - as above

        given = webdriver.ChromeOptions()
        given.binary_location = CHROMIUM
        for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
            given.add_argument(option)
        for option in options:
            given.add_argument(option)
        given.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=given, service=Service(DRIVER))
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Give the page another size, in CSS pixels."""
        if self.kind == "firefox":
            inside = "return [window.outerWidth - window.innerWidth, window.outerHeight - window.innerHeight]"
            around = self.driver.execute_script(inside)
            self.driver.set_window_size(width + around[0], height + around[1])
            return
        facts = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", facts)

    def before_pages(self, script: str) -> None:
        """Run a script in every page from now on, before the page's own."""
        if self.kind == "firefox":
            self.driver.script.add_preload_script(f"() => {{ {script} }}")
            return
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def prefer(self, scheme: str) -> None:
        """Show the page as to a person who prefers "light" or "dark"."""
        if self.kind == "firefox":
            with self.driver.context("chrome"):
                self.driver.execute_script("Services.prefs.setIntPref(...arguments)", *FIREFOX_SCHEMES[scheme])
            return
        wish = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})

    def open(self, address: str) -> None:
        """Go to the page and wait until its steps have buttons."""
        self.driver.get(address)
        self.until(lambda: self.all(".box .do button"), "the manual has its buttons")

    def all(self, selector: str) -> list:
        """The elements that a selector finds."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str):
        """The element that a selector finds; waits for it."""
        return self.until(lambda: self.all(selector), selector)[0]

    def button(self, text: str, inside: str = "body"):
        """The button with this text or name."""
        path = f'.//button[normalize-space(.)="{text}" or @aria-label="{text}"]'
        found = self.until(lambda: self.one(inside).find_elements("xpath", path), f"a button {text}")
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", found[0])
        return found[0]

    def until(self, true, what: str, seconds: float = WAIT_S):
        """Wait until something holds, and give it; with the page's own words if it does not happen.

        What the page has drawn anew while it was looked at is looked at again.
        """
        from selenium.common.exceptions import StaleElementReferenceException  # noqa: PLC0415 - not everywhere

        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            with contextlib.suppress(StaleElementReferenceException):
                if found := true():
                    return found
            time.sleep(0.05)
        raise AssertionError(f"not seen: {what}; the page: {self.one('body').text[-1500:]}; {self.complaints()}")

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page as it is now, by WCAG 2.1 AA: the rule, and the first element."""
        self.driver.execute_script(AXE.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const [tags, done] = arguments; axe.run(document, {runOnly: tags}).then((all) => done(all.violations));",
            list(WCAG),
        )
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]

    def beyond(self) -> int:
        """How many CSS pixels the page is wider than its window."""
        wide = "const all = document.documentElement; return all.scrollWidth - all.clientWidth"
        return int(self.driver.execute_script(wide))

    def complaints(self) -> list[str]:
        """What the browser complained of since it was last asked, such as a violated policy or an error of a script."""
        if self.kind == "firefox":
            with self.driver.context("chrome"):  # where Firefox's own code runs: pages cannot read its console
                return self.driver.execute_script(FIREFOX_CONSOLE)
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def screen(self) -> str:
        """What the terminal in front shows."""
        rows = self.all(".panel.terminal:not([hidden]) .xterm-rows > div")
        return "\n".join(row.text for row in rows)

    def tabs(self) -> list[str]:
        """The names of the open terminals."""
        return [tab.text for tab in self.all('#terminals [role="tab"]')]

    def keys(self, *keys: str) -> None:
        """Press keys wherever the focus is, all of one call together; the end of a line is Enter in Firefox too."""
        from selenium.webdriver import ActionChains  # noqa: PLC0415 - not everywhere

        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain.key_down(key)
        chain.send_keys(keys[-1].replace("\n", ENTER))
        for key in reversed(keys[:-1]):
            chain.key_up(key)
        chain.perform()

    def focused(self) -> str:
        """The name and the text of the element that has the focus."""
        element = self.driver.switch_to.active_element
        return " ".join(element.get_attribute(name) or "" for name in ("aria-label", "id", "class"))

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()
