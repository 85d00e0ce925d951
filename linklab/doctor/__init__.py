# SPDX-License-Identifier: BSD-3-Clause
"""What this machine can run, which engine can run what, and the cure for what is missing."""
