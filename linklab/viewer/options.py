# SPDX-License-Identifier: BSD-3-Clause
"""What a person asks of plots, as fields of a dialog, as what is remembered, and as `Options` of a figure. Pure.

Remembered is a plain object of JSON with only what was changed: {"legend": "none", "cutoff": [5, 5]}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from linklab.errors import InputError
from linklab.plots.named import Options
from linklab.windows.fields import Field, Page, digits
from linklab.windows.words import Phrase

LEGENDS = (
    ("auto", Phrase("where there is room")),
    ("above", Phrase("above")),
    ("right", Phrase("at the right")),
    ("below", Phrase("below")),
    ("upper left", Phrase("inside, upper left")),
    ("upper right", Phrase("inside, upper right")),
    ("lower left", Phrase("inside, lower left")),
    ("lower right", Phrase("inside, lower right")),
    ("none", Phrase("none")),
)
SCALES = (("0", Phrase("linear")), ("10", Phrase("logarithmic, base 10")), ("2", Phrase("logarithmic, base 2")))
ZERO = (("", Phrase("as the plot has it")), ("1", Phrase("yes")), ("0", Phrase("no")))
GROUPS = (
    ("", Phrase("as the plot has it")),
    ("groups", Phrase("files with one name but for a number")),
    ("groups_points", Phrase("the same, point by point")),
    ("groups_concat", Phrase("the same, all samples together")),
    ("series", Phrase("series")),
    ("both", Phrase("both, by parts of the name")),
    ("batch", Phrase("batches")),
    ("batch_concat", Phrase("batches, all samples together")),
    ("batch_series", Phrase("series of each batch")),
)
TWO = "two numbers, such as 0, 12"
REDUCERS = ("mean", "median", "min", "max", "pct99", "std", "mean_span", "fairness")
ERRORS = (
    ("auto", Phrase("as the plot has it")),
    ("interval", Phrase("95 % interval of the mean")),
    ("sd", Phrase("standard deviation")),
    ("none", Phrase("none")),
)
COLOUR_BY = (("auto", Phrase("as the plot has it")), ("series", Phrase("the series")), ("file", Phrase("the file")))
STYLES = (("screen", Phrase("in colour")), ("print", Phrase("for one column of a paper")), ("grey", Phrase("in grey")))


def _pair(what: str) -> Any:
    """A check of two numbers, with a comma or "to" between them."""

    def check(text: str) -> list[float | None]:
        parts = text.replace(" to ", ",").split(",")
        try:
            values = [float(part) if part.strip() else None for part in parts]
        except ValueError:
            values = []
        if len(values) != 2 or any(value is not None and not math.isfinite(value) for value in values):
            raise InputError(what)
        return values

    return check


def _both(what: str) -> Any:
    """A check of two numbers, neither left out."""
    pair = _pair(what)

    def check(text: str) -> list[float]:
        values = pair(text)
        if None in values:
            raise InputError(what)
        return list(values)

    return check


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


PAGES = (
    Page(
        "What is shown",
        (
            Field("cutoff", "Leave out", "at the beginning and at the end, such as 5, 5", "s",
                  check=_both("two lengths in seconds, such as 5, 5")),
            Field("smoothing", "Smoothing", "samples of a running mean; 0 for none", "samples",
                  check=digits(0, 1_000_000, as_text=False)),
            Field("group_by", "Group by", "of plots that combine several files", kind="choice", choices=GROUPS),
            Field("reduce", "One number", "what stands for a series in bars and combined plots", kind="choice",
                  choices=(("", Phrase("as the plot has it")), *((name, name) for name in REDUCERS))),
            Field("error", "Lines on bars", kind="choice", choices=ERRORS, default="auto"),
            Field("only", "Only these series", "names or patterns, with ; between them: TCP*; Ping*", check=_list),
            Field("hide", "Leave out series", "in the same way", check=_list),
            Field("absolute_time", "Time of day instead of seconds since the start", kind="flag", default="0"),
            Field("concatenate", "Runs one after the other", kind="flag", default="0"),
            Field("subplots", "Each run in a panel of its own", kind="flag", default="0"),
        ),
    ),
    Page(
        "Axes",
        (
            Field("log_y", "Y axis", kind="choice", choices=SCALES, default="0"),
            Field("log_x", "X axis", kind="choice", choices=SCALES, default="0"),
            Field("zero", "Y begins at 0", kind="choice", choices=ZERO),
            Field("scaling", "Scaling", "percentiles of the values that are seen, such as 5, 95; 0, 100 for all", "%",
                  check=_both("two percentiles, such as 5, 95")),
            Field("limits_y", "Y from, to", "such as 0, 12; one of them may be left out", check=_pair(TWO)),
            Field("limits_y2", "Right Y from, to", "of a plot with two axes", check=_pair(TWO)),
            Field("limits_x", "X from, to", "such as 10, 20", check=_pair(TWO)),
            Field("label_y", "Words of the Y axis", "empty for the plot's"),
            Field("label_x", "Words of the X axis", "empty for the plot's"),
            Field("invert", "Latency the other way round, so that better is up or right", kind="flag", default="0"),
        ),
    ),
    Page(
        "Words and looks",
        (
            Field("title", "Title", "empty for the plot's and the run's"),
            Field("no_title", "No title", kind="flag", default="0"),
            Field("legend", "Legend", kind="choice", choices=LEGENDS, default="auto"),
            Field("legend_title", "Title of the legend"),
            Field("labels", "Names of the runs", "in their order, with ; between them", check=_list),
            Field("colour_by", "Colours tell apart", kind="choice", choices=COLOUR_BY, default="auto"),
            Field("style", "Style", kind="choice", choices=STYLES, default="screen"),
            Field("note", "Note at the bottom"),
            Field("annotation", "Say below which test it is and how to read it", kind="flag", default="1"),
            Field("markers", "No markers on lines", kind="flag", default="0"),
        ),
    ),
)  # fmt: skip
"""The dialog; keys are those of what is remembered."""

_FLAGS = ("absolute_time", "concatenate", "subplots", "invert")


def texts_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What is remembered as the dialog's fields show it."""
    shown = dict(chosen)
    for key, value in chosen.items():
        if isinstance(value, list):
            between = "; " if key in ("only", "hide", "labels") else ", "
            parts = ["" if each is None else f"{each:g}" if _is_number(each) else str(each) for each in value]
            shown[key] = between.join(parts)
    return shown


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def options_of(chosen: Mapping[str, Any]) -> Options:
    """The options of a figure.

    Raises:
        InputError: one of them cannot be, or two do not go together.
    """
    given: dict[str, Any] = {key: True for key in _FLAGS if chosen.get(key) == "1"}
    for key in ("group_by", "reduce", "error", "legend", "legend_title", "colour_by", "style", "note", "label_x"):
        if chosen.get(key) not in (None, ""):
            given[key] = chosen[key]
    for key in ("log_x", "log_y"):
        given[key] = int(chosen.get(key, "0"))
    for key in ("only", "hide", "labels"):
        given[key] = tuple(chosen.get(key, ()))
    for key, name in (("cutoff", "cutoff_s"), ("scaling", "scaling")):
        given[name] = tuple(chosen[key]) if chosen.get(key) else None
    given["smoothing"] = chosen.get("smoothing")
    return Options(**given, **_words(chosen), **_limits(chosen), **_looks(chosen))


def _words(chosen: Mapping[str, Any]) -> dict[str, Any]:
    title = "" if chosen.get("no_title") == "1" else chosen.get("title")
    return {"title": title, "labels_y": (chosen["label_y"],) if chosen.get("label_y") else ()}


def _limits(chosen: Mapping[str, Any]) -> dict[str, Any]:
    both = [tuple(chosen.get(key) or (None, None)) for key in ("limits_y", "limits_y2")]
    x = chosen.get("limits_x")
    return {"limits_y": tuple(both), "limits_x": (tuple(x),) if x else ()}


def _looks(chosen: Mapping[str, Any]) -> dict[str, Any]:
    zero = chosen.get("zero")
    return {
        "zero": None if zero in (None, "") else zero == "1",
        "annotation": chosen.get("annotation") != "0",
        "markers": False if chosen.get("markers") == "1" else None,
    }


def sound(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The remembered options, or none if they are not valid: the file may be damaged."""
    known = {field.key for page in PAGES for field in page.fields}
    kept = {key: value for key, value in chosen.items() if key in known}
    try:
        options_of(kept)
    except (InputError, TypeError, ValueError, AttributeError):
        return {}
    return kept


def toggled(chosen: Mapping[str, Any], key: str, on: Any, off: Any = None) -> dict[str, Any]:
    """The options with one of them switched; `off` None removes it."""
    after = dict(chosen)
    if after.get(key, off) == on:
        after.pop(key, None)
        if off is not None:
            after[key] = off
    else:
        after[key] = on
    return after
