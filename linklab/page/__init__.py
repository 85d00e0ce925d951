# SPDX-License-Identifier: BSD-3-Clause
"""A lab in the browser: its manual, the terminals of its network, the clock, guidance, plots, and captures."""
