# SPDX-License-Identifier: BSD-3-Clause
"""`linklab clean`: remove what earlier runs left, and nothing that is still used.

Goes by records alone: the run directory's `owner` and `kernel` name processes, a socket that nobody serves is stale, a
build folder is abandoned when no build holds the lock, a run or a test when the process that its note names has gone,
a network of the host engine when nobody holds the lock of its record. Nothing is found by its name pattern and then
killed.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import pocket_kernel
from linklab.base import owned
from linklab.base.claims import RUNNING
from linklab.base.files import remove_folder
from linklab.base.text import one_line
from linklab.engine import host, sudo
from linklab.engine.pocket import run_base
from linklab.errors import InputError, LinklabError
from linklab.terminal import attach
from linklab.warden.records import Records

if TYPE_CHECKING:
    from linklab.commands import Subparsers

BEING_MADE_S = 0.1
"""Wall-clock seconds after which a note that was made is written, too."""

_EPILOG = """examples:
  linklab clean
  linklab clean --dry-run           only say what would be removed
  linklab clean --runs              also folders in runs/ of runs that broke off

Networks that are running, and whole runs, are never touched.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab clean`."""
    parser = subparsers.add_parser(
        "clean",
        help=summary,
        description="Remove what earlier runs left behind: run directories, sockets, networks on this machine's "
        "kernel, folders of tests that were killed (in /tmp and here), and interrupted kernel builds.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument(
        "--runs", metavar="DIR", nargs="?", type=Path, const=Path("runs"), help="also runs that broke off"
    )
    return parser


Left = tuple[str, Callable[[], object]]
"""What an earlier run left, in words, and how it is removed."""


def run(args: argparse.Namespace) -> int:
    """Clean and say what was done, as it is done.

    Raises:
        InputError: something could not be removed or looked at; all else has been done by then.
    """
    sources: list[Iterator[Left]] = [
        _run_dirs(),
        _sockets(attach.remove_stale, dry_run=args.dry_run),
        _sockets(host.remove_stale, dry_run=args.dry_run),
        _host_networks(),
        _tests(),
        _runs(args.runs) if args.runs else iter(()),
        _builds(),
    ]
    done, failed = 0, []
    for source in sources:
        try:
            for what, remove in source:
                try:
                    if not args.dry_run:
                        remove()
                except OSError as error:
                    where = f": {error.filename}" if error.filename is not None else ""
                    failed.append(f"{what} cannot be removed: {error.strerror}{where}")
                except LinklabError as error:
                    failed.append(f"{what} cannot be removed: {error}")
                else:
                    done += 1
                    print(one_line(f"{'would remove' if args.dry_run else 'removed'} {what}"))
        except LinklabError as error:  # one place that cannot be looked at does not keep the others from it
            failed.append(str(error))
    if failed:
        raise InputError("; ".join(failed))
    if not done:
        print("nothing to clean")
    return 0


def _sockets(remove_stale: Callable[..., Sequence[Path]], *, dry_run: bool) -> Iterator[Left]:
    """Sockets that nobody serves; looking for them removes them."""
    for path in remove_stale(dry_run=dry_run):
        yield f"socket {path}", lambda: None


def _run_dirs() -> Iterator[Left]:
    """Run directories whose keeper has gone, and the kernel that one of them may still name."""
    for folder in sorted(run_base().glob(f"linklab-{os.getuid()}-*")):
        if not _is_own_folder(folder):  # other users may give their files such names
            continue
        owner = _recorded(folder / "owner")
        if owner is None or _keeps(owner):
            continue
        left = _recorded(folder / "kernel")
        if left is not None and str(folder) in _command_line(left):
            yield f"process {left}, the kernel of {folder}", partial(_kill, left)
        yield f"run directory {folder}", partial(_remove, folder)


def _host_networks() -> Iterator[Left]:
    """What networks of the host engine left whose warden was killed; it is root's, so the warden removes it."""
    records = Records()
    for name in records.left():
        yield f"network {name} of the host engine", partial(_clean_host, records, name)
    if records.settings_left():
        yield "settings of this machine that the host engine had changed", partial(sudo.ask, {"do": "clean"})


def _clean_host(records: Records, name: str) -> None:
    if name in records.left():  # one call removes them all
        sudo.ask({"do": "clean"})


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:  # gone meanwhile
        pass
    except RecursionError:
        remove_folder(folder)
    except OSError as error:
        if error.errno != errno.EMFILE:  # else it is too deep for one open file a folder
            raise
        remove_folder(folder)


def _is_own_folder(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:  # gone meanwhile
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()


def _recorded(file: Path) -> int | None:
    try:
        return int(file.read_text()) if file.is_file() else None  # reading a pipe would wait for ever
    except (OSError, ValueError):
        return None


def _keeps(pid: int) -> bool:
    """Whether this process is a keeper, and not another program that got its number later."""
    return any(word.endswith("/keeper.py") for word in _command_line(pid).split())


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _builds() -> Iterator[Left]:
    """Folders of interrupted kernel builds; InputError if it cannot be seen whether one is going on."""
    lock = pocket_kernel.cache_dir() / "lock"
    try:
        file = lock.open("rb")  # enough for flock(2)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(
            f"{lock}: {error.strerror}, so whether a kernel is being built cannot be seen; interrupted builds stay"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # one is going on
        for folder in sorted(lock.parent.glob("build-*/")):
            yield f"interrupted kernel build {folder}", partial(_remove, folder)


def _tests() -> Iterator[Left]:
    """Folders of tests and gradings that were killed: where temporary files go, and in the working folder."""
    for folder in owned.left(Path()):
        yield f"folder {folder} that a killed test or grading left", partial(_remove, folder)


def _runs(runs: Path) -> Iterator[Left]:
    """Folders of runs that broke off: `incomplete.json` there, `run.json` not, and nobody at it any more."""
    for folder in list(_run_folders(runs)):
        if (folder / "run.json").exists() or _goes_on(folder / "incomplete.json"):
            continue
        yield f"incomplete run {folder}", partial(_remove_run, folder, runs)


def _remove_run(folder: Path, runs: Path) -> None:
    _remove(folder)
    if folder.parent != runs:
        if not _goes_on(folder.parent / RUNNING):
            (folder.parent / RUNNING).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # that of several labs, unless there is more in it
            folder.parent.rmdir()


def _run_folders(folder: Path) -> Iterator[Path]:
    """Folders of runs, also those of several labs; what lies inside a run is the lab's own and not looked at."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not path.is_dir() or path.is_symlink():
            continue
        if (path / "run.json").exists() or (path / "incomplete.json").exists():
            yield path
        else:
            yield from _run_folders(path)


def _goes_on(note: Path) -> bool:
    """Whether the process that the note names is there; one that got its number later counts too, to be safe."""
    try:
        text = note.read_text()
        if not text:  # it is just being made
            time.sleep(BEING_MADE_S)
            text = note.read_text()
        return Path(f"/proc/{int(json.loads(text)['pid'])}").exists()
    except (OSError, ValueError, LookupError, TypeError):
        return False
