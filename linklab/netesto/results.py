# SPDX-License-Identifier: BSD-3-Clause
"""What comes out of an experiment's folder, and of a campaign's: files of values, pages, and exp.csv.

`process` is called when an experiment has ended, in any order and several at once; `write_csv` when the campaign has,
or whenever its table is wanted. Both only read what is in the folders, so they can be called again at any time.
"""

from __future__ import annotations

from pathlib import Path

from linklab.data import Dataset, open_file
from linklab.netesto import csv_file, names
from linklab.netesto.graphs import draw_graphs
from linklab.netesto.key_values import WHOLE, of_flow, of_group, write_values
from linklab.netesto.list_page import write_list
from linklab.netesto.page import write_page
from linklab.netesto.recorded import read_experiment
from linklab.netesto.values import values_of


def process(folder: Path, campaign: Path, data: Dataset | None = None) -> None:
    """Make the files of values and the page of an experiment from its description, data set, and counters.

    Args:
        folder: of the experiment, with experiment.json and the data set.
        campaign: the folder above it.
        data: its data set, where the caller still has it; reading one of hundreds of flows takes seconds.

    Raises:
        DataError: a file of the folder is missing or cannot be read.
        InputError: a file cannot be written.
    """
    recorded = read_experiment(folder)
    data = data or open_file(folder / names.data_file(recorded.exp))
    found = values_of(recorded, data)
    for (group, instance), values in found.flows.items():
        write_values(folder / of_flow(group, instance), values)
    for group, values in found.groups.items():
        write_values(folder / of_group(group), values)
    write_page(recorded, data, found, draw_graphs(recorded, data))
    write_values(folder / WHOLE, found.whole)  # last: an experiment that has it is done


def write_csv(campaign: Path) -> Path:
    """Make exp.csv and the list of experiments anew from the folders of those that have ended; the path of exp.csv.

    Raises:
        DataError: a file of a folder cannot be read.
        InputError: fields.txt has mistakes or does not fit, or a file cannot be written.
    """
    path = csv_file.write_csv(campaign)
    write_list(campaign)
    return path
