# SPDX-License-Identifier: BSD-3-Clause
"""Compiled code for inside a pocket is the same wherever the package lies."""

import importlib.util
import os
import sys
from pathlib import Path

from linklab.engine.bytecode import compile_package


def package(folder: Path) -> Path:
    """A package of one module."""
    folder.mkdir(parents=True)
    source = folder / "linklab" / "one.py"
    source.parent.mkdir()
    source.write_text("def f():\n    raise ValueError\n")
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


def test_a_changed_module_is_compiled_again(tmp_path):
    """Another time or size of the source makes the compiled file old."""
    folder = package(tmp_path / "a")
    compile_package(folder)
    (folder / "one.py").write_text("def f():\n    return 1\n")
    assert len(compile_package(folder)) == 1


def test_code_that_python_compiled_for_itself_is_replaced_and_still_tells_the_real_path(tmp_path):
    """An import outside writes the path outside into the file; ours is put in its place, and Python corrects it."""
    folder = package(tmp_path / "a")
    compile_package(folder)
    spec = importlib.util.spec_from_file_location("one_of_a_clone", folder / "one.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop("one_of_a_clone", None)
    assert module.f.__code__.co_filename == str(folder / "one.py")


def test_a_module_that_cannot_be_compiled_is_left(tmp_path):
    """The person who broke it will be told by whoever imports it."""
    folder = package(tmp_path / "a")
    (folder / "one.py").write_text("def (\n")
    assert compile_package(folder) == []
