# SPDX-License-Identifier: BSD-3-Clause
"""exp.csv of a campaign, from the folders of its experiments."""

import csv
import itertools
import os
import re
import shutil
import subprocess
import sys
from functools import partial

import pytest
from netesto_folders import flow_numbers, flow_series, group, stream_experiment, write_experiment

from linklab.data import Dataset, open_file, save
from linklab.errors import DataError, InputError
from linklab.measure import make_series
from linklab.netesto import names
from linklab.netesto.csv_file import experiment_folders
from linklab.netesto.key_values import read_values
from linklab.netesto.recorded import read_experiment
from linklab.netesto.results import process, write_csv
from linklab.netesto.value_columns import FIXED
from linklab.netesto.values import values_of


def mixed_experiment(campaign, exp=2, **further):
    """A bulk group of h2, and two groups of h3: 1M requests of 60 s and 10K requests of 20 s."""
    groups = [
        group(1, ca="bbr", dur=60.0),
        group(2, names.RR, host="h3", dur=60.0),
        group(3, names.RR, host="h3", dur=20.0, req="10K"),
    ]
    series, numbers = [], {}
    for each, rate in zip(groups, (10.0, 2.0, 1.0), strict=True):
        series += flow_series(each["test"], each["group"], 1, rate=rate, end=0.5 + each["dur"], answers=[1.0, 3.0])
        numbers |= flow_numbers(each["test"], each["group"], 1, seconds=each["dur"])
    return write_experiment(campaign, exp, groups, series, numbers, name="1s2c.mix", **further)


def rows_in(campaign):
    """The rows of exp.csv."""
    with (campaign / "exp.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_one_group_has_one_row_and_several_have_a_row_each(tmp_path):
    """N.0 is first, then come N.1, N.2, and so on."""
    for folder in (stream_experiment(tmp_path), mixed_experiment(tmp_path)):
        process(folder, tmp_path)
    write_csv(tmp_path)
    assert [row["exp"] for row in rows_in(tmp_path)] == ["1.0", "2.0", "2.1", "2.2", "2.3"]


def test_the_row_of_an_experiment_is_made_by_operators(tmp_path):
    """Numbers that can be counted: rates 10, 2 and 1 Mbit/s for 60, 60 and 20 s."""
    process(mixed_experiment(tmp_path, other={"testType": "mix", "netem": "40"}, desc="a, b"), tmp_path)
    write_csv(tmp_path)
    row = rows_in(tmp_path)[0]
    assert row["rate"] == f"{10 + 2 + 1 * 20 / 60:.3f}"
    assert (row["rateMin"], row["rateMax"]) == ("1.000", "10.000")
    assert row["ca"] == "bbr/cubic"
    assert (row["test"], row["host"], row["req"]) == ("TCP_STREAM+...", "h2+...", "1M+...")
    assert (row["dur"], row["instances"], row["reply"]) == ("60+...", "1", "1")
    assert (row["testType"], row["netem"], row["desc"]) == ("mix", "40", "a, b")
    assert (row["minLatency"], row["maxLatency"], row["meanLatency"]) == ("1000.0", "3000.0", "2000.000")
    assert row["localRetrans"] == "15.0"
    assert row["retransPkts%"] == "1.000"
    assert (row["localCpu"], row["adaptive_rx"], row["testNote"]) == ("", "", "")


def test_a_host_with_two_groups_counts_its_packets_once(tmp_path):
    """h2 and h3 sent 1,000 packets each; h3 has two groups."""
    process(mixed_experiment(tmp_path), tmp_path)
    write_csv(tmp_path)
    rows = rows_in(tmp_path)
    assert [row["client-tx-packets"] for row in rows] == ["2000.0", "1000.0", "1000.0", "1000.0"]
    assert rows[0]["client-tx-packet-len"] == "1448.000"


def test_the_header_has_58_columns_and_every_row_as_many_cells(tmp_path):
    """A comma in a description is quoted."""
    process(stream_experiment(tmp_path, desc='commas, "quotes"\nand lines'), tmp_path)
    text = write_csv(tmp_path).read_text()
    assert text.startswith(
        "exp,expName,group,test,testType,testNote,desc,kernel,host,server,instances,instance,ca,dur,"
    )
    assert {len(row) for row in csv.reader(text.splitlines())} == {58}
    assert rows_in(tmp_path)[0]["desc"] == 'commas, "quotes" and lines'


def test_a_cell_is_no_formula(tmp_path):
    """What a script says of itself must not run in a spreadsheet."""
    folder = stream_experiment(tmp_path, desc="=HYPERLINK(1)", name="@x", other={"testNote": "-2+3", "@x()": "1"})
    process(folder, tmp_path)
    (tmp_path / "fields.txt").write_text("desc:one\nexpName:one\ntestNote:one\n@x():one\n")
    assert write_csv(tmp_path).read_text() == "desc,expName,testNote,'@x()\n'=HYPERLINK(1),'@x,'-2+3,1\n"


def test_other_does_not_say_what_was_measured(tmp_path):
    """Columns of the script's flows and of their results stay, in exp.csv as in exp.out; others are as it says."""
    other = {"ca": "X", "dur": "9", "rate": "777", "localCpu": "5", "tso": "off", "ecn": "400/1802", "burst": "3e3"}
    folder = stream_experiment(tmp_path, other=other)
    process(folder, tmp_path)
    (tmp_path / "fields.txt").write_text("".join(f"{name}:one\n" for name in other))
    write_csv(tmp_path)
    row = {"ca": "cubic", "dur": "10", "rate": "12", "localCpu": "", "tso": "on", "ecn": "400/1802", "burst": "3e3"}
    assert rows_in(tmp_path)[0] == row
    texts = read_values(folder / "exp.out.1")
    assert {name: texts[name] for name in row} == row


def test_the_sum_of_an_experiment_with_an_unknown_group_is_unknown(tmp_path):
    """Group 2 gave nothing: the known rate of group 1 is not that of both; group 1's own row has it."""
    groups = [group(1), group(2, host="h3")]
    process(
        write_experiment(tmp_path, 1, groups, flow_series(names.STREAM, 1, 1), flow_numbers(names.STREAM, 1, 1)),
        tmp_path,
    )
    write_csv(tmp_path)
    assert [row["rate"] for row in rows_in(tmp_path)] == ["", "8.000", ""]
    assert [row["localRetrans"] for row in rows_in(tmp_path)] == ["", "5.0", ""]


def test_every_column_that_is_not_others_is_known(tmp_path):
    """What `OTHER` may not fill are the keys of exp.out but those it is for."""
    found = values_of(read_experiment(folder := stream_experiment(tmp_path)), open_file(folder / names.data_file(1)))
    keys = set().union(found.whole, *found.groups.values(), *found.flows.values())
    assert keys == FIXED | {"desc", "ecn", "netem", "qdisc", "bw", "buffers"}


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_order_of_a_set_decides_nothing(tmp_path, seed):
    """The same bytes, and the same complaints, in processes whose sets have other orders."""
    folder = mixed_experiment(tmp_path / "a")
    copied = tmp_path / "b" / "2"
    shutil.copytree(folder, copied)
    process(folder, folder.parent)
    write_csv(folder.parent)
    bad = tmp_path / "bad"
    bad.write_text("DO_CLIENT exp=1 host=h2 server=h1 dur=x delay=x instances=x req=x reply=x ca=! stats=9\n")
    asked = "from linklab.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
    run = partial(subprocess.run, env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}, capture_output=True)
    run([sys.executable, "-c", asked, "netesto", "page", str(copied.parent)], check=True)
    made = []  # but the list, which has the name of its campaign
    for campaign in (folder.parent, copied.parent):
        files = (each for each in campaign.rglob("*") if each.is_file() and each.name != "ExpList.html")
        made.append({each.relative_to(campaign): each.read_bytes() for each in files})
    assert made[0] == made[1]
    done = run([sys.executable, "-c", asked, "netesto", "check", str(bad)], check=False)
    columns = [int(found) for found in re.findall(rb"bad:1:(\d+)", done.stdout + done.stderr)]
    assert len(columns) >= 5
    assert columns == sorted(columns)


@pytest.mark.long
def test_any_order_of_finishing_gives_the_same_bytes(tmp_path):
    """All files of the campaign, not exp.csv alone; experiments stand by number, 10 after 9."""
    found = set()
    for at, order in enumerate(itertools.permutations((1, 9, 10))):
        campaign = tmp_path / str(at) / "c"
        for exp in order:
            process(stream_experiment(campaign, exp), campaign)
        write_csv(campaign)
        files = sorted(each for each in campaign.rglob("*") if each.is_file())
        found.add(tuple((str(each.relative_to(campaign)), each.read_bytes()) for each in files))
        assert [row["exp"] for row in rows_in(campaign)] == ["1.0", "9.0", "10.0"]
    assert len(found) == 1


def test_a_data_set_in_memory_gives_what_its_file_gives(tmp_path):
    """A campaign hands over the data set that it has just written; gaps and all digits are the same in both."""
    found = []
    series = make_series("STREAM 1::1", "Mbits/s", [0.7, 0.9, 1.1], [1 / 3, float("nan"), 2 / 3])
    for name in ("memory", "file"):
        data = Dataset({"kernel": "7.0.1"}, flow_numbers(names.STREAM, 1, 1, octets=1 / 3), {series.name: series})
        folder = write_experiment(tmp_path / name, 1, [group(1)])
        save(data, folder / names.data_file(1))
        process(folder, tmp_path / name, data if name == "memory" else None)
        files = sorted(each for each in folder.rglob("*") if each.is_file())
        found.append([(str(each.relative_to(folder)), each.read_bytes()) for each in files])
    assert found[0] == found[1]


def test_an_experiment_that_has_not_ended_has_no_row(tmp_path):
    """A campaign that goes on is shown as far as it came, and again when it has ended."""
    process(stream_experiment(tmp_path, 1), tmp_path)
    late = stream_experiment(tmp_path, 2)
    (tmp_path / "notes").mkdir()
    write_csv(tmp_path)
    assert [row["exp"] for row in rows_in(tmp_path)] == ["1.0"]
    process(late, tmp_path)
    write_csv(tmp_path)
    assert [row["exp"] for row in rows_in(tmp_path)] == ["1.0", "2.0"]


def test_columns_of_a_persons_own(tmp_path):
    """Any key of exp.out is a column; one that is nowhere is blank."""
    process(mixed_experiment(tmp_path, other={"burst": "3000"}), tmp_path)
    (tmp_path / "fields.txt").write_text("exp:one\nfairness:avg\nnv_pad:avg\nburst:max\ndataSegsOut:sum\n")
    assert write_csv(tmp_path).read_text().splitlines()[:2] == [
        "exp,fairness,nv_pad,burst,dataSegsOut",
        f"2.0,{13**2 / (3 * 105):.3f},,3000,1500.0",
    ]


def test_an_operator_that_does_not_fit_names_the_experiment(tmp_path):
    """An average of hosts' names."""
    process(mixed_experiment(tmp_path), tmp_path)
    (tmp_path / "fields.txt").write_text("host:avg\n")
    with pytest.raises(InputError, match=r"experiment 2: host:avg needs numbers"):
        write_csv(tmp_path)


def test_a_file_of_values_that_is_damaged_is_named(tmp_path):
    """With its line and what to do."""
    folder = stream_experiment(tmp_path)
    process(folder, tmp_path)
    with (folder / "exp.out.1").open("a") as file:
        file.write("what is this\n")
    with pytest.raises(DataError, match=r"exp\.out\.1:\d+: must be KEY = VALUE; .* linklab netesto page"):
        write_csv(tmp_path)


def test_only_numbered_folders_with_a_description_are_experiments(tmp_path):
    """Others may lie beside them."""
    stream_experiment(tmp_path, 3)
    for name in ("4", "x", "٣", "-1"):
        (tmp_path / name).mkdir()
    assert [each.name for each in experiment_folders(tmp_path)] == ["3"]
