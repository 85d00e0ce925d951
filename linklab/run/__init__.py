# SPDX-License-Identifier: BSD-3-Clause
"""Replays labs on a network and leaves a folder for each run."""
