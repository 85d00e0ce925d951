# SPDX-License-Identifier: BSD-3-Clause
"""The source that the pocket is built from → the kernel's own tests, built and kept.

`ready` fills `~/.cache/linklab/selftests/VERSION/` with `tree/`, the part of the source that the tests need, in which
their C programs are built, and `programs/`, programs that the tests run and that this machine lacks or has in an older
version. Those are unpacked from the distribution's packages and not installed. A second call finds both folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from linklab.base import place
from linklab.errors import MissingError
from linklab.pocket_kernel.source import KEYRING, fetch, unpack_archive
from linklab.pocket_kernel.tools import Report, Tools

KEPT = (
    "Makefile",
    "COPYING",
    "MAINTAINERS",
    "Documentation/netlink",
    "scripts/Kbuild.include",
    "include/uapi",
    "scripts/Makefile.compiler",
    "scripts/bpf_doc.py",
    "tools/arch",
    "tools/bpf",
    "tools/build",
    "tools/include",
    "tools/lib",
    "tools/net/ynl",
    "tools/scripts",
    "tools/testing/selftests",
    "usr/include",
)
"""The part of the source that the tests and their makefiles read: 130 MB of its 1,800 MB."""
TESTS = "tools/testing/selftests"
BUILT = ("net", "net/lib", "net/forwarding")
"""Folders below TESTS whose C programs are built."""
PACKAGES = (
    "iproute2",
    "bc",
    "bridge-utils",
    "ethtool",
    "iputils-arping",
    "iputils-ping",
    "jq",
    "libcap-dev",
    "libmnl-dev",
    "libnuma-dev",
    "libteam-utils",
    "netsniff-ng",
    "nftables",
    "python3-pyroute2",
    "python3-scapy",
    "python3-yaml",
    "smcroute",
    "socat",
    "tcpdump",
    "traceroute",
)
"""Debian packages with the programs that the tests run."""
TDC_SETTINGS = """import os, shutil
ENVIR = dict(os.environ)
EXTRA_NAMES = {"TC": shutil.which("tc"), "IP": shutil.which("ip"), "ETHTOOL": shutil.which("ethtool") or ""}
"""
"""tdc_config_local.py: tdc finds programs by the pocket's PATH, and keeps its environment, which it would empty."""


def ready(source: Path | None, report: Report) -> Path:
    """The folder with `tree/` and `programs/`, fetched and built if it is not there.

    Args:
        source: an archive to take the tests from; None for apt's package, or for what an earlier call has built.
        report: called with what is being done.

    Raises:
        MissingError: the source or a tool cannot be had.
    """
    base = place.of_home("XDG_CACHE_HOME", ".cache") / "selftests"
    kept = sorted(base.glob("*/made"), key=lambda file: file.stat().st_mtime)
    if kept and source is None:
        return kept[-1].parent
    base.mkdir(parents=True, exist_ok=True)
    log = base / "build.log"
    with tempfile.TemporaryDirectory(prefix="build-", dir=base) as scratch, log.open("w") as output:
        tools = Tools(Path(scratch), output, log)
        tree = Path(scratch) / "linux"
        tree.mkdir()
        origin = unpack_archive(tools, source, tree, report) if source else fetch(tools, tree, report)
        version = tools.read(["make", "-s", "kernelversion"], tree, "read the version of the source")
        tools.run(["make", "-s", "ARCH=x86", "headers"], tree, "make the kernel's headers")
        folder = base / version
        if folder.exists():
            shutil.rmtree(folder)
        _keep(tree, folder / "tree")
        (folder / "tree" / TESTS / "tc-testing/tdc_config_local.py").write_text(TDC_SETTINGS)
        report("fetching the programs that the tests run", None)
        _programs(tools, folder / "programs")
        report("building the tests", None)
        _build(folder, output)
        (folder / "made").write_text(f"{origin}\n")
    return folder


def _keep(tree: Path, kept: Path) -> None:
    for name in KEPT:
        target = kept / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (tree / name).is_dir():
            shutil.copytree(tree / name, target, symlinks=True)
        elif (tree / name).is_file():
            shutil.copy2(tree / name, target)


def _programs(tools: Tools, folder: Path) -> None:
    """Unpack the newest packages for this release, and those of their dependencies that are not installed."""
    folder.mkdir()
    if not shutil.which("apt-get"):
        return
    options, backports = _apt(tools)
    first, *others = PACKAGES
    wanted = [f"{first}/{backports}" if backports else first, *others]
    debs = tools.scratch / "debs"
    (debs / "partial").mkdir(parents=True)
    install = ["apt-get", *options, "-o", f"Dir::Cache::archives={debs}", "install", "-y", "--reinstall"]
    tools.run([*install, "--no-install-recommends", "--download-only", *wanted], tools.scratch, "fetch packages")
    for deb in sorted(debs.glob("*.deb")):
        tools.run(["dpkg-deb", "-x", str(deb), str(folder)], tools.scratch, f"unpack {deb.name}")
    for name in ("usr/share/doc", "usr/share/man", "usr/share/locale", "etc", "var"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _apt(tools: Tools) -> tuple[list[str], str | None]:
    """Options for an apt with its own lists, and the suite of this release's backports; None if there is none.

    apt knows what is installed, so it fetches only what is missing or older; it locks nothing and installs nothing.
    """
    options = ["-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none"]
    release = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)
    mirror = _mirror(tools)
    if mirror is None or release is None or not KEYRING.is_file():
        return options, None
    own = tools.scratch / "apt-tests"
    (own / "lists/partial").mkdir(parents=True)
    suites = (release[1], f"{release[1]}-backports")
    (own / "sources.list").write_text("".join(f"deb [signed-by={KEYRING}] {mirror} {name} main\n" for name in suites))
    for setting in (
        f"Dir::Etc::sourcelist={own}/sources.list",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={own}/lists",
        f"Dir::Cache::pkgcache={own}/pkgcache.bin",
        f"Dir::Cache::srcpkgcache={own}/srcpkgcache.bin",
    ):
        options += ["-o", setting]
    tools.run(["apt-get", *options, "update"], tools.scratch, f"read the package lists of {mirror}")
    return options, suites[1]


def _mirror(tools: Tools) -> str | None:
    """The Debian mirror in this machine's own sources; None on another distribution."""
    listing = tools.read(["apt-get", "indextargets", "--format", "$(REPO_URI)"], tools.scratch, "list apt's sources")
    return next((line for line in listing.splitlines() if line.rstrip("/").endswith("/debian")), None)


def environment(programs: Path) -> dict[str, str]:
    """Variables for a shell, so that unpacked programs and libraries are found before installed ones."""
    folders = [programs / name for name in ("usr/sbin", "usr/bin", "sbin", "bin")]
    libraries = [programs / name for name in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")]
    return {
        "PATH": ":".join([*map(str, folders), "$PATH"]),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "PYTHONPATH": str(programs / "usr/lib/python3/dist-packages"),
    }


def _build(folder: Path, output: IO[str]) -> None:
    """Build the tests' C programs; one that cannot be built is missing later, and the test that runs it fails."""
    tree, programs = folder / "tree", folder / "programs"
    env = {
        **os.environ,
        "CPATH": str(programs / "usr/include"),
        "LIBRARY_PATH": ":".join(
            [environment(programs)["LD_LIBRARY_PATH"], "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"]
        ),
    }
    for name in BUILT:
        where = (tree / TESTS / name).resolve()
        argv = ["make", "-k", "-C", str(where), f"KHDR_INCLUDES=-isystem {tree}/usr/include"]
        subprocess.run(
            # only objects that clang compiles need libbpf, and building it takes longer than everything else
            [*argv, "-o", str(where / "tools/build/libbpf/libbpf.a")],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )


def programs_of(folder: Path) -> tuple[str, str]:
    """The version of iproute2 and the origin of the source, on which the results depend most."""
    program = next((file for file in folder.glob("programs/**/bin/ip") if file.is_file()), "ip")
    shown = subprocess.run([program, "-V"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"iproute2-([\w.]+)", shown)
    return (found[1] if found else "unknown"), (folder / "made").read_text().strip()


def scripts(folder: Path, part: str) -> list[str]:
    """Names of the tests that the makefile of a folder lists, sorted.

    Raises:
        MissingError: the makefile lists none.
    """
    where = folder / "tree" / TESTS / part
    made = subprocess.run(
        ["make", "-s", "-C", str(where), "emit_tests", "COLLECTION=test"], capture_output=True, text=True, check=False
    ).stdout
    names = sorted(line.removeprefix("test:") for line in made.splitlines() if line.startswith("test:"))
    if not names:
        raise MissingError(f"{where}/Makefile lists no tests")
    return names
