#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tries Linklab in a fresh Debian 12, a root folder entered by bubblewrap.  Run by `make deb-test`, as root.

    tools/fresh_root.py deb [FILE.deb]     install the package, use it as a user on a read-only system, remove it
    tools/fresh_root.py clone              clone the repository; make lab, make test, make install, make uninstall

What is typed and what comes of it goes to the terminal and to build/fresh-root/NAME.log. The package sources are this
machine's own (its mirror and its certificates, lent while the trial lasts). Exit 0 if everything was as expected.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build/fresh-root"
SUITE = "bookworm"
USER = "student"
HOME = f"/home/{USER}"
CLONE = f"{HOME}/linklab"
LENT = "/run/certificates.crt"
SECONDS = 3600
POLICY = "#!/bin/sh\nexit 101\n"  # as in every container: package scripts start no services, invoke-rc.d(8)


SANDBOXED = """
import subprocess
from linklab import pocket_kernel
from linklab.grade.bubblewrap import another_user, sandbox
from linklab.grade.limits import Limits
with sandbox(pocket_kernel.require().path, Limits(memory_mib=1, work_mib=1), another_user()) as (command, files):
    look = [*command, "/usr/bin/python3", "-ISc", "import os; print(os.listdir('/usr/lib/linklab'))"]
    subprocess.run(look, pass_fds=files, check=True)
"""


class TrialError(Exception):
    """What was not as expected."""


class Fresh:
    """A Debian root, and what is typed in it."""

    def __init__(self, name: str, include: Sequence[str]) -> None:
        PLACE.mkdir(parents=True, exist_ok=True)
        self.folder = PLACE / name
        self.log = (PLACE / f"{name}.log").open("w", encoding="utf-8")
        shutil.rmtree(self.folder, ignore_errors=True)
        listing = PLACE / "sources.list"
        listing.write_text("".join(f"{line}\n" for line in sources()))
        command = ["mmdebstrap", "--variant=minbase", f"--include={','.join(include)}"]
        command += [
            "--aptopt=APT::Install-Recommends false",
            "--dpkgopt=force-unsafe-io",
            SUITE,
            str(self.folder),
            str(listing),
        ]
        self.say(f"a fresh Debian: {SUITE}, minbase, {', '.join(include)}")
        self._run(command, quiet=True)
        (self.folder / "usr/sbin/policy-rc.d").write_text(POLICY)
        (self.folder / "usr/sbin/policy-rc.d").chmod(0o755)
        self.type(f"useradd --create-home --shell /bin/bash {USER}", root=True)

    def type(
        self, line: str, *, root: bool = False, read_only: bool = False, fails: bool = False, at: str = HOME
    ) -> str:
        """Run a line of shell there and give its output; TrialError if it fails, or does not and should."""
        self.say(f"\n{'#' if root else '$'} {line}" + ("    (read-only system)" if read_only else ""))
        user = ["--"] if root else ["--", "setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "env"]
        home = "/root" if root else HOME
        began = time.monotonic()
        inside = [*user, *([] if root else [f"HOME={home}", f"USER={USER}"]), "bash", "-c", f"cd {at}; {line}"]
        code, output = self._run([*self._enter(read_only=read_only, root=root), *inside])
        self.say(f"[exit {code}, {time.monotonic() - began:.1f} s]")
        if (code != 0) != fails:
            raise TrialError(f"{line}: exit {code}")
        return output

    def expect(self, what: str, *, holds: bool) -> None:
        """Note that something holds; TrialError if not."""
        self.say(f"{'ok' if holds else 'NOT OK'}: {what}")
        if not holds:
            raise TrialError(what)

    def files(self) -> set[str]:
        """Names of all files there, but for those of package managers and caches that grow with use."""
        grows = ("var/lib/dpkg", "var/lib/apt", "var/cache", "var/log", "run", "tmp", "home", "etc/ssl/certs")
        found = set()
        for folder, folders, names in os.walk(self.folder):
            here = Path(folder).relative_to(self.folder)
            folders[:] = [name for name in folders if str(here / name) not in grows]
            found |= {str(here / name) for name in names}
        return found

    def say(self, text: str) -> None:
        """To the terminal and the log."""
        print(text, flush=True)
        print(text, file=self.log, flush=True)

    def _enter(self, *, read_only: bool, root: bool) -> list[str]:
        command = ["bwrap", "--ro-bind" if read_only else "--bind", str(self.folder), "/"]
        # bubblewrap masks parts of a /proc of its own, beside which the grader's sandbox may mount none: users get ours
        command += ["--unshare-pid", "--proc", "/proc"] if root else ["--bind", "/proc", "/proc"]
        command += ["--ro-bind", "/sys", "/sys", "--dev", "/dev"]
        command += ["--perms", "1777", "--tmpfs", "/dev/shm", "--tmpfs", "/run"]  # noqa: S108
        command += ["--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
        if read_only:
            command += ["--bind", str(self.folder / HOME.lstrip("/")), HOME]
        command += ["--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf", "--unshare-ipc", "--unshare-uts"]
        command += ["--die-with-parent", "--clearenv", "--setenv", "LANG", "C.UTF-8"]
        command += ["--setenv", "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
        if certificates := os.environ.get("SSL_CERT_FILE"):
            command += ["--ro-bind", certificates, LENT]
            for name in ("SSL_CERT_FILE", "PIP_CERT", "GIT_SSL_CAINFO"):
                command += ["--setenv", name, LENT]
        for name in ("http_proxy", "https_proxy", "no_proxy"):
            if name in os.environ:
                command += ["--setenv", name, os.environ[name]]
        # who installs needs root's rights; who uses Linklab gets none, but for setpriv, which gives up being root
        rights = ["ALL"] if root else ["CAP_SETUID", "CAP_SETGID"]
        return command + [word for right in rights for word in ("--cap-add", right)]

    def _run(self, command: Sequence[str], *, quiet: bool = False) -> tuple[int, str]:
        lines = []
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                print(line, end="", file=self.log, flush=True)
                if not quiet:
                    print(line, end="", flush=True)
        if quiet and process.returncode:
            raise TrialError(f"{shlex.join(command)}: exit {process.returncode}\n{''.join(lines[-20:])}")
        return process.returncode, "".join(lines)


def sources() -> list[str]:
    """Lines of sources.list for the suite, from where this machine takes its own Debian packages."""
    form = "$(CREATED_BY) $(REPO_URI) $(CODENAME) $(COMPONENT)"
    asked = subprocess.run(
        ["apt-get", "indextargets", "--format", form], capture_output=True, text=True, check=True
    ).stdout
    mirrors = {}
    for line in asked.splitlines():
        kind, uri, _, component = [*line.split(), "", "", "", ""][:4]
        if (
            kind == "Packages"
            and component == "main"
            and uri.rstrip("/").rpartition("/")[2] in ("debian", "debian-security")
        ):
            mirrors[uri.rstrip("/").rpartition("/")[2]] = uri
    if "debian" not in mirrors:
        raise TrialError("apt's sources name no Debian mirror, so no fresh Debian can be made here")
    found = [f"deb {mirrors['debian']} {SUITE} main", f"deb {mirrors['debian']} {SUITE}-updates main"]
    if "debian-security" in mirrors:
        found.append(f"deb {mirrors['debian-security']} {SUITE}-security main")
    return found


def try_deb(package: Path) -> None:
    """Install the package, use it, remove it."""
    # what the package recommends, and what says of which type a file is; no more than that of a desktop
    fresh = Fresh("deb", ["bubblewrap", "desktop-file-utils", "libglib2.0-bin", "shared-mime-info", "xdg-utils"])
    fresh.type("apt-get update", root=True)
    shutil.copy(package, fresh.folder / "srv")
    before = fresh.files()
    fresh.type(f"DEBIAN_FRONTEND=noninteractive apt-get install -y /srv/{package.name}", root=True, at="/")
    installed = "/usr/lib/linklab -type f -o -type l -printf '%p %s %t %l\\n'"
    was = fresh.type(f"find {installed} | sort | sha256sum", root=True)
    use(fresh, read_only=True)
    fresh.type("for i in 3 19; do linklab manual $i --pdf; done; ls -l manuals", read_only=True)
    out = fresh.type("gio info -a standard::content-type '/usr/lib/linklab/topologies/Lab 1.mn'", read_only=True)
    fresh.expect("a .mn file is a topology", holds="application/x-mininet-topology" in out)
    out = fresh.type("echo {} | gzip > a.flent.gz; gio info -a standard::content-type a.flent.gz", read_only=True)
    fresh.expect("a .flent.gz file is a data file", holds="application/vnd.flent.data.gzip" in out)
    out = fresh.type("gio mime application/vnd.flent.data.gzip", read_only=True)
    fresh.expect("a double click opens it in the viewer", holds="linklab-viewer.desktop" in out)
    out = fresh.type(f"/usr/lib/linklab/venv/bin/python -I -c {shlex.quote(SANDBOXED)}", read_only=True)
    fresh.expect("no solution can be read in the grader's sandbox", holds=out == "[]\n")
    fresh.expect(
        "nothing installed was changed", holds=fresh.type(f"find {installed} | sort | sha256sum", root=True) == was
    )
    fresh.type("apt-get purge -y linklab", root=True)
    left = {path for path in fresh.files() - before if "linklab" in path.lower()}
    fresh.expect(f"nothing named linklab is left{': ' if left else ''}{', '.join(sorted(left))}", holds=not left)
    fresh.type("apt-get autoremove --purge -y", root=True)
    left = fresh.files() - before
    fresh.say(f"files that the packages it needed leave: {len(left)}\n" + "\n".join(sorted(left)))


def use(fresh: Fresh, *, read_only: bool) -> None:
    """What a person does with an installed Linklab."""
    fresh.type("linklab --version; linklab doctor", read_only=read_only)
    out = fresh.type("linklab run 14", read_only=read_only)
    fresh.expect("Lab 14 went to runs/ of the current folder", holds="Report: runs/lab14-" in out)
    fresh.type("ls runs/*/report.html && linklab manual 14 && linklab labs | tail -3", read_only=read_only)
    out = fresh.type('echo pingall | linklab shell "topologies/Lab 8.mn"', read_only=read_only)
    fresh.expect("pingall loses nothing", holds="0% dropped" in out)
    fresh.type("linklab record 14", read_only=read_only, fails=True)
    fresh.type(
        "linklab exercise start 3 --no-editor && cd exercise-3 && linklab check", read_only=read_only, fails=True
    )
    fresh.type("linklab clean --runs", read_only=read_only)


def try_clone() -> None:
    """`make lab`, `make test`, `make install` and `make uninstall` from a clone.

    bubblewrap keeps sudo from working in it, so root does what a user's `make lab` would do by sudo.
    """
    # and what renews the databases of a desktop
    desktop = ["shared-mime-info", "desktop-file-utils", "gtk-update-icon-cache", "hicolor-icon-theme"]
    fresh = Fresh("clone", ["ca-certificates", "git", "make", *desktop])
    bundle = fresh.folder / "srv/linklab.bundle"
    subprocess.run(["git", "bundle", "create", "--quiet", str(bundle), "HEAD"], cwd=ROOT, check=True)
    fresh.type("git clone --quiet /srv/linklab.bundle linklab && git -C linklab log -1 --oneline")
    fresh.type("make lab", at=CLONE, fails=True)
    fresh.type("tools/setup.sh packages", at=CLONE, root=True)
    fresh.type("make lab", at=CLONE)
    fresh.type("make test", at=CLONE)
    install_from_clone(fresh)


def install_from_clone(fresh: Fresh) -> None:
    """`make install` for all users, and away again."""
    fresh.type("make build", at=CLONE)
    told = fresh.type("make install", at=CLONE, root=True, fails=True)
    command = told.partition("run: sudo ")[2].partition(" (or")[0]
    fresh.expect("what is missing is named with the command that installs it", holds=command.startswith("apt-get "))
    fresh.type(f"DEBIAN_FRONTEND=noninteractive {command} -y --no-install-recommends", root=True)
    before = fresh.files()
    fresh.type("make install", at=CLONE, root=True)
    fresh.type("mv .cache hidden")  # the kernel that the clone built: the installed one is to serve
    use(fresh, read_only=True)
    added = {path for path in fresh.files() - before if path.startswith("usr/")}
    fresh.say(f"files added below /usr: {len(added)}")
    fresh.type("make uninstall", at=CLONE, root=True)
    left = {path for path in fresh.files() - before if path.startswith("usr/")}
    fresh.expect(f"none of them is left{': ' if left else ''}{', '.join(sorted(left))}", holds=not left)


def newest_package(arguments: Sequence[str]) -> Path:
    """The package that the arguments name, or the newest of build/deb.

    Raises:
        TrialError: there is none.
    """
    packages = [Path(arguments[0])] if arguments else sorted((ROOT / "build/deb").glob("linklab_*_amd64.deb"))
    if not packages:
        raise TrialError("there is no package in build/deb; run make deb")
    if not packages[-1].is_file():
        raise TrialError(f"{packages[-1]}: no such file; make deb builds a package")
    return packages[-1].resolve()


def exit_code(name: str, trial: Callable[[], None]) -> int:
    """Do a trial, and say how it went; what a program of that name ends with."""
    try:
        if os.geteuid() != 0:
            raise TrialError("a fresh Debian with users of its own needs root: run this with sudo")
        trial()
    except TrialError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    print(f"{name}: it went as expected")
    return 0


def main(arguments: list[str]) -> int:
    """Do the trial that is named."""
    what, *more = arguments or [""]
    if what not in ("deb", "clone") or len(more) > (what == "deb"):
        print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
        return 2
    return exit_code("fresh_root", lambda: try_deb(newest_package(more)) if what == "deb" else try_clone())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
