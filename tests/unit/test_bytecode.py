# SPDX-License-Identifier: BSD-3-Clause
"""Compiled code for inside a pocket is the same wherever the package lies."""

import importlib.util
import os
import py_compile
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

import linklab
from linklab.engine.bytecode import compile_package, unwritable


def package(folder: Path) -> Path:
    """A package of one module."""
    folder.mkdir(parents=True)
    source = folder / "linklab" / "one.py"
    source.parent.mkdir()
    source.write_text("def f():\n    assert f\n    raise ValueError\n")
    os.utime(source, (1_700_000_000, 1_700_000_000))
    return source.parent


def test_compiled_code_does_not_know_where_the_clone_is(tmp_path):
    """Two clones, the same bytes; what is compiled already is left alone."""
    near, far = package(tmp_path / "a"), package(tmp_path / "a much longer name" / "b")
    (one,) = compile_package(near)
    (other,) = compile_package(far)
    assert one.read_bytes() == other.read_bytes()
    assert b"/opt/linklab/linklab/one.py" in one.read_bytes()
    assert compile_package(near) == []


def test_an_installation_compiles_the_packages_beside_ours_so_too(tmp_path):
    """Regression: the clone's path in them moved memory, and two programs of Lab 24 began 1.5 µs later in one clone."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(venv)}))
    (site / "beside.py").write_text("def f():\n    return '\\d'\n")  # Python warns of it, and nobody is told
    (site / "ours.pth").write_text(f"{Path(linklab.__file__).parents[1]}\n")
    done = subprocess.run(
        [venv / "bin/python", "-I", "-m", "linklab.engine.bytecode"], check=True, capture_output=True, text=True
    )
    compiled = (site / f"__pycache__/beside.{sys.implementation.cache_tag}.pyc").read_bytes()
    assert f"/opt/linklab/venv/{site.relative_to(venv)}/beside.py".encode() in compiled
    assert os.fsencode(venv) not in compiled
    assert done.stdout + done.stderr == ""


def test_a_changed_module_is_compiled_again(tmp_path):
    """Another time or size of the source makes the compiled file old."""
    folder = package(tmp_path / "a")
    compile_package(folder)
    (folder / "one.py").write_text("def f():\n    return 1\n")
    assert len(compile_package(folder)) == 1


def test_code_that_python_compiled_for_itself_is_replaced_and_still_tells_the_real_path(tmp_path):
    """An import outside writes the path outside into the file; ours is put in its place, and Python corrects it."""
    folder = package(tmp_path / "a")
    source, compiled = folder / "one.py", folder / f"__pycache__/one.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(source), cfile=str(compiled), doraise=True)
    assert os.fsencode(source) in compiled.read_bytes()
    assert compile_package(folder) == [compiled]
    assert b"/opt/linklab/linklab/one.py" in compiled.read_bytes()
    assert os.fsencode(source) not in compiled.read_bytes()
    spec = importlib.util.spec_from_file_location("one_of_a_clone", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.f.__code__.co_filename == str(source)


def test_a_compiled_file_is_as_readable_as_its_source(tmp_path):
    """Regression: a grading process has a umask of 077, so the network's user could not read what it had compiled."""
    folder = package(tmp_path / "a")
    source, cache = folder / "one.py", folder / "__pycache__"
    folder.chmod(0o755)
    source.chmod(0o644)
    umask = os.umask(0o077)
    try:
        (compiled,) = compile_package(folder)
    finally:
        os.umask(umask)
    assert (stat.S_IMODE(cache.stat().st_mode), stat.S_IMODE(compiled.stat().st_mode)) == (0o755, 0o644)
    compiled.chmod(0o600)
    assert compile_package(folder) == [compiled]
    cache.chmod(0o700)
    assert compile_package(folder) == [compiled]
    assert compile_package(folder) == []
    folder.chmod(0o700)
    source.chmod(0o600)
    source.write_text("pass\n")
    assert compile_package(folder) == [compiled]
    assert stat.S_IMODE(compiled.stat().st_mode) == 0o600


def test_settings_of_the_python_outside_change_nothing(tmp_path):
    """Regression: with -O or PYTHONPYCACHEPREFIX the files lay where the Python inside does not look."""
    plain, special = package(tmp_path / "a"), package(tmp_path / "b")
    (expected,) = compile_package(plain)
    code = "import sys; from pathlib import Path; from linklab.engine.bytecode import compile_package as compile_\n"
    code += "for folder in 2 * sys.argv[1:]: print(*compile_(Path(folder)))"
    settings = {"PYTHONPYCACHEPREFIX": str(tmp_path / "cache"), "SOURCE_DATE_EPOCH": "1"}
    done = subprocess.run(
        [sys.executable, "-O", "-c", code, str(special)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    written = special / "__pycache__" / expected.name
    assert done.stdout == f"{written}\n\n"
    assert written.read_bytes() == expected.read_bytes()


def test_what_cannot_be_written_is_named(tmp_path):
    """Until somebody who may write has compiled it; regression: nobody was told."""
    folder = package(tmp_path / "a")
    assert unwritable(folder) == []
    (folder / "__pycache__").touch()
    assert compile_package(folder) == []
    assert unwritable(folder) == [folder / "one.py"]
    (folder / "__pycache__").unlink()
    compile_package(folder)
    assert unwritable(folder) == []


def test_a_module_that_cannot_be_compiled_is_left(tmp_path):
    """The person who broke it will be told by whoever imports it."""
    folder = package(tmp_path / "a")
    (folder / "one.py").write_text("def (\n")
    assert compile_package(folder) == []
