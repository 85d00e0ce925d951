# SPDX-License-Identifier: BSD-3-Clause
"""Text of strangers before it is shown."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base import text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\x9bb\x7f\0", "a\\x9bb\\x7f\\x00"),
        ("gpj\u202egnp.exe", "gpj\\u202egnp.exe"),
        ("An\u200bna\u2060\ufeff\xad\u3164", "An\\u200bna\\u2060\\ufeff\\xad\\u3164"),
        ("flag\U000e0067", "flag\\U000e0067"),
        ("half \udcff", "half \\udcff"),
        ("progress\rdone\r\nnext\tline\n", "progress\\rdone\nnext\tline\n"),
        (
            "Zoë, 20 µs, \u200cنیم‌فاصله, 👩‍💻, ❤\ufe0f, \u200fשלום, a\u00a0b",
            "Zoë, 20 µs, \u200cنیم‌فاصله, 👩‍💻, ❤\ufe0f, \u200fשלום, a\u00a0b",
        ),
    ],
)
def test_what_would_be_obeyed_is_spelt_out(given, shown):
    """And letters of every script stay, with the joiners that they need."""
    assert text.visible(given) == shown


def test_a_cell_has_one_line():
    """Line ends and tabs become a blank in running text, and are spelt out where every character counts."""
    assert text.one_line(" two\r\nlines\tand\x1bmore ") == "two lines and\\x1bmore"
    assert text.visible("a\nb", keep="") == "a\\nb"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\n", "\uff1d"])
def test_no_cell_is_a_formula(start):
    """Whatever a spreadsheet may take for the beginning of one."""
    assert text.csv_cell(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"
    assert text.csv_cell(f"a{start}b") == f"a{start}b"
    assert text.csv_cell(f"{start}1+A1").startswith("'")


@pytest.mark.parametrize("number", ["-1.5", "+2", "-3e-05", "-.5", "-inf", "7"])
def test_a_number_is_no_formula(number):
    """Programs that read the table take it as it is."""
    assert text.csv_cell(number) == number


@pytest.mark.parametrize("separator", [";", "\n"])
def test_what_a_spreadsheet_with_decimal_commas_splits_off_is_no_formula_either(separator):
    """Regression: there a file called "x;=1+1.zip" was two cells, the second a formula."""
    assert text.csv_cell(f"x{separator}=1+1.zip") == f"x{separator}'=1+1.zip"
    assert text.csv_cell(f"=x{separator}@a{separator}b") == f"'=x{separator}'@a{separator}b"
    assert text.csv_cell(f"x{separator}-1.5{separator} -y") == f"x{separator}-1.5{separator} -y"


@given(st.text(alphabet=st.characters(), max_size=40))
def test_xml_takes_everything_that_is_visible(anything):
    """Whatever was in it, a reader of XML 1.0 reads it back."""
    element = ElementTree.Element("a", b=text.visible(anything))
    element.text = text.visible(anything)
    read = ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode"))  # noqa: S314 - our own
    assert (read.text or "") == text.visible(anything)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in read.text or "")
