# SPDX-License-Identifier: BSD-3-Clause
"""For all tests: Ctrl+C means Ctrl+C, also where whoever started them ignores it, as a shell does in the background.

Hypothesis judges no test by how long a busy machine takes to make its inputs. A test that starts networks or browsers
is run once more where it fails, since those share the machine with whatever else runs; no test of the windows is, since
they are in the process that would run it again.

What is marked "long" is run with `--long` (`make all-tests`), or where its file is named.
"""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("linklab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("linklab")

WITH_THE_MACHINE = {"pocket", "browser", "hub", "host"}
"""Folders of tests that start programs on the wall's clock, each in a process of its own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """A flag of our own."""
    parser.addoption("--long", action="store_true", help="run the tests that take long, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, and let what shares the machine be run once more."""
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    for item in items:
        if item.get_closest_marker("long") and not config.getoption("--long") and item.path not in named:
            item.add_marker(pytest.mark.skip(reason="takes long (make all-tests)"))
        if Path(item.path).parent.name in WITH_THE_MACHINE:
            item.add_marker(pytest.mark.flaky(reruns=1))
