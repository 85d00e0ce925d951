# SPDX-License-Identifier: BSD-3-Clause
"""A fresh clone → packages installed, `.venv` made, pocket kernel built; nothing of it twice.

Run by `tools/setup.sh` with the distribution's Python 3.10 or newer, standard library only, before anything of ours is
installed. Root, directly or by sudo without a password, is used for apt alone. Exit 4 says what is missing.
`.venv/linklab-setup` holds the digest of what the set-up was made from: the package list, pyproject.toml, this file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
DISTRIBUTION = Path("/usr/lib/python3/dist-packages")
STAMP = VENV / "linklab-setup"
PACKAGES = ROOT / "tools/packages.txt"
PAGE = ROOT / "linklab/page/package-lock.json"
PACKAGING = ROOT / "tools/packages-deb.txt"
STRANGERS = ROOT / "tools/packages-strangers.txt"
STRANGERS_PYTHON = ROOT / "build/strangers/python"
"""Where pip puts Python packages that tests/strangers needs and no supported distribution has, outside of `.venv`."""
IMAGE = ROOT / "vm/host-packages.txt"
IMAGE_ARM64 = ROOT / "vm/host-packages-arm64.txt"
BROWSER = ("chromium", "chromium-driver")
AXE = ROOT / "tests/browser"
"""Its package.json and package-lock.json name what checks the accessibility of pages; it goes into build/browser/."""
FIREFOX = ("firefox-esr",)
GECKODRIVER = ("geckodriver", "0.37.1")
"""The driver of Firefox is no package of Debian; its crate and version."""
POLICY = Path("/usr/sbin/policy-rc.d")
STAGES = ("packages", "tools", "all", "browser", "firefox", "deb", "strangers", "vm", "vm-arm64")
MISSING = 4  # exit code of linklab.errors.MissingError, which cannot be imported yet


class SetupError(Exception):
    """What is missing and what to do, in one line."""


def main(arguments: list[str]) -> int:
    """Do the stages up to the named one.

    They are packages; tools (packages and .venv); all (these and the kernel); browser (that in which the lab page is
    tested, and what checks its accessibility); firefox (the other browser of those tests); deb, vm, and vm-arm64 (the
    tools that build those); and strangers (all, and the programs that tests/strangers runs).
    """
    stage = arguments[0] if arguments else "all"
    if stage not in STAGES:
        print(f"setup: there is no stage {stage}; use one of {', '.join(STAGES)}", file=sys.stderr)
        return 2
    try:
        with _only_one():
            _set_up(stage)
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return MISSING
    except KeyboardInterrupt:
        return 130
    return 0


def _set_up(stage: str) -> None:
    if not STAMP.is_file() or STAMP.read_text() != _digest():
        install_packages(missing_packages(PACKAGES.read_text()))
        if stage == "packages":
            return
        make_venv()
        _run([str(VENV / "bin/python"), "-m", "linklab.native"])
        _run([str(VENV / "bin/python"), "-m", "linklab.bpf.build"])
        fetch_page()
        STAMP.write_text(_digest())  # as it is now, with what apt has brought
    if stage in ("all", "deb", "strangers"):
        build_kernel()
    if stage == "browser":
        install_browser()
    if stage == "firefox":
        install_firefox()
    if stage == "deb":
        install_packages(missing_packages(PACKAGING.read_text()))
    if stage == "strangers":
        install_packages(missing_packages(STRANGERS.read_text()))
        if not (STRANGERS_PYTHON / "aioquic").is_dir():
            _run(
                [
                    str(VENV / "bin/python"),
                    "-m",
                    "pip",
                    "--quiet",
                    "install",
                    "--target",
                    str(STRANGERS_PYTHON),
                    "aioquic",
                ]
            )
    if stage in ("vm", "vm-arm64"):
        install_packages(missing_packages(IMAGE.read_text()))
    if stage == "vm-arm64":
        install_packages(missing_packages(IMAGE_ARM64.read_text()))


def _digest() -> str:
    """Digest of all that decides what the set-up makes, of its Python, and of where it is: `.venv` names its folder.

    Of the distribution's Python packages too: what pip found there it did not install, and apt may remove it.
    """
    parts = [file.read_bytes() for file in (PACKAGES, ROOT / "pyproject.toml", PAGE, Path(__file__))]
    found = sorted(path.name for path in DISTRIBUTION.glob("*-info"))
    return hashlib.sha256(b"\0".join([*parts, *map(str.encode, (sys.version, str(ROOT), *found))])).hexdigest()


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Wait for another set-up of this clone to end."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build/setup.lock").open("w") as lock:
        if os.geteuid() == 0:  # `sudo tools/setup.sh packages`: what it makes in a clone belongs to the clone's owner
            for path in (ROOT / "build", ROOT / "build/setup.lock"):
                os.chown(path, ROOT.stat().st_uid, ROOT.stat().st_gid)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another set-up is running here; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def missing_packages(listed: str) -> list[str]:
    """Packages of the list (one a line, # for remarks) that dpkg has not installed."""
    wanted = [line.strip() for line in listed.splitlines() if line.strip() and not line.startswith("#")]
    try:
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n", *wanted],
            capture_output=True,
            text=True,
            check=False,  # it fails when one of them is unknown, and still lists the others
        )
    except FileNotFoundError as error:
        raise SetupError("this needs Debian or Ubuntu (dpkg is not there); see README.md for other systems") from error
    installed = {line.split()[1] for line in asked.stdout.splitlines() if line.startswith("installed ")}
    return [package for package in wanted if package not in installed]


def install_packages(missing: list[str]) -> None:
    """Install them with apt, or say how a person with root's rights can."""
    if not missing:
        return
    by_hand = f"sudo apt-get update && sudo apt-get install {' '.join(missing)}"
    root = _root_prefix()
    if root is None:
        raise SetupError(f"these packages are missing, and installing them needs root; run: {by_hand}")
    _say(f"installing {' '.join(missing)}")
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "-o", "DPkg::Lock::Timeout=300"]
    _run([*apt, "update"], check=False)  # a list that cannot be had now may still be there from before
    with _no_services(root):
        done = _run([*apt, "install", "-y", "--no-install-recommends", *missing], check=False)
    still = missing_packages("\n".join(missing))
    if done != 0 or still:
        raise SetupError(f"apt-get could not install {' '.join(still or missing)}; run: {by_hand}")


def _root_prefix() -> list[str] | None:
    """What to put before a command so that root runs it; None if nobody lets us."""
    if os.geteuid() == 0:
        return []
    try:
        allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return None
    return ["sudo", "-n"] if allowed else None


@contextlib.contextmanager
def _no_services(root: list[str]) -> Iterator[None]:
    """Keep package scripts from starting services where there is no init to start them.

    Open vSwitch's would fail there and leave its package half installed. Linklab needs none of them: Open vSwitch
    runs inside the pocket. Source: invoke-rc.d(8), policy-rc.d with exit code 101, "action forbidden by policy".
    """
    if Path("/run/systemd/system").is_dir() or POLICY.exists():
        yield
        return
    with tempfile.NamedTemporaryFile("w") as script:
        script.write("#!/bin/sh\nexit 101\n")
        script.flush()
        _run([*root, "install", "-m", "755", script.name, str(POLICY)])
    try:
        yield
    finally:
        _run([*root, "rm", "-f", str(POLICY)])


def make_venv() -> None:
    """Make `.venv` on the distribution's Python, which sees Mininet, tkinter and matplotlib, with Linklab in it."""
    if not (VENV / "bin/python").exists() or _foreign_venv():
        _say("making .venv")
        _run([sys.executable, "-m", "venv", "--clear", "--system-site-packages", str(VENV)])
    _say("installing Linklab's Python packages into .venv, which takes a minute the first time")
    pip = [str(VENV / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install"]
    pip += ["--no-compile", "--quiet"]  # that a package is there already is no news; errors are told
    _run([*pip, "--editable", f"{ROOT}[dev,cluster,packaging]"])
    # as pockets read it; pip's own names this clone, and a program would take other memory in another clone
    _run([str(VENV / "bin/python"), "-I", "-m", "linklab.engine.bytecode"])
    (VENV / "bin/linklab").write_text(launcher(VENV))


def fetch_page() -> None:
    """Fetch what a lab's page takes from others; everything else works without it, so its lack is only said.

    Nodejs of another source than the distribution has an npm of its own, beside which Debian's cannot be installed.
    """
    if shutil.which("npm") is None:
        try:
            install_packages(["npm"])
        except SetupError as error:
            _say(f"{error}; without npm `linklab lab` has no terminals and plots")
            return
    if _run([str(VENV / "bin/python"), "-m", "linklab.page.assets"], check=False):
        _say("`linklab lab` has no terminals and plots until `.venv/bin/python -m linklab.page.assets` succeeds")


def install_browser() -> None:
    """Install the browser of the tests; they are skipped without it, as on Ubuntu, whose browsers are no packages."""
    try:
        install_packages(missing_packages("\n".join(BROWSER)))
    except SetupError as error:
        _say(f"{error}; without them the tests of the lab page are skipped")
    fetch_axe()


def fetch_axe() -> None:
    """Fetch what checks the accessibility of pages; its tests are skipped without it."""
    lists, place = [AXE / name for name in ("package.json", "package-lock.json")], ROOT / "build/browser"
    made = hashlib.sha256(b"\0".join(file.read_bytes() for file in lists)).hexdigest()
    if (place / "made-of").is_file() and (place / "made-of").read_text() == made:
        return
    if (npm := shutil.which("npm")) is None:
        _say("npm is missing, so the tests of the pages' accessibility are skipped")
        return
    place.mkdir(parents=True, exist_ok=True)
    for file in lists:
        shutil.copy(file, place)
    command = [npm, "ci", "--prefix", str(place), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if _run(command, check=False):
        _say("axe-core cannot be fetched, so the tests of the pages' accessibility are skipped")
        return
    (place / "made-of").write_text(made)


def install_firefox() -> None:
    """Install Firefox, and build its driver with cargo into ~/.cargo/bin; SetupError where that cannot be."""
    install_packages(missing_packages("\n".join(FIREFOX)))
    crate, version = GECKODRIVER
    if _cargo(crate) is not None:
        return
    if (cargo := _cargo("cargo")) is None:
        raise SetupError(
            f"{crate}, the driver of Firefox, is built with Rust's cargo, which is missing; install rustup"
        )
    _say(f"building {crate} {version}, which takes a few minutes, once")
    _run([cargo, "install", crate, "--version", version, "--locked"])


def _cargo(program: str) -> str | None:
    """A program of Rust's, which need not be on the path; None where it is not there."""
    return shutil.which(program) or shutil.which(program, path=str(Path.home() / ".cargo/bin"))


def launcher(venv: Path) -> str:
    """`.venv/bin/linklab`: pip's own names this folder in its first line, and says nothing useful when it has moved."""
    # what lies in the current folder may be a stranger's, so its modules must not stand for Python's own
    safe = " -P" if sys.version_info >= (3, 11) else ""
    return f"""#!/bin/sh
bin=$(dirname -- "$(readlink -f -- "$0")")
made={shlex.quote(str(venv / "bin"))}
if [ ! "$bin" -ef "$made" ]; then
    echo "linklab: this clone was made in ${{made%/.venv/bin}} and then moved or copied; run make setup in it" >&2
    exit {MISSING}
fi
exec "$bin/python"{safe} -m linklab "$@"
"""


def _foreign_venv() -> bool:
    """Whether an existing `.venv` belongs to another Python or another folder."""
    settings = (VENV / "pyvenv.cfg").read_text() if (VENV / "pyvenv.cfg").exists() else ""
    version = ".".join(map(str, sys.version_info[:3]))
    script = VENV / "bin/pip"
    here = script.exists() and str(VENV) in script.read_text(errors="replace").splitlines()[0]
    return f"version = {version}" not in settings or "include-system-site-packages = true" not in settings or not here


def build_kernel() -> None:
    """Build the pocket kernel unless the one for this version is there, or the processor is not the one it is for."""
    if (machine := platform.machine()) not in ("x86_64", "AMD64"):
        _say(f"the pocket kernel is for x86-64 and this is {machine}; labs run on the host engine: --engine host")
        return
    linklab = str(VENV / "bin/linklab")
    if subprocess.run([linklab, "kernel", "path"], capture_output=True, check=False).returncode == 0:
        return
    _say("building the pocket kernel, which takes a few minutes, once")
    if (code := _run([linklab, "kernel", "build"], check=False)) != 0:
        raise SetupError(f"the pocket kernel could not be built (exit {code}); its own message stands above")


def _run(command: list[str], *, check: bool = True) -> int:
    """Run with the terminal's output and no input; its exit code, or SetupError if `check` and it failed."""
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be run: {error.strerror}") from error
    if check and code != 0:
        raise SetupError(f"this failed with exit {code}: {' '.join(command)}")
    return code


def _say(text: str) -> None:
    print(f"setup: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
