# SPDX-License-Identifier: BSD-3-Clause
"""Formulas and statistics on what was measured."""
