# SPDX-License-Identifier: BSD-3-Clause
"""kernel/ and a Linux source → the pocket kernel in the cache.

Two builds at once wait for each other; an interrupted one leaves nothing that could be taken for a kernel, since the
finished folder is renamed into its place. Specified by Documentation/kbuild of the source.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from linklab.base import place
from linklab.base.processes import processors
from linklab.errors import InputError, MissingError
from linklab.pocket_kernel import KERNEL_DIR, Kernel, cache_dir, digest, find, need_processor
from linklab.pocket_kernel.source import VERSIONS, fetch, unpack_archive
from linklab.pocket_kernel.tools import Report, Tools

LARGEST_BYTES = 14_000_000
BUILD_ROOM_BYTES = 4 * 2**30
OBJECTS = 1350
"""About how many files a build compiles; only for the progress display."""


def build(report: Report, source: Path | None = None, log: Path | None = None) -> Kernel:
    """Build the kernel, or give the one that is there.

    Args:
        report: told what is going on.
        source: a linux-X.Y.tar.xz the person brought; None takes the distribution's source.
        log: file that gets the output of the tools; kept next to the cache if the build fails.

    Raises:
        InputError: the archive is not a Linux source, or a patch does not apply to it.
        MissingError: no source can be had, no room, a tool is missing, or the processor is another.
    """
    need_processor()
    cache = cache_dir()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingError(f"{cache}: cannot be made: {error.strerror}; set XDG_CACHE_HOME") from error
    with _alone(cache / "lock", report):
        kernel = find()
        if kernel is not None and source is None:
            return kernel
        _check_tools()
        for left in cache.glob("build-*/"):  # some gigabytes, of a build that was killed
            shutil.rmtree(left, ignore_errors=True)
        if shutil.disk_usage(cache).free < BUILD_ROOM_BYTES:
            raise MissingError(f"{cache}: building the kernel takes 4 GiB of disk; free some or set XDG_CACHE_HOME")
        with tempfile.TemporaryDirectory(prefix="build-", dir=cache) as scratch:
            return _build_in(Path(scratch), source, log or cache / "build.log", report)


def _build_in(scratch: Path, source: Path | None, log: Path, report: Report) -> Kernel:
    started = time.monotonic()
    wanted = digest()
    with log.open("w") as output:
        tools = Tools(scratch, output, log)
        tree = scratch / "linux"
        tree.mkdir()
        origin = unpack_archive(tools, source, tree, report) if source else fetch(tools, tree, report)
        version = tools.read(["make", "-s", "kernelversion"], tree, "read the version of the source")
        patches = _patch(tools, tree, version)
        report("configuring", None)
        refused = _configure(tools, tree)
        _compile(tools, tree, report)
        tools.run(["strip", "linux"], tree, "strip the kernel")
        program = tree / "linux"
        report("starting it once", None)
        _self_test(tools, program)
        modules = _list_modules(tools, tree)
    size = program.stat().st_size
    if size > LARGEST_BYTES:
        raise InputError(
            f"the built kernel is {size} bytes, more than {LARGEST_BYTES}; something is on that should not be"
        )
    info = {
        "version": version,
        "source": origin,
        "digest": wanted,
        "patches": patches,
        "refused": refused,
        "compiler": subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[
            0
        ],
        "sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        "bytes": size,
        "seconds": round(time.monotonic() - started),
    }
    ready = scratch / "ready"
    ready.mkdir()
    shutil.move(program, ready / "linux")
    shutil.move(tree / ".config", ready / "config")
    shutil.move(modules, ready / "modules")
    (ready / "info.json").write_text(json.dumps(info, indent=2) + "\n")
    final = cache_dir() / f"{version}-{wanted}"
    if final.exists():
        shutil.rmtree(final)
    ready.rename(final)
    return Kernel(final / "linux", version, wanted, info)


def _check_tools() -> None:
    missing = [
        tool for tool in ("gcc", "make", "flex", "bison", "bc", "patch", "xz", "tar", "strip") if not shutil.which(tool)
    ]
    if missing:
        raise MissingError(f"building the kernel needs {', '.join(missing)}: run `make setup`, or install them")


def _patch(tools: Tools, tree: Path, version: str) -> list[str]:
    """Apply the patches; a file in patches/X/ or patches/X.Y/ is for these versions, in place of one of its name."""
    major, minor = version.split(".")[:2]
    if not (KERNEL_DIR / "patches" / major).is_dir():  # the common patches alone make a kernel that runs no network
        raise InputError(f"Linux {version}: the pocket kernel needs Linux {' or '.join(VERSIONS)}; get that source")
    chosen: dict[str, Path] = {}
    for folder in (".", major, f"{major}.{minor}"):
        chosen.update({file.name: file for file in (KERNEL_DIR / "patches" / folder).glob("*.patch")})
    for name in sorted(chosen):
        try:
            tools.run(["patch", "-p1", "--forward", "--batch", "-i", str(chosen[name])], tree, f"apply {name}")
        except MissingError as error:
            raise InputError(
                f"kernel/patches/{name} does not apply to Linux {version}; "
                f"proven are {', '.join(VERSIONS)} (see {tools.log})"
            ) from error
    return sorted(file.relative_to(KERNEL_DIR).as_posix() for file in chosen.values())


def _configure(tools: Tools, tree: Path) -> list[str]:
    """Configure; the lines of the fragment that this version of Linux does not take."""
    fragment = KERNEL_DIR / "fragment.config"
    tools.env["KCONFIG_ALLCONFIG"] = str(fragment)
    tools.run(["make", "ARCH=um", "allnoconfig"], tree, "configure the kernel")
    taken = set((tree / ".config").read_text().split("\n"))
    refused = [
        line
        for line in fragment.read_text().split("\n")
        if line.startswith("CONFIG_") and not line.endswith("=n") and line not in taken
    ]
    # a version without one option still makes a kernel; which, is part of what the log and `linklab kernel info` say
    if refused:
        print("not taken: " + " ".join(refused), file=tools.output, flush=True)
    return refused


def _compile(tools: Tools, tree: Path, report: Report) -> None:
    process = subprocess.Popen(
        ["make", "ARCH=um", f"-j{processors()}", "linux"],
        cwd=tree,
        env=tools.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    objects = 0
    try:
        for line in process.stdout:
            tools.output.write(line)
            objects += line.startswith("  CC")
            report("compiling", min(objects / OBJECTS, 1.0))
        code = process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if code:
        tools.output.flush()
        raise MissingError(f"the kernel build could not compile the source (exit {code}); see {tools.log}")


def _list_modules(tools: Tools, tree: Path) -> Path:
    """Make the folder that is /lib/modules/RELEASE inside, so that kmod's own programs know what is built in.

    Without depmod it holds only the two lists of the build and no index; the pocket's `lsmod` reads these, and its
    `modprobe` reads the kernel's configuration.
    """
    release = tools.read(["make", "ARCH=um", "-s", "kernelrelease"], tree, "read the release of the source")
    folder = tools.scratch / "lib/modules" / release
    folder.mkdir(parents=True)
    (tools.scratch / "usr").mkdir()
    (tools.scratch / "usr/lib").symlink_to("../lib")  # where the depmod of newer distributions looks
    for name in ("modules.builtin", "modules.builtin.modinfo"):
        shutil.copyfile(tree / name, folder / name)
    (folder / "modules.order").touch()  # modules that can be loaded: none
    if depmod := shutil.which("depmod", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        tools.run([depmod, "-b", str(tools.scratch), release], tree, "index the list of modules")
    return folder


def _self_test(tools: Tools, program: Path) -> None:
    """Start the kernel with a program of one line as its init, and see the line."""
    init = tools.scratch / "init"
    init.write_text("#!/bin/sh\necho pocket works\nmount -t proc none /proc\nexec /sbin/poweroff -f\n")
    init.chmod(0o755)
    argv = [str(program), "mem=128M", "time-travel=inf-cpu", "pocket.seed=1", "root=/dev/root", "rootfstype=hostfs"]
    argv += ["rootflags=/", "ro", f"init={init}", "con=null", "con0=fd:0,fd:1", "quiet", "seccomp=auto"]
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(tools.scratch),
        "TMPDIR": str(place.memory_dir(2**27)),
    }
    try:
        done = subprocess.run(
            argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, text=True, check=False
        )
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        output = f"{error.stdout or b''!r} (no end after 60 s)"
    tools.output.write(output)
    tools.output.flush()
    if "pocket works" not in output:
        raise MissingError(
            f"the kernel was built but does not start on this machine; its last words are in {tools.log}"
        )


@contextlib.contextmanager
def _alone(lock: Path, report: Report) -> Iterator[None]:
    """Wait for another build to end, so that two do not do the same work."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another build of the kernel", None)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
