# SPDX-License-Identifier: BSD-3-Clause
"""The command that confines a program with bubblewrap, and why it cannot be had on a machine that denies it.

Why each part is there: docs/architecture.md, The sandbox. Format of the command: bwrap(1).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from linklab import pocket_kernel
from linklab.base import installation
from linklab.base.place import user_number
from linklab.base.processes import ended_first
from linklab.base.supervise import Ended, Job, supervised
from linklab.base.worker import Tell
from linklab.engine.bytecode import PACKAGE
from linklab.engine.pocket import BOOT_DEADLINE_S, virtual_environment
from linklab.errors import MissingError
from linklab.grade import subordinate, users
from linklab.grade.limits import Limits
from linklab.grade.syscalls import program
from linklab.linux.mounts import location, locations_below, mounts

PYTHON = "/usr/bin/python3"
POCKET, MEMORY = Path("/pocket"), Path("/memory")
"""Inside: what can be written, and what the kernel has for memory; file systems of a fixed size in ours."""
CODE = Path("/code")
VENV = CODE / "venv"
"""Inside: the virtual environment with the packages that Linklab's own commands need, if it has one."""
KERNEL = Path("/kernel/linux")
RUN = str(POCKET / "run")
"""A link to the folder of the run, which the kernel finds by /proc/self/cwd; so that link leads here."""
CONFIGURATION = (
    *("alternatives", "bash.bashrc", "debian_version", "ethertypes", "group", "host.conf", "inputrc", "iproute2"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "lsb-release", "networks", "nsswitch.conf"),
    *("os-release", "passwd", "profile", "protocols", "python3", "rpc", "services", "shells", "sysctl.conf"),
    *("fonts", "locale.alias", "matplotlibrc", "ssl/openssl.cnf", "sysctl.d", "terminfo", "timezone", "xattr.conf"),
)
"""What of /etc programs read that students use; nothing there is anybody's secret.

One that is missing takes other network time than one that is read: without these a run is not that of the plain pocket.
"""
FOLDERS = ("boot", "code", "etc", "home", "kernel", "media", "mnt", "opt", "root", "run", "srv", "sys")
INSTALLED_IN = (Path("/usr/lib"), Path("/usr/local/lib"))
"""Where a package, and `make install`, put Linklab."""
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - those inside
_SPARE_MIB = 16
_TRIAL_S = BOOT_DEADLINE_S
"""Wall-clock seconds, as many as a network has to come up: a machine may stand still for long beside hostile ones."""


@contextlib.contextmanager
def sandbox(
    kernel_path: Path, limits: Limits, user: int | None, processor: int | None = None
) -> Iterator[tuple[list[str], list[int]]]:
    """The command that starts another one in the sandbox, and the open files that it inherits.

    Args:
        kernel_path: the pocket kernel.
        limits: of what runs inside.
        user: number of the user that it runs as, from `another_user`; None for our own.
        processor: number of the only one that it runs on; None for all of ours.
    """
    command = [shutil.which("bwrap") or "bwrap", *(_OWN_NAMESPACES if user is None else _ROOTS_NAMESPACES)]
    command += ["--die-with-parent", "--new-session"]
    if user is None and _knows("--disable-userns"):
        command.append("--disable-userns")
    command += ["--hostname", "linklab", "--ro-bind", "/usr", "/usr"]
    for hidden in installed():
        command += ["--tmpfs", str(hidden), "--remount-ro", str(hidden)]
    for folder in FOLDERS:
        command += ["--perms", "0755", "--dir", f"/{folder}"]
    for folder in TEMPORARY:
        command += ["--perms", "1777", "--dir", folder]
    command += system_words()
    command += ["--symlink", "/run", "/var/run", "--symlink", "/run/lock", "/var/lock"]
    command += ["--perms", "0755", "--dir", "/proc", "--ro-bind", _OF_KERNEL, _OF_KERNEL]
    command += ["--perms", "0755", "--dir", "/proc/1", "--symlink", "1", "/proc/self", "--symlink", RUN, "/proc/1/cwd"]
    command += ["--dev", "/dev"]
    # the pool of pseudo-terminals is one for all containers of the machine (/proc/sys/kernel/pty/max)
    command += ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
    # mapped, /dev/zero would be memory that belongs to no process
    command += ["--dev-bind", "/dev/null", "/dev/zero", "--remount-ro", "/dev"]
    command += ["--ro-bind", str(PACKAGE), str(CODE / PACKAGE.name)]
    command += ["--ro-bind-try", str(_SCRIPTS), str(CODE / "scripts")]
    if (venv := packages()) is not None:
        command += ["--perms", "0755", "--dir", str(VENV)]
        for name in _OF_VENV:  # not all: pip.conf may hold passwords
            command += ["--ro-bind-try", str(venv / name), str(VENV / name)]
    command += ["--ro-bind", str(kernel_path), str(KERNEL)]
    command += ["--ro-bind-try", str(_modules(kernel_path)), str(KERNEL.parent / "modules")]
    with contextlib.ExitStack() as open_files:
        taken = [program()]
        open_files.callback(os.close, taken[0])
        for name in ("passwd", "group"):
            table = Path("/etc", name)
            number = _in_memory(without_people(table.read_text(encoding="utf-8", errors="replace")).encode())
            open_files.callback(os.close, number)
            command += ["--perms", "0644", "--ro-bind-data", str(number), str(table)]
            taken.append(number)
        for plain in set_id_programs():
            number = open_files.enter_context(plain.open("rb")).fileno()
            command += ["--perms", "0755", "--ro-bind-data", str(number), str(plain)]
            taken.append(number)
        for mib, writable in ((limits.memory_mib + _SPARE_MIB, MEMORY), (limits.work_mib, POCKET)):
            command += ["--perms", "1777", "--size", str(mib * 2**20), "--tmpfs", str(writable)]
        command += ["--remount-ro", "/", "--chdir", "/"]
        # in a file, because everybody on the machine can read the command line
        taken.append(_in_memory(b"\0".join(map(os.fsencode, command[1:]))))
        open_files.callback(os.close, taken[-1])
        settings = {"filter": taken[0], "user": user, "limits": limits.of_a_process()}
        settings |= {"processor": processor, "writable": None}
        entering = [PYTHON, "-I", "-S", str(_ENTER), json.dumps(settings)]
        yield [*ended_first(), command[0], "--args", str(taken[-1]), "--", *entering], taken


def installed() -> list[Path]:
    """Each Linklab where installations are, with solutions and hidden checks, and the one that grades if below /usr."""
    found = {path for place in INSTALLED_IN for path in place.glob("linklab*") if path.is_dir()}
    if _SHOWN in installation.ROOT.parents:
        found.add(installation.ROOT)
    real = sorted({path.resolve() for path in found})
    return [path for path in real if not any(other in path.parents for other in real)]


def packages() -> Path | None:
    """The virtual environment that Linklab runs in, with the packages that its commands need inside too.

    None if it runs in none, or in one whose Python is not the machine's, which the sandbox does not show.
    """
    venv = virtual_environment()
    return venv if venv is not None and _SHOWN in (venv / "bin/python").resolve().parents else None


def shown(paths: Iterable[Path]) -> list[Path]:
    """Those of these files and folders that everything in the sandbox could read, by whichever mount they are named."""
    seen = mounts()
    ours = [PACKAGE, _SCRIPTS, *_configuration(), *(top for top in _TOPS if top.is_dir() and not top.is_symlink())]
    if (built := pocket_kernel.find()) is not None:
        ours.append(_modules(built.path))
    if (venv := packages()) is not None:
        ours += [venv / name for name in _OF_VENV]
    bound = [each for folder in ours for each in locations_below(folder.resolve(), seen)]
    of_machine = [*locations_below(_SHOWN, seen)]
    hidden = [location(folder, seen) for folder in installed()]

    def is_shown(path: Path) -> bool:
        at = location(path.resolve(), seen)
        return any(map(at.is_in, bound)) or (any(map(at.is_in, of_machine)) and not any(map(at.is_in, hidden)))

    return [path for path in paths if is_shown(path)]


def _modules(kernel_path: Path) -> Path:
    """Where the modules of a kernel are, if it has some."""
    return kernel_path.parent / "modules"


def _in_memory(content: bytes) -> int:
    """An open file with that content; the caller closes it."""
    number = os.memfd_create("linklab")
    with os.fdopen(os.dup(number), "wb") as file:
        file.write(content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def without_people(table: str) -> str:
    """/etc/passwd or /etc/group without the accounts of people, and without remarks, passwords, and members.

    Programs look for the system's own accounts, which Debian numbers below 1000, and for nobody (Debian Policy 9.2.2).
    """
    kept = []
    for line in table.splitlines():
        fields = line.split(":")
        if len(fields) not in (_GROUP_FIELDS, _PASSWD_FIELDS) or not fields[2].isdecimal():
            continue
        if int(fields[2]) < _FIRST_PERSON or int(fields[2]) == _NOBODY:
            fields[1], fields[_REMARK if len(fields) == _PASSWD_FIELDS else _MEMBERS] = "x", ""
            kept.append(":".join(fields) + "\n")
    return "".join(kept)


_SHOWN = Path("/usr")
_TOPS = tuple(Path("/", name) for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"))
"""Links into /usr, or folders of their own where it is not merged."""
_SCRIPTS = PACKAGE.parent / "scripts"
_OF_VENV = ("bin", "lib", "lib64", "pyvenv.cfg")
_OF_KERNEL = "/proc/cpuinfo"
"""All of /proc that is inside: the pocket's kernel reads what the processor can do.

Any other file there has cost something: some tell of the machine or of what others do, reading some holds up the whole
machine, and Linux keeps up to 64 MiB for each that is open, which is charged to no process (fs/seq_file.c).
"""
_GROUP_FIELDS, _PASSWD_FIELDS, _MEMBERS, _REMARK = 4, 7, 3, 4
_FIRST_PERSON, _NOBODY = 1000, 65_534
_UNREADABLE = 77
_READS = f'for path; do test -r "$path" || {{ echo "$path cannot be read" >&2; exit {_UNREADABLE}; }}; done'
_ENTER = CODE / PACKAGE.name / "grade/enter.py"
_APART = ("pid", "ipc", "uts", "net", "cgroup-try")
_OWN_NAMESPACES = ("--unshare-all", "--unshare-user", "--cap-drop", "ALL")
_ROOTS_NAMESPACES = (
    *(f"--unshare-{name}" for name in _APART),
    *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"),
)
"""For root, which needs no user namespace to give another user; `linklab.grade.enter` drops these capabilities."""
_TOO_FEW = (
    f"not all numbers from {users.FREE.start} to {users.FREE.stop - 1} are ours to give, "
    "for which a range of 65,536 is needed"
)


def another_user() -> int | None:
    """Return the number of a user for the next network; None if we are not root, may not change users, or have no more.

    Each network has a user of its own, because Linux counts for each user how many processes there are, what they have
    in flight, and more.
    """
    ours = users.numbers() if os.geteuid() == 0 else range(0)
    return users.take(ours) if ours and not why_no_other_user() else None


def _is_machines_root() -> bool:
    """Whether we are root, and not that of a user namespace."""
    first = Path("/proc/self/uid_map").read_text(encoding="utf-8").split()[:2]
    return user_number() == 0 and first == ["0", "0"]


def as_whom() -> str:
    """Return which user the sandbox runs submissions as, in words that continue "bubblewrap starts programs, "."""
    if os.geteuid() != 0:
        why = why_no_subordinates()
        if not why:
            return "each network as a user of its own, one of your subordinate ones"
        return (
            "as the user who grades, without a capability, because no network can have a subordinate user of its own "
            f"({why})"
        )
    if why := why_no_other_user():
        return (
            f"as root without a capability, in a user namespace, because no other user can be given ({why}); "
            "grade as an ordinary user to keep root's number out"
        )
    return "each network as a user of its own"


def why_no_subordinates() -> str:
    """Why processes that grade could not give networks subordinate users, which one of them tries; "" if they could."""

    def tried(_tell: Tell) -> str:
        return subordinate.enter() or why_no_other_user()

    with supervised([Job(0, tried, deadline_s=2 * _TRIAL_S)], 1) as events:
        ended = next(event for event in events if isinstance(event, Ended))
    return str(ended.error) if ended.error is not None else ended.value or ""


def why_no_other_user() -> str:
    """Why root cannot start the sandbox as another user here, which is tried; "" if it can."""
    return _tried_as_another().said


@functools.cache
def _tried_as_another() -> _Trial:
    kernel = pocket_kernel.find()
    if kernel is None:
        return _Trial("there is no pocket kernel")
    ours = users.numbers()
    return _tried(kernel.path, ours[0]) if ours else _Trial(_TOO_FEW)


@dataclass(frozen=True)
class _Trial:
    """What came of a program in the sandbox: said is "" where it ran and could read all that it needs."""

    said: str
    unreadable: bool = False


def _tried(kernel_path: Path, user: int | None) -> _Trial:
    """Run a program in the sandbox that looks at what a network needs there.

    Raises:
        MissingError: it takes too long, so nothing is known; or libseccomp is missing.
    """
    needed = [CODE / PACKAGE.name / "engine/keeper.py", CODE / PACKAGE.name / "agent/agent.py", KERNEL]
    if packages() is not None:
        needed.append(VENV / "pyvenv.cfg")
    with sandbox(kernel_path, Limits(memory_mib=1, work_mib=1), user) as (command, taken):
        try:
            done = subprocess.run(
                [*command, "/bin/sh", "-c", _READS, "sh", *map(str, needed)],
                capture_output=True,
                text=True,
                check=False,
                timeout=_TRIAL_S,
                pass_fds=taken,
                env={},
            )
        except subprocess.TimeoutExpired as error:
            slow = f"bubblewrap does not start a program within {_TRIAL_S} s; try again when the machine is less busy"
            raise MissingError(slow) from error
    said = (done.stderr.strip() or f"status {done.returncode}") if done.returncode else ""
    return _Trial(said, unreadable=done.returncode == _UNREADABLE)


def system_words() -> list[str]:
    """Arguments that show the system's programs and its plain configuration, but for /usr."""
    command: list[str] = []
    for top in _TOPS:
        if top.is_symlink():
            command += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            command += ["--ro-bind", str(top), str(top)]
    for path in _configuration():
        command += ["--ro-bind-try", str(path), str(path)]
    return command


def _configuration() -> list[Path]:
    """What of /etc is shown, and which fonts there are, which a plot would otherwise find out in network time."""
    fonts = Path("/var/cache/fontconfig")
    return [*(Path("/etc", name) for name in CONFIGURATION), *sorted(Path("/etc").glob("python3.*")), fonts]


def set_id_programs() -> list[Path]:
    """Programs that run as their owner, such as mount.

    Outside of its user namespace root is nobody, also for the pocket's kernel, which would run them as that: so they
    are replaced by copies that run as whoever starts them.
    """
    found = []
    for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        if Path(folder).is_symlink() or not Path(folder).is_dir():
            continue
        for entry in os.scandir(folder):
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
                found.append(Path(entry.path))
    return sorted(path for path in found if os.access(path, os.R_OK))


def why_not() -> str | None:
    """Why nothing can be run in the sandbox here, with the cure; None if it can."""
    built = pocket_kernel.find()
    if shutil.which("bwrap") is None:
        return explain("", {}, installed=False)
    if built is None:
        return None  # said elsewhere
    if (venv := virtual_environment()) is not None and packages() is None:
        return (
            f"submissions are graded in a sandbox, which shows what lies in {_SHOWN}, and the Python of {venv}, with "
            "which Linklab's own commands run there, does not: install Linklab for the machine's own Python, as "
            "`make setup` does"
        )
    if why := _why_not_here():
        return f"submissions are graded in a sandbox, and this machine{why}"
    try:
        return _why_none_runs(built.path)
    except MissingError as error:
        return str(error)


def _why_none_runs(kernel_path: Path) -> str | None:
    """Why no program can be run as the user that networks need, which is tried; None if one can."""
    root = _is_machines_root()
    found = _tried_as_another() if root else _tried(kernel_path, another_user())
    if found.unreadable:
        return (
            f"submissions are graded in a sandbox, and its user cannot read what the network needs ({found.said}; "
            f"{CODE} there is {PACKAGE.parent} here, {KERNEL.parent} is {kernel_path.parent}, and {VENV} is "
            f"{packages() or PACKAGE.parent}): chmod -R o+rX these folders"
        )
    alone = _tried(kernel_path, None) if root and found.said else found
    if alone.said:
        return explain(alone.said, settings())
    # root itself would own the machine's devices inside, also in a namespace, and could close /dev/null to everybody
    refused = f"submissions are graded in a sandbox, and root can give it no other user here ({found.said})"
    return f"{refused}: grade as an ordinary user" if found.said else None


def _why_not_here() -> str:
    """What keeps this machine from having any, in words that continue "this machine"; "" if nothing does."""
    if not _filters_calls():
        return "'s kernel has no filters of system calls (seccomp)"
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    if hides := hidden_by(mounts, {os.getegid(), *os.getgroups()}):
        return (
            f" hides processes from you (/proc has {hides}), so limits of memory and processor time could not be held: "
            "sudo mount -o remount,hidepid=0 /proc, join the group that its gid= names, or grade as root"
        )
    return ""


def hidden_by(mounts: str, groups: Iterable[int]) -> str:
    """The option by which /proc hides other users' processes from a user with these groups, "" if it hides none.

    Under it, a process that has made itself unreadable is hidden even from its own user.

    Args:
        mounts: content of /proc/self/mountinfo (proc_pid_mountinfo(5)).
        groups: numbers.
    """
    if user_number() == 0:
        return ""
    lines = (line.split() for line in mounts.splitlines())
    *_, options = ("", *(words[-1] for words in lines if words[4] == "/proc"))  # the last lies on top
    found = dict(option.partition("=")[::2] for option in options.split(","))
    how = found.get("hidepid", "off")
    # members of the group gid= see all, by default of root's; hidepid=ptraceable exempts no group
    seen = how not in ("ptraceable", "4") and int(found.get("gid", 0)) in groups
    return "" if how in ("off", "0") or seen else f"hidepid={how}"


def explain(said: str, found: Mapping[str, str], *, installed: bool = True) -> str:
    """What keeps the sandbox from starting, as a sentence with its cure.

    Args:
        said: by bubblewrap.
        found: as `settings` finds them.
        installed: whether there is a bubblewrap.
    """
    begin = "submissions are graded in a sandbox, which cannot be had here: "
    if not installed:
        return f"{begin}bubblewrap is not installed: sudo apt-get install bubblewrap"
    if "nknown option" in said:
        return f"{begin}this bubblewrap is too old ({said.splitlines()[0]}): install version 0.7 or a later one"
    for name, denies, cure in _SETTINGS:
        if found.get(name) == denies:
            return f"{begin}this machine denies user namespaces ({name} = {denies}): {cure}"
    return (
        f"{begin}{said.splitlines()[0] if said else 'bubblewrap fails without a word'}. User namespaces seem to be "
        "denied: in a container start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, "
        "or grade on the machine itself"
    )


_SETTINGS = (
    ("kernel.unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user.max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    (
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or allow bwrap `userns,` in AppArmor",
    ),
)


def settings() -> dict[str, str]:
    """Those of `_SETTINGS` that this machine has."""
    found = {}
    for name, _, _ in _SETTINGS:
        with contextlib.suppress(OSError):
            found[name] = Path("/proc/sys", name.replace(".", "/")).read_text(encoding="utf-8").strip()
    return found


def _filters_calls() -> bool:
    """Whether this machine's kernel offers what `linklab.grade.syscalls` and the pocket's kernel need (seccomp(2))."""
    with contextlib.suppress(OSError):
        available = Path("/proc/sys/kernel/seccomp/actions_avail").read_text(encoding="utf-8").split()
        return {"trap", "user_notif"} <= set(available)
    return False


@functools.cache
def _knows(option: str) -> bool:
    """Whether this bubblewrap has an option."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        shown = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False, timeout=_TRIAL_S)
        return option in shown.stdout + shown.stderr
    return False
