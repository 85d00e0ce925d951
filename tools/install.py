#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Install what `make build` has built, and uninstall it: `make install`, `make uninstall`, debian/rules.

    tools/install.py build [--no-kernel]                     vendored Python packages, man pages, kernel → build/stage
    tools/install.py install [--prefix DIR] [--destdir DIR] [--no-kernel] [--no-finish] [--student]
    tools/install.py uninstall [--prefix DIR] [--destdir DIR]

PREFIX/lib/linklab is laid out like a clone (linklab/base/installation.py). It also has `venv/`, a Python environment
with our packages, and `installed.txt`, the list of what `uninstall` removes. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "build/stage"
VENV = ROOT / ".venv/bin"
PYTHON = "/usr/bin/python3"  # the distribution's: Mininet, tkinter and matplotlib are installed for it
DATA = ("class-server", "docs", "exercises", "kernel", "labs", "po", "problems", "scripts", "topologies")
PYTHONS = tuple(f"python3.{minor}" for minor in range(11, 16))
"""Pythons that find the vendored packages, which need 3.11; an upgrade of the distribution may bring a newer one."""
LAUNCHER = """#!{python}
# SPDX-License-Identifier: BSD-3-Clause
import sys

from linklab.cli import main

sys.exit(main())
"""
MULTIARCH = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
"""Debian's folder of libraries for the processor that a package is built for, which may be another than ours."""
DATABASES = (
    ("update-mime-database", "share/mime", "packages", "*"),
    ("update-desktop-database", "share/applications", ".", "mimeinfo.cache"),
    ("gtk-update-icon-cache -q -t -f", "share/icons/hicolor", ".", "icon-theme.cache"),
)
"""Desktop databases: the command that makes one, its folder, and in that its sources and what is made."""
ASKED_FOR = {
    "PIL": "python3-pil",
    "brotli": "python3-brotli",
    "cffi": "python3-cffi",
    "dpkt": "python3-dpkt",
    "jinja2": "python3-jinja2",
    "matplotlib": "python3-matplotlib",
    "mdurl": "python3-mdurl",
    "mininet": "mininet",
    "pyphen": "python3-pyphen",
    "rich": "python3-rich",
    "tkinter": "python3-tk",
    "tornado": "python3-tornado",
    "webencodings": "python3-webencodings",
}
"""Modules that an installation takes from the distribution's Python → their Debian packages."""
MISSING = 4  # exit code of linklab.errors.MissingError, which may not be importable here


class InstallError(Exception):
    """What is wrong and what to do, in one line."""


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description="Build, install or uninstall Linklab.")
    parser.add_argument("what", choices=("build", "install", "uninstall"))
    parser.add_argument("--prefix", type=Path, default=Path("/usr/local"), help="default: /usr/local")
    parser.add_argument("--destdir", default="", help="folder that takes the place of / while packaging")
    parser.add_argument("--no-kernel", action="store_true", help="leave the pocket kernel out")
    parser.add_argument("--student", action="store_true", help="leave out what is the instructor's of the exercises")
    parser.add_argument("--no-finish", action="store_true", help="do not update the desktop databases")
    args = parser.parse_args(arguments)
    try:
        if not args.prefix.is_absolute():
            raise InstallError(f"PREFIX {args.prefix} is not an absolute path; write it from / on")
        if args.what == "build":
            build(kernel=not args.no_kernel)
        else:
            target = Target(args.prefix, args.destdir)
            if args.what == "install":
                install(target, kernel=not args.no_kernel, student=args.student)
            else:
                uninstall(target)
            if not args.no_finish and not args.destdir:
                renew_databases(args.prefix)
    except PermissionError as error:
        print(f"install: {error.filename} cannot be written: use sudo, or a PREFIX of your own", file=sys.stderr)
        return MISSING
    except (InstallError, OSError) as error:
        print(f"install: {error}", file=sys.stderr)
        return MISSING
    return 0


class Target:
    """Where files go: PREFIX as installed programs see it, below DESTDIR for now."""

    def __init__(self, prefix: Path, destdir: str) -> None:
        self.prefix = prefix
        self.lib = prefix / "lib/linklab"
        self.destdir = Path(destdir).resolve() if destdir else None
        self.written: list[Path] = []
        self.made: list[Path] = []

    def at(self, path: Path) -> Path:
        """Where an installed path is now."""
        return self.destdir / path.relative_to("/") if self.destdir else path

    def copy(self, source: Path, path: Path, mode: int = 0o644) -> None:
        """Install a file."""
        self._make(path)
        shutil.copyfile(source, self.at(path))
        self.at(path).chmod(mode)
        about = source.stat()
        os.utime(self.at(path), ns=(about.st_mtime_ns, about.st_mtime_ns))

    def write(self, text: str, path: Path, mode: int = 0o644) -> None:
        """Install a file with this text."""
        self._make(path)
        self.at(path).write_text(text, encoding="utf-8")
        self.at(path).chmod(mode)

    def link(self, to: str, path: Path) -> None:
        """Install a symbolic link."""
        self._make(path)
        self.at(path).symlink_to(to)

    def tree(self, source: Path, path: Path, instead: Path | None = None) -> None:
        """Install all files below a folder, except compiled code and hidden files; those below `instead` in place."""
        for file in files(source):
            script = file.suffix != ".py" and file.stat().st_mode & 0o100
            inside = file.relative_to(source)
            other = instead / inside if instead else file
            self.copy(other if other.is_file() else file, path / inside, 0o755 if script else 0o644)

    def _make(self, path: Path) -> None:
        missing = [folder for folder in path.parents if not self.at(folder).exists()]
        for folder in reversed(missing):
            self.at(folder).mkdir()
            self.at(folder).chmod(0o755)  # whatever umask root has: others are to read it
            self.made.append(folder)
        if self.at(path).is_symlink() or self.at(path).exists():
            self.at(path).unlink()
        self.written.append(path)


def files(folder: Path) -> Iterator[Path]:
    """Files below a folder, in order, without compiled code (`__pycache__`, `built`) and hidden files."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in ("__pycache__", "built"):
            continue
        if path.is_dir():
            yield from files(path)
        elif path.suffix != ".pyc":
            yield path


def build(*, kernel: bool) -> None:
    """Build what is installed but not in the repository, completely or not at all."""
    linklab = VENV / "linklab"
    if not linklab.exists():
        raise InstallError(f"{linklab} is missing; run make build, which creates it")
    part = STAGE.with_name("stage.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    _run([str(VENV / "python"), "-m", "linklab.bpf.build"])  # for every processor's kernel
    shutil.copytree(ROOT / "linklab/bpf/built", part / "bpf")
    _run([str(VENV / "python"), "-m", "linklab.page.assets"])  # terminals and plots of a lab's page
    shutil.copytree(ROOT / "linklab/page/built", part / "page")
    pip = [str(VENV / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    pip += ["--no-compile", "--require-hashes", "--only-binary", ":all:", "--platform", "any", "--implementation", "py"]
    pip += ["--abi", "none", "--target", str(part / "packages"), "-r", str(ROOT / "tools/vendored.txt")]
    _run(pip)
    shutil.rmtree(part / "packages/bin", ignore_errors=True)  # fonttools' own commands
    shutil.rmtree(part / "packages/share", ignore_errors=True)  # and their manual
    _run([str(VENV / "python"), str(ROOT / "tools/pages.py"), str(part / "pages")])
    _run([str(VENV / "python"), str(ROOT / "tools/student_files.py"), "write", str(part / "student")])
    if kernel:
        _run([str(VENV / "python"), "-m", "linklab.native"])
        shutil.copytree(ROOT / "linklab/native/built", part / "native")
        done = subprocess.run([str(linklab), "kernel", "path"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise InstallError(f"no pocket kernel to install: {done.stderr.strip()}")
        built = Path(done.stdout.strip()).parent
        shutil.copytree(built, part / "kernel" / built.name)
    shutil.rmtree(STAGE, ignore_errors=True)
    part.rename(STAGE)


def install(target: Target, *, kernel: bool, student: bool = False) -> None:
    """Install everything, in place of an earlier installation."""
    require_stage(kernel=kernel, student=student)
    if not target.destdir:
        require_modules()
    if target.at(target.lib / "installed.txt").exists():
        uninstall(target)
    for name in ("linklab", *DATA):
        part = STAGE / "student" / name  # of exercises the students' part is whole, of others some files are
        whole = student and name in ("exercises", "problems")
        target.tree(part if whole else ROOT / name, target.lib / name, part if student else None)
    target.tree(STAGE / "bpf", target.lib / "linklab/bpf/built")
    target.tree(STAGE / "page", target.lib / "linklab/page/built")
    if kernel:
        target.tree(STAGE / "native", target.lib / "linklab/native/built")
        target.tree(STAGE / "kernel", target.lib / "kernel")
    _install_python(target)
    share = target.prefix / "share"
    for page in files(STAGE / "pages/man1"):
        target.copy(page, share / "man/man1" / page.name)
    desktop = ROOT / "desktop"
    for entry in sorted(desktop.glob("*.desktop")):
        target.copy(entry, share / "applications" / entry.name)
    target.copy(desktop / "linklab.xml", share / "mime/packages/linklab.xml")
    target.copy(desktop / "linklab.svg", share / "icons/hicolor/scalable/apps/linklab.svg")
    libraries = MULTIARCH.get(os.environ.get("DEB_HOST_ARCH", ""), sysconfig.get_config_var("MULTIARCH"))
    if target.prefix == Path("/usr") and libraries:  # Wireshark looks below its own prefix alone
        program = target.prefix / "lib" / libraries / "wireshark/extcap/linklab-extcap"
        target.write('#!/bin/sh\nexec /usr/bin/linklab extcap "$@"\n', program, 0o755)
    zsh = "vendor-completions" if target.prefix == Path("/usr") else "site-functions"  # Debian's for packages
    for shell, place in (
        ("bash", "bash-completion/completions/linklab"),
        ("zsh", f"zsh/{zsh}/_linklab"),
        ("fish", "fish/vendor_completions.d/linklab.fish"),
    ):
        target.copy(STAGE / "pages/completions" / shell, share / place)
    if not target.destdir:
        compile_code(target)
    listed = [*target.written, target.lib / "installed.txt"]
    lines = [*map(str, listed), *(f"{folder}/" for folder in reversed(target.made))]
    target.write("".join(f"{line}\n" for line in lines), target.lib / "installed.txt")
    if not target.destdir:
        print(f"installed {len(listed)} files; {target.prefix}/bin/linklab doctor shows what else this machine needs")


def require_stage(*, kernel: bool, student: bool) -> None:
    """Check that `make build` has made what is to be installed; the InstallError says what to type."""
    if not STAGE.is_dir():
        raise InstallError(f"{STAGE} is missing; run make build")
    if student and not (STAGE / "student").is_dir():
        raise InstallError(f"{STAGE / 'student'} is missing: it was built by an older Linklab; run make build")
    if kernel and not (STAGE / "kernel").is_dir():
        raise InstallError(f"{STAGE} contains no pocket kernel (`make deb ARCH=arm64` leaves it out); run make build")


def require_modules() -> None:
    """Check that the distribution's Python has all that Linklab takes from it; the InstallError says what to type."""
    look = "import importlib.util, sys; print(*(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))"
    done = subprocess.run([PYTHON, "-I", "-c", look, *ASKED_FOR], capture_output=True, text=True, check=True)
    if missing := done.stdout.split():
        packages = " ".join(sorted(ASKED_FOR[module] for module in missing))
        raise InstallError(
            f"{PYTHON} lacks {', '.join(missing)}; run: sudo apt-get install {packages} (or install your "
            f"distribution's packages, or use {PYTHON} -m pip)"
        )


def _install_python(target: Target) -> None:
    """Install the environment (pyvenv.cfg, which site reads) and the command; one folder serves every Python 3."""
    venv = target.lib / "venv"
    target.write(f"home = {Path(PYTHON).parent}\ninclude-system-site-packages = true\n", venv / "pyvenv.cfg")
    target.link(PYTHON, venv / "bin/python")
    target.write(LAUNCHER.format(python=venv / "bin/python"), venv / "bin/linklab", 0o755)
    packages = venv / "lib/python3/site-packages"
    target.tree(STAGE / "packages", packages)
    target.write(f"{target.lib}\n", packages / "linklab.pth")
    for name in PYTHONS:
        target.link("python3", venv / "lib" / name)
    target.link("../lib/linklab/venv/bin/linklab", target.prefix / "bin/linklab")


def compile_code(target: Target) -> None:
    """Compile what Python will import, as pockets read it (linklab/engine/bytecode.py)."""
    _run([str(target.lib / "venv/bin/python"), "-I", "-m", "linklab.engine.bytecode"])


def uninstall(target: Target) -> None:
    """Remove the installed files, the code compiled from them, and the folders made for them that are then empty."""
    listing = target.at(target.lib / "installed.txt")
    if not listing.is_file():
        raise InstallError(f"{listing} is missing: make install has not installed Linklab with this PREFIX")
    lines = listing.read_text(encoding="utf-8").splitlines()
    for path in (target.at(Path(line)) for line in lines if not line.endswith("/")):
        path.unlink(missing_ok=True)
        if path.suffix == ".py":
            shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    folders = [target.at(Path(line)) for line in lines if line.endswith("/")]  # the innermost first
    forget_databases(target.at(target.prefix), folders)
    for folder in folders:
        with contextlib.suppress(OSError):  # it holds files of other programs, or is gone
            folder.rmdir()


def renew_databases(prefix: Path) -> None:
    """Update the databases of file types, icons, and applications; a machine without their tools has no desktop."""
    for command, folder, source, _ in DATABASES:
        program, *options = command.split()
        if shutil.which(program) and (prefix / folder / source).is_dir():
            # update-desktop-database complains about a prefix where desktops do not look, so its output is captured
            done = subprocess.run(
                [program, *options, str(prefix / folder)], capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"install: {program} failed with exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr)


def forget_databases(prefix: Path, ours: list[Path]) -> None:
    """Remove databases in folders that our installation made, unless files of other programs are there too."""
    for _, folder, source, made in DATABASES:
        place = prefix / folder
        if place not in ours or any(path.is_file() and path.name != made for path in (place / source).rglob("*")):
            continue
        for path in place.glob(made):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _run(command: list[str]) -> None:
    if (code := subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode) != 0:
        raise InstallError(f"a command failed with exit {code}: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
