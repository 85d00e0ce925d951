# SPDX-License-Identifier: BSD-3-Clause
"""The program is compiled by each compiler of the distribution, and its object is read."""

import shutil
import struct

import pytest

from linklab.bpf import build
from linklab.errors import MissingError
from linklab.linux import bpf, edt_maps, edt_object, elf

COMPILERS = sorted({command[0] for command in build.COMPILERS})


@pytest.fixture
def sources(tmp_path):
    """A folder with the sources alone."""
    for name in edt_object.SOURCES:
        shutil.copy(edt_object.FOLDER / name, tmp_path)
    return tmp_path


@pytest.fixture
def only(monkeypatch):
    """Leave one compiler, or none."""

    def leave(name: str) -> None:
        if name and shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        monkeypatch.setattr(build, "COMPILERS", [command for command in build.COMPILERS if command[0] == name])

    return leave


@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_compiler_gives_an_object_with_the_maps_of_the_header(compiler, only, sources):
    """Without a warning, in both variants; sizes are those that user space packs."""
    only(compiler)
    for path in build.compile_program(sources):
        found = elf.read(path.read_bytes())
        assert {name: (shape.key_bytes, shape.value_bytes) for name, shape in found.maps.items()} == {
            "edt_links": (edt_maps.KEY.size, edt_maps.LINK.size),
            "edt_states": (8, edt_maps.STATE.size),
            "edt_tables": (4, 2 * edt_maps.TABLE_SIZE),
            "edt_about": (4, edt_maps.ABOUT.size),
        }
        assert found.license == "BSD"
        assert {name for _, name in found.uses} == set(found.maps)
        assert len(found.instructions) % 8 == 0


def test_an_open_map_stands_in_each_instruction_that_names_it(only, sources):
    """As a 64-bit load whose source register says so (BPF_PSEUDO_MAP_FD)."""
    only("clang")
    found = elf.read(build.compile_program(sources)[0].read_bytes())
    code = found.linked({name: 100 + number for number, name in enumerate(sorted(found.maps))})
    for offset, name in found.uses:
        operation, registers, _, value = struct.unpack_from("<BBhi", code, offset)
        assert (operation, registers >> 4, value) == (0x18, 1, 100 + sorted(found.maps).index(name))
    assert len(code) == len(found.instructions)


def test_an_object_of_other_sources_is_removed(only, sources):
    """And what is compiled already is left alone."""
    only("clang")
    first = build.compile_program(sources)
    times = [path.stat().st_mtime_ns for path in first]
    assert [path.stat().st_mtime_ns for path in build.compile_program(sources)] == times
    with (sources / "edt.h").open("a") as header:
        header.write("/* another */\n")
    second = build.compile_program(sources)
    assert not set(first) & set(second)
    assert sorted((sources / "built").iterdir()) == sorted(second)


def test_without_a_compiler_the_package_to_install_is_named(only, sources):
    """And an engine goes on without: only `linklab link` needs the program."""
    only("")
    with pytest.raises(MissingError, match="neither clang nor bpf-gcc is there; install clang"):
        build.compile_program(sources)
    build.compile_if_possible()


def test_a_fault_in_the_program_is_told_with_the_compilers_words(only, sources):
    """And leaves no object."""
    only("clang")
    with (sources / "edt.bpf.c").open("a") as program:
        program.write("int broken(void) { return nothing; }\n")
    with pytest.raises(MissingError, match=r"(?s)edt.bpf.c: clang cannot compile it: .*nothing"):
        build.compile_program(sources)
    assert not list((sources / "built").iterdir())


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: b"", "ends early"),
        (lambda data: b"\x7fELF\x01" + data[5:], "not an eBPF object"),
        (lambda data: data[:18] + b"\x3e\x00" + data[20:], "not an eBPF object"),
        (lambda data: data[: len(data) // 2], "ends early|cut off"),
        (lambda data: data.replace(b"license\0", b"licence\0"), "it has no section license"),
        (lambda data: data.replace(b"classifier\0", b"classifies\0"), "it has no section classifier"),
    ],
)
def test_what_is_no_such_object_is_told(damage, says, only, sources):
    """As one sentence, never another exception."""
    only("clang")
    data = build.compile_program(sources)[0].read_bytes()
    with pytest.raises(elf.ObjectError, match=says):
        elf.read(damage(data))


def test_every_cut_of_an_object_is_refused_or_read(only, sources):
    """A damaged file raises ObjectError alone."""
    only("clang")
    data = build.compile_program(sources)[0].read_bytes()
    for end in range(0, len(data), 97):
        with pytest.raises(elf.ObjectError):
            elf.read(data[:end])


@pytest.mark.parametrize(("release", "is_old"), [("5.15.0-91-generic", True), ("6.1.0", False), ("7.3.4", False)])
def test_an_older_kernel_gets_the_program_without_kinds_of_stamps(release, is_old):
    """bpf_skb_set_tstamp is of Linux 5.18."""
    assert edt_object.find(release).name.endswith("-before-5.18.o") == is_old


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("78: (63) *(u32 *)(r10 -134) = r1\nmisaligned stack access off 0+-134\nprocessed 81 insns\n", 1),
        ("last insn is not an exit or jmp\n\nVerification failed: Structure\nA subprogram.\nprocessed 0 insns\n", 0),
    ],
)
def test_the_verifiers_reason_is_found_in_its_log(words, reason):
    """Logs of Linux 6 and 7; that of 7 explains itself after the reason."""
    assert bpf.ProgramRefusedError(words).last_words == words.splitlines()[reason]
    assert bpf.ProgramRefusedError("").last_words == "it does not say why"
