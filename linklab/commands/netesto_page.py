# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto page FOLDER…`: the pages of experiments, made from their folders."""

from __future__ import annotations

import argparse
from pathlib import Path

from linklab.base.text import file_name
from linklab.errors import InputError

_EPILOG = """examples:
  linklab netesto page mine        exp.html of every experiment, ExpList.html, and exp.csv
  linklab netesto page mine/7      of one experiment, and the list and exp.csv of the campaign that ran it

A campaign writes its pages itself; this makes them again from the data sets and counters in its folder.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FOLDER…`."""
    parser.add_argument("folders", metavar="FOLDER", type=Path, nargs="+", help="of a campaign, or of an experiment")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Write the pages and say where they are."""
    from linklab.experiment.trial_list import JOURNAL
    from linklab.netesto.csv_file import experiment_folders
    from linklab.netesto.list_page import LIST
    from linklab.netesto.names import EXPERIMENT, data_file
    from linklab.netesto.page import PAGE
    from linklab.netesto.recorded import read_experiment
    from linklab.netesto.results import process, write_csv

    for folder in args.folders:
        single = (folder / EXPERIMENT).is_file()
        campaign = folder.resolve().parent if single else folder
        found = [folder] if single else experiment_folders(folder)
        ended = [each for each in found if (each / data_file(read_experiment(each).exp)).is_file()]
        if not ended:
            raise InputError(f"{file_name(folder)}: there is no experiment that has ended in this folder")
        for each in ended:
            process(each, campaign)
        if not single or (campaign / JOURNAL).is_file():  # a copied folder may lie anywhere, such as in Downloads
            write_csv(campaign)
        print(file_name(folder / PAGE if single else folder / LIST))
    return 0
