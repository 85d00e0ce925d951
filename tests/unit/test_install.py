# SPDX-License-Identifier: BSD-3-Clause
"""tools/install.py: what is installed, and that uninstalling takes exactly that away."""

import bz2
import gzip
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import pytest

from linklab import __version__, pocket_kernel
from linklab.base import installation
from linklab.exercise.load import exercise_folders, load_exercise

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The module, with a small stage instead of what `make build` makes."""
    spec = importlib.util.spec_from_file_location("linklab_install", ROOT / "tools/install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stage = tmp_path / "stage"
    for name in (
        "packages/small.py",
        "bpf/edt-0123456789ab.o",
        "page/xterm.mjs",
        "native/iperf3_wait-x86_64-0123456789ab.so",
        "pages/man1/linklab.1",
        *(f"pages/completions/{s}" for s in ("bash", "zsh", "fish")),
    ):
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).write_text("")
    subprocess.run([sys.executable, ROOT / "tools/student_files.py", "write", stage / "student"], check=True)
    built = stage / f"kernel/7.3.4-{pocket_kernel.digest()}"
    built.mkdir(parents=True)
    (built / "linux").touch(0o755)
    (built / "info.json").write_text('{"version": "7.3.4"}')
    monkeypatch.setattr(module, "STAGE", stage)
    return module


def everything(folder: Path) -> set[str]:
    """Names of all files and folders below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_an_installation_is_laid_out_like_a_clone(tool, tmp_path):
    """So one function finds the data in both; what is only for the work on Linklab is left out."""
    assert tool.main(["install", "--prefix", "/usr", "--destdir", str(tmp_path / "root")]) == 0
    lib = tmp_path / "root/usr/lib/linklab"
    assert installation.installed(lib)
    for name in ("labs/14-router-bufferbloat/manual.md", "topologies/Lab 14.mn", "exercises/3-tcp-and-switch-buffers"):
        assert (lib / name).exists()
    assert (lib / "scripts/plot_q.sh").stat().st_mode & 0o777 == 0o755
    assert (lib / "labs/14-router-bufferbloat/manual.md").stat().st_mode & 0o777 == 0o644
    assert (lib / "linklab/bpf/built/edt-0123456789ab.o").is_file()
    assert (lib / "linklab/page/built/xterm.mjs").is_file()
    assert (lib / "linklab/page/static/page.html").is_file()
    assert (lib / "linklab/native/built/iperf3_wait-x86_64-0123456789ab.so").is_file()
    assert (lib / "linklab/engine/init.sh").read_bytes() == (ROOT / "linklab/engine/init.sh").read_bytes()
    assert not [name for name in everything(lib) if "__pycache__" in name or name.startswith("tests")]


def test_the_installed_command_sees_the_package_and_what_is_beside_it(tool, tmp_path, monkeypatch):
    """By an environment of its own, whichever Python 3 the distribution has; the kernel is the installation's."""
    prefix = tmp_path / "prefix"
    monkeypatch.setattr(tool, "ASKED_FOR", {})  # this machine's Python may lack some of them
    assert tool.main(["install", "--prefix", str(prefix), "--no-finish"]) == 0
    code = (
        "import linklab, small; from linklab import pocket_kernel; "
        "print(linklab.__file__, small.__file__, pocket_kernel.find().path)"
    )
    done = subprocess.run(
        [prefix / "lib/linklab/venv/bin/python", "-I", "-c", code], capture_output=True, text=True, check=True
    )
    lib = prefix / "lib/linklab"
    package, small, found = done.stdout.split()
    assert (package, found) == (f"{lib}/linklab/__init__.py", f"{lib}/kernel/7.3.4-{pocket_kernel.digest()}/linux")
    assert Path(small).resolve() == lib / "venv/lib/python3/site-packages/small.py"
    said = subprocess.run([prefix / "bin/linklab", "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"linklab {__version__}\n"


def test_a_students_installation_has_nothing_of_the_instructors(tool, tmp_path, capsys):
    """It lacks no other file, its exercises work, and the look that `make student-deb` takes finds nothing."""
    roots = {name: tmp_path / name for name in ("whole", "student")}
    for name, root in roots.items():
        options = ["--student"] if name == "student" else []
        assert tool.main(["install", "--prefix", "/usr", "--destdir", str(root), "--no-finish", *options]) == 0
    lacks = {name for name in everything(roots["whole"]) if (roots["whole"] / name).is_file()}
    lacks -= everything(roots["student"])
    lib = "usr/lib/linklab/"
    of_instructor = rf"{lib}(exercises|problems)/([0-9][^/]*/(solution/|wrong/|key\.md$)|template/)"
    assert lacks
    assert not [name for name in lacks if not re.match(of_instructor, name)]
    assert not everything(roots["student"]) - everything(roots["whole"])
    folders = exercise_folders(roots["student"] / lib)
    assert [load_exercise(folder).withheld is None for folder in folders] == [False] * 11
    answers = (roots["student"] / lib / "labs/14-router-bufferbloat/answers.md").read_text()
    assert "{#predict-one-round-trip}" in answers and "## Questions" not in answers

    look = [sys.executable, ROOT / "tools/student_files.py", "check"]
    told = subprocess.run([*look, roots["student"]], capture_output=True, text=True, check=True).stdout
    assert told == f"{roots['student']}: 11 exercises, without the instructor's part\n"
    found = subprocess.run([*look, roots["whole"]], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    for line in (
        "exercises/3-tcp-and-switch-buffers/solution/work.sh: this file is the instructor's",
        "problems/1-troubleshooting-a-wan/exercise.toml: holds the hidden check problem1/cause",
        "problems/1-troubleshooting-a-wan/exercise.toml: holds the key of the fault problem1/packet-loss",
        "labs/14-router-bufferbloat/answers.md: holds an answer of labs/14-router-bufferbloat/answers.md",
    ):
        assert f"{roots['whole']}: {lib}{line}\n" in found.stderr


def test_the_students_package_asks_for_what_the_instructors_does():
    """It is the same program; one takes the place of the other."""
    _, whole, student = (ROOT / "debian/control").read_text().split("\n\n")
    fields = re.compile(r"^(Architecture|Depends|Recommends|Suggests):((?:.*\n)(?: .*\n)*)", re.M)
    assert fields.findall(whole) == fields.findall(student)
    assert "Conflicts: linklab-student\nReplaces: linklab-student\n" in whole
    assert "Conflicts: linklab\nReplaces: linklab\n" in student
    for script in ("docs", "lintian-overrides", "postinst", "prerm", "triggers"):
        assert (ROOT / f"debian/linklab-student.{script}").resolve() == ROOT / f"debian/linklab.{script}"


@pytest.mark.parametrize(("options", "package"), [([], "linklab-student"), (["INSTRUCTOR=1"], "linklab")])
def test_the_image_for_students_has_their_package(options, package):
    """Unless the instructor's is asked for; what is packed for students is looked through."""
    lines = subprocess.run(
        ["make", "-n", "vm", *options], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    (packed,) = (line for line in lines if line.endswith("clean binary"))
    assert packed.startswith(f"PACKAGE={package} ")
    (image,) = (line for line in lines if "vm.build" in line)
    assert f"--deb build/deb/{package}_*_amd64.deb" in image
    checked = [line for line in lines if f"student_files.py check build/deb/{package}_*_amd64.deb" in line]
    assert len(checked) == (package == "linklab-student")
    rules = ["make", "-n", "-f", "debian/rules", "override_dh_auto_install", f"PACKAGE={package}"]
    said = subprocess.run(rules, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"--destdir debian/{package} " in said
    assert ("--student" in said) == (package == "linklab-student")


@pytest.mark.parametrize("package", ["linklab", "linklab-student"])
def test_the_containers_image_is_built_from_either_package(package):
    """Regression: .dockerignore kept the students' package from Docker, so their image could not be built."""
    ignored, *sent = (ROOT / ".dockerignore").read_text().split()
    copied = re.search(r"^COPY (\S+) ", (ROOT / "Dockerfile").read_text(), re.M)[1]
    pattern = copied.replace("${PACKAGE}", package)
    file = f"build/deb/{package}_{__version__}_amd64.deb"
    other = f"build/deb/{'linklab' if package != 'linklab' else 'linklab-student'}_{__version__}_amd64.deb"
    assert ignored == "*"
    assert [fnmatch(file, pattern), fnmatch(other, pattern)] == [True, False]
    assert any(name[0] == "!" and fnmatch(file, name[1:]) for name in sent)


DESKTOP = ("gio", "update-mime-database", "update-desktop-database")


@pytest.mark.skipif(not all(map(shutil.which, DESKTOP)), reason=f"needs {', '.join(DESKTOP)}, as desktops have them")
def test_a_double_click_opens_data_files_and_topologies(tool, tmp_path, monkeypatch):
    """What GLib's desktops start for our files once Linklab is installed, also where a name has spaces."""
    prefix, called = tmp_path / "prefix", tmp_path / "called"
    monkeypatch.setattr(tool, "ASKED_FOR", {})
    assert tool.main(["install", "--prefix", str(prefix)]) == 0
    (prefix / "bin/linklab").write_text(f"#!/bin/sh\nprintf '%s|' \"$@\" >> '{called}'\n")
    for name, value in (
        ("PATH", f"{prefix}/bin:{os.environ['PATH']}"),
        ("XDG_DATA_DIRS", f"{prefix}/share:/usr/share"),
        ("XDG_DATA_HOME", str(tmp_path / "home")),
        ("XDG_CONFIG_HOME", str(tmp_path / "home")),
    ):
        monkeypatch.setenv(name, value)
    files = {
        "a run.flent.gz": gzip.compress(b"{}"),
        "b.flent.bz2": bz2.compress(b"{}"),
        "c.flnt": bz2.compress(b"{}"),
        "d.flent": b"{}",
        "e.mn": b"{}",
    }
    wanted = ""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        subprocess.run(["gio", "open", tmp_path / name], check=True, capture_output=True)
        wanted += f"{'edit' if name == 'e.mn' else 'view'}|{tmp_path / name}|"
        until = time.monotonic() + 10
        while not (called.is_file() and called.read_text() == wanted) and time.monotonic() < until:
            time.sleep(0.02)
        assert called.read_text() == wanted


def test_wireshark_finds_running_networks_without_set_up(tool, tmp_path, monkeypatch):
    """The package's program lies where Debian's Wireshark looks, also in a package for another processor."""
    monkeypatch.setenv("DEB_HOST_ARCH", "arm64")
    assert tool.main(["install", "--prefix", "/usr", "--destdir", str(tmp_path / "root"), "--no-finish"]) == 0
    program = tmp_path / "root/usr/lib/aarch64-linux-gnu/wireshark/extcap/linklab-extcap"
    assert program.read_text() == '#!/bin/sh\nexec /usr/bin/linklab extcap "$@"\n'
    assert program.stat().st_mode & 0o777 == 0o755


def test_uninstalling_leaves_what_was_there_before(tool, tmp_path):
    """Files and empty folders of others stay, compiled code goes; installing over an installation is no difference."""
    root = tmp_path / "root"
    (root / "usr/share/man/man1").mkdir(parents=True)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/other").touch()
    before = everything(root)
    options = ["--prefix", "/usr", "--destdir", str(root)]
    assert tool.main(["install", *options]) == 0
    first = everything(root)
    assert tool.main(["install", *options]) == 0
    assert everything(root) == first
    (root / "usr/lib/linklab/linklab/__pycache__").mkdir()
    (root / "usr/lib/linklab/linklab/__pycache__/cli.pyc").touch()
    # what desktops make of our files
    (root / "usr/share/mime/application").mkdir()
    for made in ("mime/mime.cache", "mime/application/x.xml", "applications/mimeinfo.cache"):
        (root / "usr/share" / made).touch()
    (root / "usr/share/icons/hicolor/icon-theme.cache").touch()
    assert tool.main(["uninstall", *options]) == 0
    assert everything(root) == before


def test_what_the_distributions_python_lacks_is_named_with_its_packages(tool, tmp_path, monkeypatch, capsys):
    """Before anything is installed; each is one that the Debian package asks for."""
    control = (ROOT / "debian/control").read_text()
    assert all(re.search(rf"^ {package}\b", control, re.M) for package in tool.ASKED_FOR.values())
    monkeypatch.setattr(tool, "ASKED_FOR", {**tool.ASKED_FOR, "no_such": "python3-no-such"})
    assert tool.main(["install", "--prefix", str(tmp_path / "here"), "--no-finish"]) == 4
    assert "lacks" in (said := capsys.readouterr().err) and "python3-no-such" in said
    assert "sudo apt-get install " in said
    assert not (tmp_path / "here").exists()


def test_what_cannot_be_done_is_said(tool, tmp_path, capsys):
    """A prefix that is no path, nothing built, nothing installed."""
    assert tool.main(["install", "--prefix", "usr"]) == 4
    assert tool.main(["uninstall", "--prefix", str(tmp_path)]) == 4
    tool.STAGE = tmp_path / "nothing"
    assert tool.main(["install", "--prefix", str(tmp_path)]) == 4
    assert capsys.readouterr().err.splitlines() == [
        "install: PREFIX usr is not an absolute path; write it from / on",
        f"install: {tmp_path}/lib/linklab/installed.txt is missing: make install has not installed Linklab with "
        "this PREFIX",
        f"install: {tmp_path}/nothing is missing; run make build",
    ]


def test_the_package_asks_for_what_the_set_up_installs():
    """debian/control names every package that labs and manuals need, its version is ours, and so are the folders."""
    control = (ROOT / "debian/control").read_text()
    asked = set(
        re.findall(r"[a-z0-9][a-z0-9.+-]+", control[control.index("Depends: ${shlibs") : control.index("Suggests")])
    )
    listed = (ROOT / "tools/packages.txt").read_text().partition("# the pocket kernel's build")[0].splitlines()
    needed = {name for name in listed if not name.startswith("#")} - {"python3-venv"}  # for .venv alone
    assert needed - asked == set()
    assert (ROOT / "debian/changelog").read_text().startswith(f"linklab ({__version__}) ")


@pytest.mark.parametrize(("options", "kernel"), [([], True), (["ARCH=arm64"], False)])
def test_only_the_package_for_x86_64_has_the_kernel(options, kernel):
    """User-mode Linux exists for no other processor; amd64 is what is built without being asked."""
    lines = subprocess.run(
        ["make", "-n", "deb", *options], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    (built,) = (line for line in lines if "install.py build" in line)
    (packed,) = (line for line in lines if line.endswith("clean binary"))
    assert ("--no-kernel" in built) == (not kernel)
    assert f"DEB_HOST_ARCH={'amd64' if kernel else 'arm64'} " in packed
    rules = subprocess.run(
        ["make", "-n", "-f", "debian/rules", "override_dh_auto_install"],
        cwd=ROOT,
        env={**os.environ, "DEB_HOST_ARCH": "amd64" if kernel else "arm64"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ("--no-kernel" in rules) == (not kernel)


def test_what_is_installed_is_what_is_looked_for(tool):
    """tools/install.py cannot import the package that it installs, so it repeats the names."""
    assert tool.DATA == installation.DATA
    assert all((ROOT / name).is_dir() for name in installation.DATA)


def test_vendored_packages_meet_what_is_asked_for():
    """Those that Debian has in older versions; the others Debian's packages bring, in the version asked for."""
    control = (ROOT / "debian/control").read_text()
    vendored = {line.split("==")[0] for line in (ROOT / "tools/vendored.txt").read_text().splitlines() if "==" in line}
    asked = re.findall(r'^  "([a-z0-9-]+)>=([\d.]+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert len(asked) == 9
    for name, version in asked:
        package = f"python3-{name.removeprefix('py')}"  # Debian's name of PyYAML
        assert name in vendored or f"{package} (>= {version})" in control, name
