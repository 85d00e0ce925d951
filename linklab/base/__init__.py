# SPDX-License-Identifier: BSD-3-Clause
"""What everything stands on: where our files are, numbers as people write them, TOML, processes."""
