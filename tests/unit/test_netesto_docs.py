# SPDX-License-Identifier: BSD-3-Clause
"""docs/netesto.md says of limits and columns what the program does."""

import re
from pathlib import Path

import pytest

from linklab.linux import allowed_settings
from linklab.netesto import limits
from linklab.netesto.fields import OPERATORS, shipped_fields

TEXT = (Path(__file__).parents[2] / "docs" / "netesto.md").read_text(encoding="utf-8")


def documented():
    """Setting → the ranges that the table gives it, or None where it names a thing."""
    found = {}
    for first, values in re.findall(r"^\| (`(?:net\.|tcp_)[^|]*) \| ([^|]*) \|$", TEXT, re.MULTILINE):
        module, colon, listed = first.partition(": ")
        names = re.findall(r"`([^`]+)`", listed if colon else first)
        full = [f"{module.strip('`')}.{name}" if colon else name for name in names]
        parts = re.findall(r"([\d,]*\d) (?:to|or) ([\d,]*\d)", values)
        ranges = [tuple(int(each.replace(",", "")) for each in part) for part in parts]
        buffers = "rmem" in first and "tcp_" in first  # one setting of three values
        for at, name in enumerate(full):
            own = ranges if buffers or len(ranges) <= 1 else ranges[at : at + 1]
            found[name] = tuple(own) or None
    return found


def allowed():
    """The same of the program."""
    rules = dict(allowed_settings.SYSCTLS)
    for module, parameters in allowed_settings.MODULE_PARAMETERS.items():
        rules |= {f"{module}.{name}": rule for name, rule in parameters.items()}
    return {name: getattr(rule, "ranges", None) for name, rule in rules.items()}


def test_the_table_of_settings_is_the_list_that_is_enforced():
    """Every name, with its range."""
    assert documented() == allowed()


@pytest.mark.parametrize(
    "words",
    [
        f"at most {limits.MOST_LOOPS:,} times in total",
        f"at most {limits.MOST_SECONDS // 86_400} days of network time",
        f"At most {limits.MOST_STEPS:,} lines are executed",
        f"at most {limits.MOST_COMMANDS:,} commands",
        f"{limits.MOST_TEXT // 1_000_000} million characters",
        f"An experiment has at most {limits.MOST_FLOWS:,} flows",
        f"a script starts at most {limits.MOST_FLOWS_IN_ALL:,}",
        f"a line has at most {limits.MOST_CHARACTERS:,}",
    ],
)
def test_the_caps_of_a_script_are_those_of_the_program(words):
    """Each with its number."""
    assert words in TEXT


def test_every_operator_and_every_column_of_ours_is_explained():
    """In the tables of exp.csv; groups of columns have an ellipsis."""
    part = TEXT[TEXT.index("### exp.csv") : TEXT.index("### exp.html")]
    named = set(re.findall(r"`([^`]+)`", part))
    assert set(OPERATORS) <= named
    summed = {"p90Latency", "p99Latency"} | {
        field.name for field in shipped_fields() if field.name.startswith("client-")
    }
    assert {field.name for field in shipped_fields()} - named - summed == set()
