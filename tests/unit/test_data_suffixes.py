# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a data file's name ends with: it is read, written, and called by the rest everywhere alike."""

from argparse import Namespace
from pathlib import Path

import pytest

from linklab.commands.flent import sorted_out
from linklab.data import Dataset, open_file, save
from linklab.data.suffixes import SUFFIXES, stem_of
from linklab.errors import InputError
from linklab.experiment.out_file import is_file
from linklab.measure import make_series
from linklab.plots.named import Loaded
from linklab.viewer.runs import names_of


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_ending_is_known_everywhere(tmp_path, suffix):
    """To the command line, to figures, to the viewer, and as a name for what is to be written."""
    path = tmp_path / f"a.flent.b{suffix}"
    data = Dataset({}, {}, {"Ping": make_series("Ping", "ms", [0.0, 1.0], [1.0, 2.0])})
    save(data, path)
    assert open_file(path).series.keys() == {"Ping"}
    assert stem_of(path.name) == Loaded(str(path), data).stem == "a.flent.b"
    assert names_of([path]) == ["a.flent.b"]
    assert is_file(path) and not is_file(Path("runs"))
    with pytest.raises(InputError, match="missing"):  # a file, and no name of a host
        sorted_out(Namespace(hosts=[], inputs=[], words=[f"missing{suffix}"]))
    assert stem_of(suffix) == suffix
