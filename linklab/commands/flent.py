# SPDX-License-Identifier: BSD-3-Clause
"""`flent` in a terminal of a network: what Flent's command line asks for, done by Linklab's named tests.

Started by the shim `linklab/agent/shims/flent`. The source of a test is the terminal's own node, the target the node
that owns the address; both are looked for in the network that runs.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import __version__
from linklab.base.text import excerpt, one_line
from linklab.commands import flent_options, flent_output
from linklab.commands.flent_voice import Voice
from linklab.errors import InputError, LinklabError

if TYPE_CHECKING:
    from linklab.experiment.inside import Inside
    from linklab.experiment.model import Trial
    from linklab.experiment.prepared import Prepared
    from linklab.experiment.running import RunningChoice

INTERRUPTED = 128 + signal.SIGINT


@dataclass
class Words:
    """What the words of a command line that belong to no option are."""

    test: str = ""
    hosts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> int:
    """Do it; the exit code: 0, 1 where a series is missing, 2 for what is wrong, 130 for a test that ended early."""
    voice = Voice()
    try:
        args = flent_options.read(sys.argv[1:] if argv is None else argv)
        voice = Voice(quiet=args.quiet, verbose=args.verbose)
        code = run(args, voice)
    except LinklabError as error:
        voice.complain(f"flent: {one_line(str(error))}")
        code = error.exit_code
    except KeyboardInterrupt:
        voice.complain("flent: ended with Ctrl+C before there were data to keep; nothing was written")
        code = INTERRUPTED
    except BrokenPipeError:
        code = 128 + signal.SIGPIPE
    except OSError as error:
        voice.complain(f"flent: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
        code = InputError.exit_code
    with contextlib.suppress(OSError):  # nobody may read any more
        sys.stdout.flush()
        voice.keep()
    return code


def run(args: argparse.Namespace, voice: Voice) -> int:
    """What the options ask for."""
    words = sorted_out(args)
    if args.version:
        voice.say(f"Linklab {__version__}, by the command line of Flent")
        return 0
    if args.list_tests:
        _list_tests()
        return 0
    if args.list_plots:
        _list_plots(args, words)
        return 0
    if args.batch_files or args.batches:
        from linklab.commands import flent_batch

        return flent_batch.run(args, words, voice)
    flent_output.check(args)
    if words.test and words.files:
        raise InputError(f"give a test that is to be run ({words.test}) or files to be read, not both")
    if words.files:
        show(args, [Path(file) for file in words.files], voice)
        return 0
    if not words.test:
        raise InputError("no test is given; flent --list-tests lists them, and flent --help has examples")
    file, code = measure(args, words, voice)
    show(args, [file], voice)
    return code


def sorted_out(args: argparse.Namespace) -> Words:
    """Which word is a file, which the test, and which a host.

    Raises:
        InputError: a data file is not there, or two tests are named.
    """
    from linklab.data.suffixes import SUFFIXES
    from linklab.experiment.test_file import test_names

    found = Words(hosts=list(args.hosts), files=list(args.inputs))
    names = test_names()
    for word in args.words:
        is_test = word in names or word.endswith(".toml") or (word.endswith(".conf") and Path(word).stem in names)
        if word.endswith(SUFFIXES) or (not is_test and Path(word).is_file()):
            found.files.append(word)
        elif is_test and found.test:
            raise InputError(f"two tests are named, {found.test} and {excerpt(word)}; run one after the other")
        elif is_test:
            found.test = word.removesuffix(".conf")
        else:
            found.hosts.append(word)
    for file in found.files:
        if not Path(file).is_file():
            raise InputError(f"{excerpt(file)}: there is no such file")
    strays = found.hosts[len(args.hosts) :]
    if strays and not found.test and not found.files and not (args.batch_files or args.list_plots):
        raise InputError(_neither(strays, names))
    return found


def _neither(words: Sequence[str], names: Sequence[str]) -> str:
    """What to say where none of the words is a test: the one that looks like a test is meant to be it."""
    from difflib import get_close_matches

    near = {word: get_close_matches(word, names, 1, 0.6) for word in words}
    word = next((word for word in words if near[word]), words[0])
    cure = f"did you mean {near[word][0]}?" if near[word] else "flent --list-tests lists the tests"
    return f"{excerpt(word)} is neither a test nor a data file; {cure}"


def _list_tests() -> None:
    from linklab.experiment.test_file import load_test, test_names

    print("Available tests:")
    for test in map(load_test, test_names()):
        print(f"  {test.name:22} :  {f'cannot be run: {test.impossible}' if test.impossible else test.title}")


def _list_plots(args: argparse.Namespace, words: Words) -> None:
    if words.files:
        specs = flent_output.plots_of([flent_output.load(Path(file)) for file in words.files])
    elif words.test:
        specs = flent_output.plots_of_test(words.test, parameters_of(args))
    else:
        raise InputError("--list-plots: of which test or data file? For example: flent --list-plots rrul")
    print("Available plots:")
    for spec in specs:
        print(f"  {spec.name:32} :  {spec.description}")


def show(args: argparse.Namespace, files: Sequence[Path], voice: Voice) -> None:
    """The table, or the figure."""
    figure = flent_output.write(args, files)
    if figure is not None:
        voice.say(f"Plot written to {figure}")
        if args.output == flent_output.STDOUT:
            flent_output.open_outside(figure)


# --- a test


def measure(args: argparse.Namespace, words: Words, voice: Voice) -> tuple[Path, int]:
    """Run the test; its data file and the exit code."""
    from linklab.data import open_file
    from linklab.experiment.inside import Inside
    from linklab.experiment.out_file import refuse_new_parent
    from linklab.experiment.running import WORK, ready_on, run_ready

    trial, choice = trial_of(args, words), choice_of(args)
    refuse_new_parent(args.data_dir)
    args.data_dir.mkdir(exist_ok=True)
    with Inside() as door:
        trial = with_source(trial, args.local_bind, door)
        ready = ready_on(trial, door, voice.progress, choice=choice)
        _check_remote(args.remote_metadata, ready.prepared)
        if flent_output.format_of(args) == "plot" and args.plot:
            flent_output.chosen(args.plot, ready.prepared.expanded.plots, [])
        _describe(ready.prepared, voice)
        file = run_ready(ready, args.data_dir, door, voice.progress)
    voice.say(f"Data file written to {file}")
    if not file.resolve().is_relative_to(WORK) and Path(WORK).is_dir():
        voice.complain(f"flent: {file.parent} ends with the network; only what lies in {WORK} stays")
    data = open_file(file)
    for name, why in data.metadata.get("failed", {}).items():
        voice.complain(f"missing: {name}: {why}")
    for note in data.notes:
        voice.say(f"Note: {note}")
    if args.log_file is not None:
        voice.log = Path(args.log_file or f"{file.name.partition('.flent')[0]}.log")
    early = data.metadata.get("ended") == "early"
    return file, INTERRUPTED if early else 1 if data.metadata.get("failed") else 0


def trial_of(args: argparse.Namespace, words: Words) -> Trial:
    """What to run."""
    from linklab.experiment.model import Trial

    return Trial(
        test=words.test,
        targets=tuple(words.hosts),
        parameters=parameters_of(args),
        length_s=args.length,
        step_s=args.step_size,
        title=args.title_extra,
        note=args.note,
    )


def parameters_of(args: argparse.Namespace) -> dict[str, str]:
    """The parameters of the test; Flent's keys are small letters."""
    from linklab.commands.test_show import given

    found = {key.lower(): value for key, value in given(args.parameters).items()}
    if args.marking_name:
        found["marking_names"] = ",".join(filter(None, [found.get("marking_names", ""), *args.marking_name]))
    return found


def choice_of(args: argparse.Namespace) -> RunningChoice:
    """What else the options ask of the flows."""
    from linklab.experiment.running import RunningChoice

    sizes = [size for words in args.send_size for size in words.split(",")]
    for size in sizes:
        if not size.isdecimal() or not 1 <= int(size) <= 1 << 20:
            raise InputError(f"--send-size {excerpt(size)}: give bytes, from 1 to 1,048,576")
    probe_ms = args.irtt_sampling_interval
    if probe_ms is not None and not 1 <= probe_ms <= 1e6:
        raise InputError(f"--irtt-sampling-interval {probe_ms:g}: give milliseconds, at least 1")
    return RunningChoice(
        version=args.version_ip,
        swap=args.swap_up_down,
        send_bytes=tuple(map(int, sizes)),
        probe_s=None if probe_ms is None else probe_ms / 1e3,
        delay_s=args.delay,
        private=args.extended_metadata,
    )


def with_source(trial: Trial, binds: Sequence[str], door: Inside) -> Trial:
    """The trial from this terminal's node; where that is none, or at will, from the one that is named.

    Names are looked up here, where the terminal's own resolver answers.

    Raises:
        InputError: several are named.
    """
    from dataclasses import replace

    if len(set(binds)) > 1:
        raise InputError(f"--local-bind: one node sends here, not {len(set(binds))}; give one")
    targets = tuple(map(door.address_of, trial.targets))
    return replace(trial, source=door.address_of(next(iter(binds), door.node)), targets=targets)


def _describe(ready: Prepared, voice: Voice) -> None:
    from linklab.commands.test_run import described

    place = ready.place
    targets = ", ".join(dict.fromkeys(place.targets))
    voice.say(f"{ready.expanded.name} from {place.source} to {targets}, {ready.expanded.total_s:g} s of network time")
    for line in described(ready):
        voice.detail(f"  {line}")


def _check_remote(nodes: Sequence[str], ready: Prepared) -> None:
    on_path = dict.fromkeys([*(port.node for port in ready.place.ports), *ready.place.targets])
    for node in nodes:
        if node not in on_path:
            raise InputError(
                f"--remote-metadata {excerpt(node)}: this node is not on the path; "
                f"the metadata of {', '.join(on_path)} are kept anyway"
            )


if __name__ == "__main__":
    sys.exit(main())
