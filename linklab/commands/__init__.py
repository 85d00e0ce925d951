# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `linklab`, one module each; the table is in `linklab.cli`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # argparse's own name for what add_subparsers gives, and no type at run time
    import argparse

    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
