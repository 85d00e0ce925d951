# SPDX-License-Identifier: BSD-3-Clause
"""A container as platforms start one: root with Docker's default capabilities and without namespaces of its own.

Made by bubblewrap with this machine's programs: Linklab lies in /opt/linklab as a package puts it there, its exercises
for root alone; /dev/shm is small and noexec, as in Docker. Needs root.
"""

import io
import subprocess
import sys
import tarfile
from pathlib import Path

from linklab import pocket_kernel

ROOT = Path(__file__).resolve().parent.parent
HOME = "/opt/linklab"
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID")
"""Those that docs/harness.md names, half of what Docker gives (moby, oci/caps/defaults.go)."""
PATH = "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def container(*binds, mode="0700", denied="namespaces"):
    """The command that runs another one in a new container.

    Args:
        binds: arguments of bubblewrap for more.
        mode: of the folders with exercises, which are for root alone.
        denied: system calls, as for denied.py.
    """
    command = ["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent"]
    command += ["--cap-drop", "ALL"]
    for name in CAPABILITIES:
        command += ["--cap-add", f"CAP_{name}"]
    command += ["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            command += ["--symlink", str(Path("/", name).readlink()), f"/{name}"]
    for name in ("boot", "home", "media", "mnt", "srv", "sys"):
        command += ["--perms", "0755", "--dir", f"/{name}"]
    for name in ("/tmp", "/var/tmp"):
        command += ["--perms", "1777", "--tmpfs", name]
    command += ["--size", str(64 * 2**20), "--perms", "1777", "--tmpfs", "/dev/shm", "--tmpfs", "/run"]
    command += ["--perms", "0700", "--dir", "/root", "--perms", "0755", "--dir", HOME]
    for name in ("linklab", "scripts"):
        command += ["--ro-bind", str(ROOT / name), f"{HOME}/{name}"]
    command += ["--dir", f"{HOME}/kernel"]
    for path in [*sorted((ROOT / "kernel").iterdir()), pocket_kernel.require().path.parent]:
        command += ["--ro-bind", str(path), f"{HOME}/kernel/{path.name}"]
    for name in ("exercises", "problems", "labs", "topologies"):
        command += ["--perms", mode, "--dir", f"{HOME}/{name}"]
        for path in sorted((ROOT / name).iterdir()):
            command += ["--ro-bind", str(path), f"{HOME}/{name}/{path.name}"]
    packages = next(Path(sys.prefix, "lib").glob("python3*/site-packages"))
    command += ["--ro-bind", str(packages), "/opt/packages", *binds, "--clearenv", "--chdir", "/root"]
    known = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8"}
    known["PYTHONPATH"] = f"{HOME}:/opt/packages"
    for name, value in known.items():
        command += ["--setenv", name, value]
    denies = ["/usr/bin/python3", "/denied.py", denied]
    return [*command, "--ro-bind", str(ROOT / "tests/denied.py"), "/denied.py", "--", *denies]


def linklab(*arguments):
    """`linklab` in a container."""
    return ["/usr/bin/python3", "-m", "linklab", *arguments]


def inside(command, *binds, mode="0700", denied="namespaces", **options):
    """Run a command in a new container, and give what it printed."""
    whole = [*container(*binds, mode=mode, denied=denied), *command]
    return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=600, **options)


def deb(name):
    """A Debian package of that name, with nothing in it."""
    control = io.BytesIO()
    with tarfile.open(fileobj=control, mode="w:xz") as archive:
        text = f"Package: {name}\nVersion: 1\n".encode()
        entry = tarfile.TarInfo("./control")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    content = b"!<arch>\n"
    for member, data in (("debian-binary", b"2.0\n"), ("control.tar.xz", control.getvalue()), ("data.tar.xz", b"x")):
        head = f"{member:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
        content += head + data + b"\n" * (len(data) % 2)
    return content
