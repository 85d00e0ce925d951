# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `linklab`, one module each; the table is in `linklab.cli`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias


class Parser(argparse.ArgumentParser):
    """A parser whose command may do several kinds of work, one of which need not be named.

    later: adds the arguments of a parser once it is the one that is used, so that the module of one kind of work is
        not imported for another.
    kinds: all of them; unnamed: the one that is meant where the first word is none of them, "" where one must be named.
    """

    kinds: Collection[str] = ()
    unnamed: str = ""
    later: Callable[[argparse.ArgumentParser], None] | None = None

    def ready(self) -> None:
        """Add the arguments that wait until they are needed."""
        waiting, self.later = self.later, None
        if waiting is not None:
            waiting(self)

    def error(self, message: str) -> NoReturn:
        """As argparse's, but a value that cannot be is one line, without the list of all options."""
        if message.startswith("argument -") and "not allowed with" not in message:
            self.exit(2, f"{self.prog}: error: {message}\n")
        super().error(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, with the kind put in where it is left out."""
        self.ready()
        words = list(args or ())
        first = next((word for word in words if not word.startswith("-")), None)
        if self.unnamed and first is not None and first not in self.kinds:
            words.insert(0, self.unnamed)
        return super().parse_known_args(words if self.unnamed else args, namespace)


if TYPE_CHECKING:  # argparse's own name for what add_subparsers gives, and no type at run time
    Subparsers: TypeAlias = argparse._SubParsersAction[Parser]
