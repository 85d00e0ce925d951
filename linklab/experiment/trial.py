# SPDX-License-Identifier: BSD-3-Clause
"""One trial: a test on a path, from its words to its data file.

    expand ─→ place ─→ plan ─→ network, runner inside ─→ collect ─→ derive ─→ NAME.flent.gz

`run_trial` is what batches, sweeps and the viewer call; what decides the outcome is in `Trial` alone.
"""

from __future__ import annotations

import json
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from linklab.base import owned
from linklab.engine.api import Background, Clock, Network, Typed, refuse_failed_commands
from linklab.engine.choice import load_engine
from linklab.errors import EngineError
from linklab.experiment import programs
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.collect import TrialOutcome
from linklab.experiment.early_end import EarlyEnd, NotBegunError
from linklab.experiment.model import Trial, TrialCommand
from linklab.experiment.out_file import file_name, is_file, keep, refuse_unwritable
from linklab.experiment.prepared import Prepared, prepare
from linklab.experiment.result import dataset
from linklab.experiment.trial_inside import Tell, TrialProgress, between_commands, outcome_of, quiet, tell_progress

RUNNER = shlex.join([*programs.own("trial"), "plan.json", "out"])
"""Costs no network time, as everything below /opt/linklab."""
END_FILE = "END"
"""In the folder of outputs: the runner sees it and ends the test (`linklab.agent.trial`)."""
WALL_S = 600.0
WALL_PER_S = 60.0
"""Wall seconds that a trial may take: so many, and so many for each second of network time."""


def run_trial(trial: Trial, out: Path, tell: Tell = quiet, *, raw: Path | None = None) -> Path:
    """Run a trial and write its data file.

    Ctrl+C and SIGUSR1 end the test early and keep what was measured; a second Ctrl+C (KeyboardInterrupt) gives up.

    Args:
        trial: what to run.
        out: the file, or a folder in which it gets a name of its own (`out_file`).
        tell: told how far it is, from any thread.
        raw: a new folder that gets the outputs of all programs.

    Returns:
        The file.

    Raises:
        InputError: the test, its parameters or the path cannot be, or the file cannot be written.
        LinklabError: the network could not be started; see `Engine.start`.
    """
    prepared = prepare(trial)
    refuse_unwritable(out, raw)
    named = is_file(out)
    path = out if named else out / file_name(trial, prepared.expanded)
    tell(TrialProgress("starting the network"))
    try:
        with EarlyEnd() as early:
            found, environment = measure(prepared, early, tell, raw=raw)
            tell(TrialProgress("writing the data"))
            return keep(dataset(prepared, found, environment, path.name), path, named=named)
    except NotBegunError:
        raise EngineError("the test was ended before it had begun, so nothing was measured") from None


def measure(
    prepared: Prepared, early: EarlyEnd, tell: Tell = quiet, *, raw: Path | None = None
) -> tuple[TrialOutcome, dict[str, Any]]:
    """Start the network, run the plan in it, and collect; with the network's environment."""
    trial = prepared.trial
    with owned.temporary("linklab-test-") as made:
        folder = made / "work"
        folder.mkdir()
        (folder / "plan.json").write_text(json.dumps(prepared.plan.data), encoding="utf-8")
        engine = load_engine(trial.engine)
        engine.check()
        refuse_missing(prepared.expanded, trial.engine)
        with engine.start(
            prepared.place.topology,
            workdir=folder,
            clock=Clock(trial.clock),
            seed=trial.seed,
            profile=trial.profile,
            on_stage=lambda stage, network: tell(TrialProgress(stage)),
        ) as network:
            refuse_failed_commands(network)

            def do(command: TrialCommand) -> tuple[int | None, str]:
                done = network.run([Typed(command.node or "client", command.line)])[0]
                return done.exit_status, done.output

            def measured() -> str:
                return _run(network, folder, prepared.expanded.total_s, (early, tell))

            said, ran = between_commands(trial.commands, do, measured, tell)
            environment = dict(network.environment)
        if raw is not None:
            shutil.copytree(folder, raw, dirs_exist_ok=True)
        return outcome_of(prepared, folder / "out", said, ran, tell), environment


def _run(network: Network, work: Path, length_s: float, person: tuple[EarlyEnd, Tell]) -> str:
    """Run the plan and wait; what the runner said."""
    early, tell = person
    said: list[str] = []

    def output(message: dict[str, Any]) -> None:
        if message["terminal"] == "client":
            said.append(message["text"])
            tell_progress(message["text"], tell)

    def end_early() -> None:
        tell(TrialProgress("ending early"))
        # on the virtual clock nothing that comes from outside is noticed in time, but a file is
        (work / "out").mkdir(exist_ok=True)
        (work / "out" / END_FILE).touch()

    network.link.on("output", output)
    network.run([Typed("client", RUNNER, Background())])
    early.begun(end_early)
    with ThreadPoolExecutor(1, "trial") as waiting:
        end = waiting.submit(network.finished, "client", deadline_s=WALL_S + WALL_PER_S * length_s)
        try:
            done = end.result()
        except KeyboardInterrupt:
            network.close()  # or the thread would wait on
            raise
        finally:
            early.ended()
    return "".join(line for line in done.output.splitlines(keepends=True) if not line.startswith("{"))
