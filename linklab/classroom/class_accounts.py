# SPDX-License-Identifier: BSD-3-Clause
"""Accounts of a class in the Hub itself: the native authenticator, with the instructors' accounts made at its start.

Whoever signs up under the name of an administrator becomes one. So these names are taken before anybody can sign up:
their passwords are drawn and left in a file for the person who has set up the Hub. JupyterHub's name for it:
`linklab.classroom.class_accounts.ClassAuthenticator`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nativeauthenticator import NativeAuthenticator
from traitlets import Unicode

PASSWORD_BYTES = 12
HEAD = """\
# First passwords of this Hub's instructors: log in, change yours at /hub/change-password, and remove this file.
"""


class ClassAuthenticator(NativeAuthenticator):  # type: ignore[misc] # it has no types
    """Sign-up and log-in, with an account for each of `admin_users` from the start."""

    passwords_file = Unicode(
        "instructor-passwords.txt", config=True, help="File for the first passwords of accounts that are made."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.make_instructors()

    def make_instructors(self) -> None:
        """Give each administrator who has no account one, and write its password down before it can be used."""
        missing = sorted(name for name in self.admin_users if not self.user_exists(name))
        if not missing:
            return
        passwords = {name: secrets.token_urlsafe(PASSWORD_BYTES) for name in missing}
        file = Path(self.passwords_file).resolve()
        note(file, passwords)
        for name, password in passwords.items():
            if self.create_user(name, password) is None:
                raise ValueError(
                    f"no account can be made for the administrator {name!r}: the name must be one that JupyterHub "
                    f"takes, c.NativeAuthenticator.minimum_password_length at most {len(password)}, and "
                    "c.NativeAuthenticator.enable_signup on"
                )
        self.log.warning("The first passwords of %s are in %s", ", ".join(missing), file)


def note(file: Path, passwords: Mapping[str, str]) -> None:
    """Add names with their passwords to a file that only its owner can read; OSError if it cannot be written."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as lines:
        os.fchmod(lines.fileno(), 0o600)
        if lines.tell() == 0:
            lines.write(HEAD)
        lines.writelines(f"{name} {password}\n" for name, password in passwords.items())
