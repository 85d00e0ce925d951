"""Run by the system's Python: what stock Flent makes of all its tests with some parameters, as JSON.

argv[1]: {"parameters": {…}, "hosts": […]}. Per test: series → how each is measured, plots → kind, or why it is refused.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/flent")
from flent.testenv import TEST_PATH, TestEnvironment

SETTINGS = {
    "LENGTH": 60, "TOTAL_LENGTH": 60, "DELAY": 5, "STEP_SIZE": 0.2, "IP_VERSION": 4, "ITERATIONS": 1, "DEFAULTS": {},
    "HTTP_GETTER_WORKERS": 4, "SWAP_UPDOWN": False, "LOCAL_BIND": None, "CONTROL_HOST": None, "SEND_SIZE": None,
    "CONTROL_LOCAL_BIND": None, "HTTP_GETTER_URLLIST": None, "HTTP_GETTER_DNS": None, "HTTP_GETTER_TIMEOUT": None,
}  # fmt: skip
KEPT = ("runner", "test", "host", "delay", "length", "marking", "cong_control", "send_size")


def whole(plots: dict, name: str) -> dict:
    """A plot with what it takes from its parent."""
    plot = dict(plots[name])
    parent = plot.pop("parent", None)
    return {**whole(plots, parent), **plot} if parent else plot


def expanded(name: str, asked: dict) -> dict:
    """One test."""
    hosts = list(asked["hosts"])
    given = {"HOSTS": hosts, "HOST": hosts[0], "NAME": name, "TEST_PARAMETERS": dict(asked["parameters"])}
    found = TestEnvironment({**SETTINGS, **given}).execute(str(Path(TEST_PATH, name + ".conf")))
    return {
        "series": {key: {k: one[k] for k in KEPT if one.get(k)} for key, one in found["DATA_SETS"].items()},
        "plots": {key: whole(found["PLOTS"], key)["type"] for key in found["PLOTS"]},
        "plot": found["DEFAULTS"]["PLOT"],
        "total": found["TOTAL_LENGTH"],
    }


def main() -> None:
    """Print all of them."""
    asked = json.loads(sys.argv[1])
    answer = {}
    for file in sorted(Path(TEST_PATH).glob("*.conf")):
        try:
            answer[file.stem] = expanded(file.stem, asked)
        except RuntimeError as error:
            answer[file.stem] = {"refused": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
