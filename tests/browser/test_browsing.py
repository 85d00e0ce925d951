# SPDX-License-Identifier: BSD-3-Clause
"""What the other tests here rely on: that a browser is the one asked for, and says what is wrong with a page."""

from browsing import in_both, needs_browser

pytestmark = needs_browser
WRONG = """<!DOCTYPE html><html lang="en"><title>Wrong</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'self' 'unsafe-inline'">
<script>document.title = navigator.userAgent</script>
<p style="color: red">A style that the policy does not allow</p>
<script>notDefined()</script>
"""


@in_both
def test_a_browser_says_what_is_wrong_with_a_page(browser, tmp_path):
    """A violated policy and an error of a script, each of them once."""
    (tmp_path / "wrong.html").write_text(WRONG)
    page = browser()
    page.driver.get((tmp_path / "wrong.html").as_uri())
    assert page.kind in page.driver.title.lower().replace("chrome/", "chromium/")
    told = []

    def both():
        told.extend(page.complaints())
        return len(told) == 2

    page.until(both, "two complaints")
    assert [one for one in told if "Content" in one and "style" in one]
    assert [one for one in told if "notDefined" in one]
    assert page.complaints() == []
