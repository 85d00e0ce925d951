# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns: the script language of Netesto, its libraries, what a script's experiments measure, and tables of it.

    script ─→ commands with times ─→ experiments ─→ a folder and a data set each ─→ exp.csv, pages ─→ tables, plots

A script never reads a result, so the whole of it is expanded (`expand`) before anything runs.
docs/netesto.md describes the language.
"""
