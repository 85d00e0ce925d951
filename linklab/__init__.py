# SPDX-License-Identifier: BSD-3-Clause
"""Linklab: a teaching platform for TCP/IP networking on emulated networks."""

__version__ = "0.1.0"
