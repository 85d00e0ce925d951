# SPDX-License-Identifier: BSD-3-Clause
"""Labs as their folders describe them, what was recorded of them, and what the original series found."""
