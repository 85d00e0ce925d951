# SPDX-License-Identifier: BSD-3-Clause
"""Executable manuals: `manual.md` to steps, and steps to HTML and `set_env.sh`; syntax in docs/writing-a-lab.md."""
