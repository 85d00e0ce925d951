# SPDX-License-Identifier: BSD-3-Clause
"""kernel/ and a Linux source → the pocket kernel, built once and kept in the cache.

Called by `linklab kernel` and by the pocket engine, which only asks where it is. The sources come from the distribution
(linux-source packages) or from an archive the person brought; nothing binary is in the project.
A built kernel lies in `~/.cache/linklab/kernel/VERSION-DIGEST/`, DIGEST over the configuration and the patches.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.errors import InputError, MissingError

KERNEL_DIR = Path(__file__).resolve().parent.parent / "kernel"
VERSIONS = ("7.3", "7.2", "6.12")
"""Linux versions the patches are proven to apply to, best first. Before 7.2 there is no seccomp mode, and the state of
the floating point unit of processors with AMX does not fit (design: HOST_FP_SIZE)."""
LARGEST_BYTES = 12_000_000
BUILD_ROOM_BYTES = 4 * 2**30
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
OBJECTS = 1750
"""About how many files a build compiles; only for the progress display."""

Report = Callable[[str, float | None], None]
"""Called with what is being done and how much of it, 0..1, None where that is not known."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel: the program, and what it was made from."""

    path: Path
    version: str
    digest: str
    info: dict[str, Any]

    @property
    def seccomp(self) -> bool:
        """Whether it can run guest processes under seccomp (Linux 7.0 on), 1.6 times as fast as ptrace."""
        return _numbers(self.version) >= (7, 0)


def cache_dir() -> Path:
    """Where kernels are kept: `$XDG_CACHE_HOME/linklab/kernel` or `~/.cache/linklab/kernel`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "linklab" / "kernel"


def digest() -> str:
    """Digest of all in kernel/ that decides what is built: configuration and patches, 12 hexadecimal digits."""
    text = hashlib.sha256()
    for file in [KERNEL_DIR / "fragment.config", *sorted(KERNEL_DIR.glob("patches/**/*.patch"))]:
        text.update(file.relative_to(KERNEL_DIR).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return text.hexdigest()[:12]


def find() -> Kernel | None:
    """The built kernel for this kernel/, the newest version first; None if none is built."""
    wanted = digest()
    found = []
    for folder in cache_dir().glob(f"*-{wanted}"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            info = json.loads((folder / "info.json").read_text())
            if os.access(folder / "linux", os.X_OK):
                found.append(Kernel(folder / "linux", info["version"], wanted, info))
    return max(found, key=lambda kernel: _numbers(kernel.version), default=None)


def require() -> Kernel:
    """The built kernel; MissingError, with the cure, if there is none."""
    kernel = find()
    if kernel is None:
        raise MissingError("the pocket kernel is not built: run `make kernel` (about 4 minutes, once)")
    return kernel


def build(report: Report, source: Path | None = None, log: Path | None = None) -> Kernel:
    """Build the kernel, or give the one that is there.

    Args:
        report: told what is going on.
        source: a linux-X.Y.tar.xz the person brought; None takes the distribution's source.
        log: file that gets the output of the tools; kept next to the cache if the build fails.

    Raises:
        InputError: the archive is not a Linux source, or a patch does not apply to it.
        MissingError: no source can be had, no room, or a tool is missing.
    """
    cache = cache_dir()
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "lock", report):
        kernel = find()
        if kernel is not None and source is None:
            return kernel
        _check_tools()
        if shutil.disk_usage(cache).free < BUILD_ROOM_BYTES:
            raise MissingError(f"{cache}: building the kernel takes 4 GiB of disk; free some or set XDG_CACHE_HOME")
        with tempfile.TemporaryDirectory(prefix="build-", dir=cache) as scratch:
            return _build_in(Path(scratch), source, log or cache / "build.log", report)


def _build_in(scratch: Path, source: Path | None, log: Path, report: Report) -> Kernel:
    started = time.monotonic()
    wanted = digest()
    with log.open("w") as output:
        tools = _Tools(scratch, output, log)
        tree = scratch / "linux"
        tree.mkdir()
        origin = _unpack_archive(tools, source, tree, report) if source else _fetch(tools, tree, report)
        version = tools.read(["make", "-s", "kernelversion"], tree)
        patches = _patch(tools, tree, version)
        report("configuring", None)
        _configure(tools, tree)
        _compile(tools, tree, report)
        tools.run(["strip", "linux"], tree, "strip the kernel")
        program = tree / "linux"
        report("starting it once", None)
        _self_test(tools, program, version)
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
    (ready / "info.json").write_text(json.dumps(info, indent=2) + "\n")
    final = cache_dir() / f"{version}-{wanted}"
    if final.exists():
        shutil.rmtree(final)
    ready.rename(final)
    return Kernel(final / "linux", version, wanted, info)


class _Tools:
    """Runs the programs of a build; their output goes to the log."""

    def __init__(self, scratch: Path, output: Any, log: Path) -> None:
        self.scratch, self.output, self.log = scratch, output, log
        self.env = {
            **os.environ,
            "LC_ALL": "C",
            # the same source gives the same program: no time, user or host in it (Documentation/kbuild/reproducible-builds)
            "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER": "linklab",
            "KBUILD_BUILD_HOST": "pocket",
            "KBUILD_BUILD_VERSION": "1",
        }

    def run(self, argv: Sequence[str], cwd: Path, what: str) -> None:
        """Run a program; MissingError naming `what` and the log if it fails."""
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            raise MissingError(f"the kernel build could not {what} (exit {done.returncode}); see {self.log}")

    def read(self, argv: Sequence[str], cwd: Path) -> str:
        """The output of a program, stripped."""
        done = subprocess.run(argv, cwd=cwd, env=self.env, capture_output=True, text=True, check=False)
        return done.stdout.strip()


def _check_tools() -> None:
    missing = [
        tool for tool in ("gcc", "make", "flex", "bison", "bc", "patch", "xz", "tar", "strip") if not shutil.which(tool)
    ]
    if missing:
        raise MissingError(f"building the kernel needs {', '.join(missing)}: run `make setup`, or install them")


# --- the source


def _fetch(tools: _Tools, tree: Path, report: Report) -> str:
    """Download and unpack the best linux-source package that apt can reach; its name and version."""
    report("looking for a Linux source", None)
    if not shutil.which("apt-get"):
        raise MissingError(
            "there is no apt here; download linux-7.3.tar.xz and run `make kernel SOURCE=linux-7.3.tar.xz`"
        )
    options = _private_apt(tools) if _is_debian() else []
    names = tools.read(["apt-cache", *options, "search", "--names-only", r"^linux-source-[0-9]"], tools.scratch).split(
        "\n"
    )
    known = {name.split(" ")[0].removeprefix("linux-source-") for name in names if name}
    version = next((v for v in VERSIONS if v in known or f"{v}.0" in known), None)
    if version is None:
        seen = ", ".join(sorted(known)) or "none"
        raise MissingError(
            f"no Linux source that the patches are proven for ({', '.join(VERSIONS)}) among apt's linux-source packages "
            f"({seen}); download an archive of one and run `make kernel SOURCE=linux-{VERSIONS[0]}.tar.xz`"
        )
    package = f"linux-source-{version if version in known else version + '.0'}"
    report(f"downloading {package} (160 MB)", None)
    tools.run(
        ["apt-get", *options, "-o", "APT::Sandbox::User=root", "download", package],
        tools.scratch,
        f"download {package}",
    )
    (archive,) = tools.scratch.glob("linux-source-*.deb")
    report(f"unpacking {package}", None)
    script = (
        'set -eu; member=$(dpkg-deb --fsys-tarfile "$1" | tar t | grep -E "usr/src/linux-source-.*\\.tar\\.xz$" | head -n 1); '
        'dpkg-deb --fsys-tarfile "$1" | tar xO "$member" | tar xJ --strip-components=1 -C "$2"'
    )
    tools.run(["sh", "-c", script, "sh", str(archive), str(tree)], tools.scratch, f"unpack {package}")
    full = archive.name.split("_")[1]
    archive.unlink()
    return f"{package} {full.replace('%3a', ':')}"


def _is_debian() -> bool:
    release = Path("/etc/os-release")
    return release.is_file() and re.search(r'^ID="?debian"?$', release.read_text(), re.M) is not None


def _private_apt(tools: _Tools) -> list[str]:
    """Options that make apt read backports in lists of its own, from the mirror that this machine's sources name."""
    if not KEYRING.is_file():
        raise MissingError(
            f"{KEYRING} is missing, so a downloaded source cannot be verified: install debian-archive-keyring"
        )
    mirror = _debian_mirror(tools)
    for folder in ("apt/lists/partial", "apt/cache/archives/partial"):
        (tools.scratch / folder).mkdir(parents=True)
    suites = ("trixie-backports", "trixie", "bookworm-backports")
    listing = tools.scratch / "apt/sources.list"
    listing.write_text("".join(f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites))
    options = []
    for setting in (
        f"Dir::Etc::sourcelist={listing}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={tools.scratch}/apt/lists",
        f"Dir::Cache={tools.scratch}/apt/cache",
        "Dir::State::status=/dev/null",
        "APT::Architecture=amd64",
        "APT::Sandbox::User=root",
        "Acquire::Languages=none",
    ):
        options += ["-o", setting]
    tools.run(["apt-get", *options, "update"], tools.scratch, f"read the package lists of {mirror}")
    return options


def _debian_mirror(tools: _Tools) -> str:
    """The mirror of the release's main archive in the machine's own sources."""
    form = "$(CREATED_BY) $(REPO_URI) $(SUITE) $(COMPONENT)"
    for line in tools.read(["apt-get", "indextargets", "--format", form], tools.scratch).split("\n"):
        kind, _, rest = line.partition(" ")
        uri, _, _ = rest.partition(" ")
        if kind == "Packages" and uri.rstrip("/").endswith("/debian"):
            return uri
    raise MissingError(
        "apt's sources name no Debian mirror; add one, or download a Linux source and run `make kernel SOURCE=linux-7.3.tar.xz`"
    )


def _unpack_archive(tools: _Tools, source: Path, tree: Path, report: Report) -> str:
    if not source.is_file():
        raise InputError(f"{source}: there is no such file; SOURCE is a linux-X.Y.tar.xz")
    report(f"unpacking {source.name}", None)
    try:
        tools.run(
            ["tar", "xf", str(source.resolve()), "--strip-components=1", "-C", str(tree)],
            tools.scratch,
            f"unpack {source}",
        )
    except MissingError as error:
        raise InputError(f"{source}: not an archive that tar can read; SOURCE is a linux-X.Y.tar.xz") from error
    if not (tree / "arch/um/Kconfig").is_file():
        raise InputError(f"{source}: holds no Linux source (no arch/um/Kconfig in its first folder)")
    return source.name


# --- from source to program


def _patch(tools: _Tools, tree: Path, version: str) -> list[str]:
    """Apply the patches; where a version needs one of its own, the file in patches/X.Y/ replaces the common one."""
    minor = ".".join(version.split(".")[:2])
    chosen = {file.name: file for file in (KERNEL_DIR / "patches").glob("*.patch")}
    chosen.update({file.name: file for file in (KERNEL_DIR / "patches" / minor).glob("*.patch")})
    for name in sorted(chosen):
        try:
            tools.run(["patch", "-p1", "--forward", "--batch", "-i", str(chosen[name])], tree, f"apply {name}")
        except MissingError as error:
            raise InputError(
                f"kernel/patches/{name} does not apply to Linux {version}; proven are {', '.join(VERSIONS)} (see {tools.log})"
            ) from error
    return sorted(file.relative_to(KERNEL_DIR).as_posix() for file in chosen.values())


def _configure(tools: _Tools, tree: Path) -> None:
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
    (tree / "refused").write_text("\n".join(refused))
    if refused:
        print("not taken: " + " ".join(refused), file=tools.output, flush=True)


def _compile(tools: _Tools, tree: Path, report: Report) -> None:
    jobs = len(os.sched_getaffinity(0))
    process = subprocess.Popen(
        ["make", "ARCH=um", f"-j{jobs}", "linux"],
        cwd=tree,
        env=tools.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - asked for with PIPE
    objects = 0
    try:
        for line in process.stdout:
            tools.output.write(line)
            objects += line.startswith("  CC")
            report("compiling", min(objects / OBJECTS, 1.0))
        code = process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()
        raise
    if code:
        tools.output.flush()
        raise MissingError(f"the kernel build could not compile the source (exit {code}); see {tools.log}")


def _self_test(tools: _Tools, program: Path, version: str) -> None:
    """Start the kernel with a program of one line as its init, and see the line."""
    from linklab.engine import place  # the engine package is only needed here

    init = tools.scratch / "init"
    init.write_text("#!/bin/sh\necho pocket works\nmount -t proc none /proc\nexec /sbin/poweroff -f\n")
    init.chmod(0o755)
    argv = [str(program), "mem=128M", "time-travel=inf-cpu", "pocket.seed=1", "root=/dev/root", "rootfstype=hostfs"]
    argv += ["rootflags=/", "ro", f"init={init}", "con=null", "con0=fd:0,fd:1", "quiet"]
    if _numbers(version) >= (7, 0):
        argv.append("seccomp=on")
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


# --- small things


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


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-")[0]))
