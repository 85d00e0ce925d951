# SPDX-License-Identifier: BSD-3-Clause
"""A Linux source tree, from the distribution's linux-source packages or from an archive the person brought.

No host name is written here: on Debian the mirror is the one that the machine's own apt sources name, asked for its
backports in lists of our own and verified with Debian's keyring; elsewhere apt's own lists are used as they are.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from linklab.errors import InputError, MissingError
from linklab.pocket_kernel.tools import Report, Tools

VERSIONS = ("7.3",)
"""Linux versions the patches are proven for, best first."""
SUITES = ("trixie-backports", "trixie", "bookworm-backports")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def fetch(tools: Tools, tree: Path, report: Report) -> str:
    """Download and unpack the best linux-source package that apt can reach; its name and version."""
    report("looking for a Linux source", None)
    if not shutil.which("apt-get"):
        raise MissingError(
            "there is no apt here; download linux-7.3.tar.xz and run `make kernel SOURCE=linux-7.3.tar.xz`"
        )
    options = private_apt(tools) if _is_debian() else []
    search = ["apt-cache", *options, "search", "--names-only", r"^linux-source-[0-9]"]
    names = tools.read(search, tools.scratch, "search apt's package lists").splitlines()
    known = {name.split(" ")[0].removeprefix("linux-source-") for name in names}
    version = next((v for v in VERSIONS if v in known or f"{v}.0" in known), None)
    if version is None:
        seen = ", ".join(sorted(known)) or "none"
        raise MissingError(
            f"no Linux source that the patches are proven for ({', '.join(VERSIONS)}) "
            f"among apt's linux-source packages ({seen}); download an archive of one "
            f"and run `make kernel SOURCE=linux-{VERSIONS[0]}.tar.xz`"
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
        "set -eu; member=$(dpkg-deb --fsys-tarfile \"$1\" | tar t | grep -E 'usr/src/linux-source-.*\\.tar\\.xz$'); "
        'dpkg-deb --fsys-tarfile "$1" | tar xO "$member" | tar xJ --strip-components=1 -C "$2"'
    )
    tools.run(["sh", "-c", script, "sh", str(archive), str(tree)], tools.scratch, f"unpack {package}")
    full = archive.name.split("_")[1]
    archive.unlink()
    return f"{package} {full.replace('%3a', ':')}"


def _is_debian() -> bool:
    release = Path("/etc/os-release")
    return release.is_file() and re.search(r'^ID="?debian"?$', release.read_text(), re.M) is not None


def private_apt(tools: Tools) -> list[str]:
    """Options that make apt read backports in lists of its own, from the mirror that this machine's sources name."""
    if not KEYRING.is_file():
        raise MissingError(
            f"{KEYRING} is missing, so a downloaded source cannot be verified: install debian-archive-keyring"
        )
    mirror = _debian_mirror(tools)
    for folder in ("apt/lists/partial", "apt/cache/archives/partial"):
        (tools.scratch / folder).mkdir(parents=True)
    listing = tools.scratch / "apt/sources.list"
    listing.write_text("".join(f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in SUITES))
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


def _debian_mirror(tools: Tools) -> str:
    """The mirror of the release's main archive in the machine's own sources."""
    form = "$(CREATED_BY) $(REPO_URI) $(SUITE) $(COMPONENT)"
    listing = tools.read(["apt-get", "indextargets", "--format", form], tools.scratch, "list apt's sources")
    for line in listing.splitlines():
        kind, _, rest = line.partition(" ")
        uri, _, _ = rest.partition(" ")
        if kind == "Packages" and uri.rstrip("/").endswith("/debian"):
            return uri
    raise MissingError(
        "apt's sources name no Debian mirror; add one, or download a Linux source "
        "and run `make kernel SOURCE=linux-7.3.tar.xz`"
    )


def unpack_archive(tools: Tools, source: Path, tree: Path, report: Report) -> str:
    """Unpack an archive the person brought into `tree`; its name. InputError if it holds no Linux source."""
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
