# SPDX-License-Identifier: BSD-3-Clause
"""A person's terminal and windows, and the terminals of a running network behind them."""
