# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test run TEST --attach [NETWORK]`: a test on a network that `linklab shell` or the editor runs."""

from __future__ import annotations

import argparse

from linklab.commands import test_run
from linklab.errors import InputError
from linklab.experiment.out_file import refuse_unwritable
from linklab.experiment.outside import Outside
from linklab.experiment.running import ready_on, run_ready
from linklab.terminal.screen import ends_orderly


def run(args: argparse.Namespace) -> int:
    """Run it there, or show what would be run; the network itself stays as it is.

    Raises:
        InputError: a path or topology is given as well, or there is no such network.
    """
    given = [name for name in ("path", "rate", "rtt", "qdisc", "buffer", "topology") if getattr(args, name)]
    if given:
        raise InputError(f"--{given[0]}: the network of --attach runs already, as it is; leave --{given[0]} out")
    if args.raw is not None:
        raise InputError("--raw: what the programs printed is not kept of a network that runs; leave --raw out")
    refuse_unwritable(args.output, near=True)
    with ends_orderly(), test_run.says_what_is_lost(), Outside(args.attach) as door:
        ready = ready_on(test_run.trial_of(args), door)
        test_run.check_plot(args, ready.prepared)
        if args.dry_run:
            for line in test_run.described(ready.prepared):
                print(line)
            return 0
        with test_run.progress(ready.prepared, lines=args.progress == "lines") as tell:
            path = run_ready(ready, args.output, door, tell)
    return test_run.finished(args, path)
