# SPDX-License-Identifier: BSD-3-Clause
"""The same seed on machines with different time zones and locales."""

import os
import subprocess
import sys

import pytest
from pockets import needs_pocket

pytestmark = [*needs_pocket, pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")]

PROGRAM = """
import sys
from pathlib import Path
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine
with PocketEngine().start(None, workdir=Path(sys.argv[1])) as network:
    for text in ("date; ls -d /usr/lib/locale/*", "ping -c 2 localhost", "head -c 8 /dev/urandom | xxd -p"):
        done = network.run([Typed("client", text)])[0]
        print(done.output, done.end_s)
"""
ELSEWHERE = """
set -e
cp -a /etc "$0/etc"
cp -a /usr/lib/locale "$0/locale"
ln -sf /usr/share/zoneinfo/Asia/Tokyo "$0/etc/localtime"
head -c 100000 /dev/zero >"$0/locale/locale-archive"
mount --bind "$0/etc" /etc
mount --bind "$0/locale" /usr/lib/locale
exec "$@"
"""


def test_time_zone_and_locales_of_the_machine_do_not_change_a_run(tmp_path):
    """Tokyo's zone and a locale-archive leave no trace; regression: the archive delayed programs that set a locale."""
    elsewhere, work = tmp_path / "elsewhere", tmp_path / "work"
    for folder in (elsewhere, work):
        folder.mkdir()
    argv = [sys.executable, "-c", PROGRAM, str(work)]
    there = ["unshare", "--mount", "sh", "-c", ELSEWHERE, str(elsewhere)]
    plain, moved = (
        subprocess.run(words, capture_output=True, text=True, check=True, timeout=400).stdout
        for words in (argv, [*there, *argv])
    )
    assert "UTC 2024" in plain
    assert "locale-archive" not in plain
    assert moved == plain
