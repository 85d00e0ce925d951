# SPDX-License-Identifier: BSD-3-Clause
"""Named tests, trials, batches and sweeps: what is measured, on which path, how often.

    test (TOML) + parameters ─→ flows ─→ plan (JSON) ─→ runner inside ─→ raw outputs ─→ data set ─→ tables, plots

A test is data (`model.NamedTest`); with its parameters it becomes flows (`expand`), on a path (`path`) programs and
samplers (`plan`), which `linklab.agent.trial` runs inside a network, whatever the engine and the clock. What they left
becomes one data set (`collect`). Batches and sweeps are lists of trials, done by one runner.
"""
