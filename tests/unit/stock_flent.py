"""Stock Flent as an oracle: it reads a file that `linklab.data` wrote, and its numbers are what ours must be.

Without it these tests are skipped; Debian's package flent 2.1 has it. Its own start-up file is never read.
"""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

needs_flent = pytest.mark.skipif(shutil.which("flent") is None, reason="flent is not installed (Debian: flent)")


def flent(*words: str | Path) -> str:
    """What Flent prints for these words, after the line that says its version."""
    command = ["flent", "--rcfile=/dev/null", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("\n")[2]


def table_of(path: Path) -> dict[str, list[float | None]]:
    """Flent's `-f csv` of one file: columns by name, with the times under "x"; None for a gap."""
    rows = list(csv.reader(io.StringIO(flent("-i", path, "-f", "csv"))))
    names = ["x", *rows[0][1:]]
    return {name: [float(row[k]) if row[k] else None for row in rows[1:]] for k, name in enumerate(names)}


def stats_of(path: Path, *words: str) -> dict[str, dict[str, float]]:
    """Flent's `-f stats_csv` of one file, by series; numbers only, and "N" for the data points."""
    rows = csv.DictReader(io.StringIO(flent("-i", path, "-f", "stats_csv", *words)))
    found = {}
    for row in rows:
        numbers = {key: float(text) for key, text in list(row.items())[5:] if text}
        found[row["series"]] = numbers | {"N": float(row["datapoints"])}
    return found


_REDUCE = """
import json, sys
sys.path.insert(0, "/usr/share/flent")
from flent import combiners, resultset
path, cutoff, names, series = json.loads(sys.argv[1])
data = resultset.load(path)
found = {}
for name in names:
    for one in series:
        value = combiners.get_reducer(name, cutoff, [])(data, {"data": one})
        found[name + " " + one] = None if value is None else float(value)
print(json.dumps(found))
"""


def reduced_by_flent(path: Path, names: list[str], series: list[str], cutoff: tuple[float, float] | None) -> dict:
    """What Flent's own reducers give, called "REDUCER SERIES"; most of them are seen in its plots only."""
    asked = json.dumps([str(path), cutoff, names, series])
    done = subprocess.run(
        ["/usr/bin/python3", "-c", _REDUCE, asked], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_COMBINE = """
import json, sys
sys.path.insert(0, "/usr/share/flent")
from flent import combiners, resultset
paths, mode, series, cutoff = json.loads(sys.argv[1])
config = {"series": [{"data": name, "label": name, "combine_mode": how} for name, how in series.items()]}
config.update(plot_name="plot", cutoff=[cutoff[0], -cutoff[1]] if cutoff else None)
made = combiners.new(mode, print_n=True)([resultset.load(path) for path in paths], config)
found = {}
for one in made:
    names = [each["data"] for each in config["series"]]
    found[one.label()] = {name: [float(v) for v in one.series(name) if v is not None] for name in names}
print(json.dumps(found))
"""


def combined_by_flent(
    paths: list[str], mode: str, series: dict[str, str], cutoff: tuple[float, float] | None
) -> dict[str, dict[str, list[float]]]:
    """What Flent's combiner of a mode makes of files: by group the values of each series; `series` has reducers."""
    asked = json.dumps([paths, mode, series, cutoff])
    done = subprocess.run(
        ["/usr/bin/python3", "-c", _COMBINE, asked], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
