# SPDX-License-Identifier: BSD-3-Clause
"""Which step wrote which file of a run's working folder.

A step says so in the manual (`files=`) where several steps end at once, or where it goes on while others end: without
that word a new file counts for the one step that has just ended. Looks at sizes and times of files, never into them.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from linklab.manual.model import Step

_EARLIER = re.compile(r".+\.earlier-\d+")
"""Folders to which `concurrent` moves results before it writes new ones: an earlier step wrote what is in them."""


@dataclass
class WorkFolder:
    """The working folder of a run; every terminal starts in it. `root` is on this machine."""

    root: Path
    _seen: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def changed(self) -> list[str]:
        """Paths below the root that are new or different since the last call, folder by folder."""
        found: dict[str, tuple[int, ...]] = {}
        for folder, folders, names in os.walk(self.root):  # which passes over folders that have gone or are closed
            folders[:] = [name for name in folders if not _EARLIER.fullmatch(name)]
            for path in (Path(folder, name) for name in names):
                with suppress(OSError):  # gone since it was listed
                    state = path.lstat()
                    if stat.S_ISREG(state.st_mode):
                        # mtime is the network's and may repeat in the next network; ctime is the machine's
                        times = (state.st_mtime_ns, state.st_ctime_ns)
                        found[path.relative_to(self.root).as_posix()] = (state.st_size, *times)
        new = [path for path, state in found.items() if self._seen.get(path) != state]
        self._seen = found
        return sorted(new, key=PurePosixPath)


def share_out(
    changed: Sequence[str], done: Sequence[Step], running: Sequence[Step]
) -> tuple[dict[str, list[str]], list[str]]:
    """Give each changed file to one step.

    Args:
        changed: paths below the working folder.
        done: steps that just ended, or where none did those that were just started; without those that only end
            another.
        running: other steps that go on meanwhile.

    Returns:
        Step id → its files, and the files that nobody can be given.  A file goes to the one step that says it writes
        it; where none says so, to the only step that is done.
    """
    shares: dict[str, list[str]] = {}
    unclaimed = []
    for path in changed:
        saying = [step for step in (*done, *running) if any(fnmatchcase(path, pattern) for pattern in step.files)]
        candidates = saying or done
        if len(candidates) == 1:
            shares.setdefault(candidates[0].id, []).append(path)
        else:
            unclaimed.append(path)
    return shares, unclaimed
