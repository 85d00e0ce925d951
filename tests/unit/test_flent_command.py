# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `flent`: which word is what, what each option asks for, and what is refused in a sentence."""

import argparse
from pathlib import Path

import pytest

from linklab.commands import flent, flent_options, flent_output
from linklab.errors import InputError

FLENT_2_1_1 = """
-4 -6 -B -D -H -I -L -S -V -b -d -f -h -i -l -n -o -p -q -r -s -t -v -x -z --absolute-time --batch --batch-dry-run
--batch-file --batch-no-shuffle --batch-no-timestamp --batch-override --batch-repetitions --batch-resume --batch-title
--batch-verbose --bounds-x --bounds-y --cache-file --colours --combine-save-dir --concatenate --control-host
--control-local-bind --data-cutoff --data-dir --debug-error --delay --ditg-control-port --ditg-control-secret
--extended-metadata --fallback-layout --fig-dpi --fig-height --fig-note --fig-width --figure-dpi --figure-height
--figure-note --figure-width --filter-legend --filter-regexp --filter-series --format --gui --gui-no-defer --help
--horizontal-legend --host --http-getter-dns-servers --http-getter-timeout --http-getter-urllist --http-getter-workers
--input --invert-latency-y --ipv4 --ipv6 --irtt-sampling-interval --label-x --label-y --legend-columns
--legend-placement --legend-title --length --list-plots --list-tests --local-bind --log-file --log-scale-y
--marking-name --netperf-control-port --new-gui-instance --no-annotation --no-hover-highlight --no-labels --no-legend
--no-markers --no-matplotlibrc --no-print-n --no-title --norm-factor --note --output --override-colour-mode
--override-group-by --override-label --override-title --plot --quiet --rcfile --remote-host --remote-metadata
--replace-legend --reverse-legend --scale-data --scale-mode --send-size --skip-missing-series --socket-stats
--socket-timeout --split-group --step-size --subplot-combine --swap-up-down --test-parameter --test-payload
--title-extra --verbose --version --zero-y
"""
"""The options that `flent --help` of the distribution lists."""

TUTORIAL = "rrul -p all_scaled -l 60 -H 10.0.0.2 -t text-to-be-included-in-plot -o file.png"


def read(line: str) -> argparse.Namespace:
    """The options of a line without quotes."""
    return flent_options.read(line.split())


def test_every_option_of_flent_is_known():
    """None is taken for a spelling mistake: each is obeyed, or refused for a reason of its own."""
    assert set(FLENT_2_1_1.split()) - set(flent_options.parser()._option_string_actions) == set()


def test_the_line_of_the_tutorials():
    """Words and options mix in any order."""
    args = read(TUTORIAL)
    words = flent.sorted_out(args)
    assert (words.test, words.hosts, words.files) == ("rrul", ["10.0.0.2"], [])
    assert (args.length, args.plot, args.output, args.title_extra) == (
        60.0,
        "all_scaled",
        "file.png",
        "text-to-be-included-in-plot",
    )
    assert flent_output.format_of(args) == "plot"


def test_a_word_is_a_file_a_test_or_a_host(tmp_path, monkeypatch):
    """As Flent guesses, and a test may be given with Flent's suffix."""
    monkeypatch.chdir(tmp_path)
    Path("run.flent.gz").touch()
    words = flent.sorted_out(read("h3 tcp_nup.conf -H h2"))
    assert (words.test, words.hosts) == ("tcp_nup", ["h2", "h3"])
    assert flent.sorted_out(read("run.flent.gz -i run.flent.gz")).files == ["run.flent.gz", "run.flent.gz"]
    with pytest.raises(InputError, match=r"gone\.flent\.gz: there is no such file"):
        flent.sorted_out(read("gone.flent.gz"))
    with pytest.raises(InputError, match="rruI is neither a test nor a data file; did you mean rrul"):
        flent.sorted_out(read("rruI"))
    for line in ("rrull -H h2", "-H h2 rrull", "h2 rrull"):
        with pytest.raises(InputError, match=r"^rrull is neither a test nor a data file; did you mean rrul"):
            flent.sorted_out(read(line))
    with pytest.raises(InputError, match=r"^h2 is neither a test nor a data file; flent --list-tests lists the tests"):
        flent.sorted_out(read("h2 -H h3"))
    assert flent.sorted_out(read("-H h2")).test == ""
    with pytest.raises(InputError, match="two tests are named, rrul and ping"):
        flent.sorted_out(read("rrul ping -H h2"))


@pytest.mark.parametrize("option", flent_options.REFUSED)
def test_what_makes_no_sense_is_refused_by_its_name(option):
    """With what to do instead, whether its value is there or not."""
    name, *value = option.split()
    with pytest.raises(InputError, match=rf"{name}: .{{20,}}"):
        flent_options.read(["rrul", name, *("1" for word in value if not word.startswith("-"))])


def test_the_options_of_a_test_become_a_trial():
    """Parameters of both spellings, a marking of one's own, and what is asked of the flows."""
    line = "tcp_nup -H h2 -H h3 -l 5 -s 0.1 -d 2 -6 -n why --test-parameter Upload_Streams=2 --swap-up-down"
    args = read(f"{line} --send-size 1000,2000 --irtt-sampling-interval 10 --marking-name VIDEO=0x88 -x")
    trial = flent.trial_of(args, flent.sorted_out(args))
    assert (trial.test, trial.targets, trial.length_s, trial.step_s, trial.note) == (
        "tcp_nup",
        ("h2", "h3"),
        5,
        0.1,
        "why",
    )
    assert trial.parameters == {"upload_streams": "2", "marking_names": "VIDEO=0x88"}
    choice = flent.choice_of(args)
    assert (choice.version, choice.swap, choice.send_bytes, choice.probe_s, choice.delay_s, choice.private) == (
        6,
        True,
        (1000, 2000),
        0.01,
        2,
        True,
    )
    with pytest.raises(InputError, match="--send-size x"):
        flent.choice_of(read("rrul --send-size x"))
    with pytest.raises(InputError, match='"upload_streams" is not a parameter; write KEY=VALUE'):
        flent.parameters_of(read("rrul --test-parameter upload_streams"))


def test_the_options_of_a_plot_become_those_of_a_figure():
    """A kept part of the data is what is left out at both ends, and one side of the figure gives the other."""
    line = "x -z -I --no-title --data-cutoff 5,60 --bounds-y 2, --bounds-y 9 --fig-width 9 --no-legend --no-markers"
    options = flent_output.options_of(read(f"{line} --replace-legend TCP=T --colours red,blue --norm-factor 2"), 70.0)
    assert (options.zero, options.invert, options.markers) == (True, True, False)
    assert (options.title, options.legend) == ("", "none")
    assert options.cutoff_s == (5.0, 10.0)
    assert options.limits_y == ((2.0, None), (None, 9.0))
    assert options.size_in == (9.0, 6.0)
    assert (options.replace, options.colours, options.normalise) == ({"TCP": "T"}, ("red", "blue"), (2.0,))
    assert flent_output.options_of(read("x"), 70.0) == flent_output.options_of(read("y"), 0.0)


def test_what_cannot_be_written_is_refused_before_anything_is_measured():
    """Neither a figure of an unknown kind nor wrong limits wait until the test has ended."""
    with pytest.raises(InputError, match=r"-o x\.gif: a plot can be written as \.png, \.svg, \.pdf"):
        flent_output.check(read("rrul -p all -o x.gif"))
    with pytest.raises(InputError, match="--bounds-x a"):
        flent_output.check(read("rrul -p all --bounds-x a"))
    flent_output.check(read("rrul -o table.txt"))
    for options in ("-o gone/table.txt", "-p all -o gone/a.png", "-L gone/log"):
        with pytest.raises(InputError, match=r"gone/.*: cannot be written: there is no folder gone"):
            flent_output.check(read(f"rrul {options}"))


def test_outside_of_a_network_it_says_where_to_go(capsys, monkeypatch):
    """Every error is a sentence on standard error, with the exit code of a wrong argument."""
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    assert flent.main(["rrul", "-H", "h2"]) == 2
    assert capsys.readouterr().err == (
        "flent: this is no terminal of a network; on your machine the command is linklab test run\n"
    )
    assert flent.main(["--nonsense"]) == 2
    assert "unrecognized arguments: --nonsense; flent --help" in capsys.readouterr().err
    assert flent.main(["--list-tests"]) == 0
    assert "  rrul  " in capsys.readouterr().out
    assert flent.main(["--list-plots", "rrul"]) == 0
    assert "  all_scaled  " in capsys.readouterr().out


def test_options_of_the_test_lie_over_every_batch():
    """As --batch-override has it."""
    args = read("-B x --batch-override Hosts=h2 --batch-repetitions 3 --batch-title t -l 10")
    assert flent_options.batch_overrides(args) == {
        "hosts": "h2",
        "repetitions": "3",
        "batch_title": "t",
        "length": "10",
    }


@pytest.mark.parametrize(
    ("line", "code", "why"),
    [
        ("test_name = tcp_1up\nlength = 3", 0, ""),
        ("test_name = tcp_1upp", 2, 'flent: b: repetition 01: there is no test "tcp_1upp"'),
        ("test_name = tcp_nup\ntest_parameters = cc_algos=cubci", 4, "flent: b: repetition 01: tcp_nup needs the"),
    ],
)
def test_a_dry_run_of_a_batch_refuses_what_cannot_be(line, code, why, tmp_path, capsys):
    """As `linklab batch` does; what would be run is shown with its test and where."""
    file = tmp_path / "a.batch"
    file.write_text(f"[Batch::b]\n{line}\n")
    assert flent.main(["-B", str(file), "-b", "b", "--batch-dry-run"]) == code
    said = capsys.readouterr()
    assert said.err.startswith(why)
    if not code:
        assert said.out == "would run b: repetition 01 → b-01.flent.gz\n    tcp_1up on this network, 3 s, seed 1\n"
