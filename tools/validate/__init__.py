# SPDX-License-Identifier: BSD-3-Clause
"""Experiments in pockets, each compared with what theory predicts; `make validation` writes docs/validation.md.

One module per family of experiments. `experiment.py` says what an experiment is, `nets.py` has the networks that they
run in, and `inside/` the programs that they start on a host.
"""
