# SPDX-License-Identifier: BSD-3-Clause
"""Experiments in pockets, each beside what theory says of it; `make validation` writes docs/validation.md.

One module per family of experiments; `experiment.py` has their form, `nets.py` the networks they run in, and
`inside/` the programs that they start on a host.
"""
