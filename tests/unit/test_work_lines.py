# SPDX-License-Identifier: BSD-3-Clause
"""Lines of work.sh that failed are named, with what they said, and bash does with the script what it always did."""

import subprocess

import pytest

from linklab.grade.rebuild import MOST_OUTPUT_BYTES
from linklab.grade.worklines import CACHES, FD, MOST_TOLD, WATCH, read_printed, sentences


@pytest.fixture
def played(tmp_path):
    """Run a script as the grader does; (stream, exit status)."""

    def play(script, watched=True):
        (tmp_path / "watch").write_text(WATCH.replace(CACHES, str(tmp_path / "caches")))
        (tmp_path / "work.sh").write_text(script)
        (tmp_path / "out").unlink(missing_ok=True)
        watch = "BASH_ENV=watch" if watched else ""
        done = subprocess.run(
            ["bash", "-c", f"exec env {watch} bash work.sh </dev/null >>out 2>&1 {FD}>>out"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            check=False,
        )
        return (tmp_path / "out").read_text(), done.returncode

    return play


def told(played, script):
    """The sentences on a script."""
    stream, status = played(script)
    return sentences(read_printed(stream), status)


def test_every_line_that_failed_is_named_with_what_it_said(played):
    """Only the end of a script used to be told: `work.sh ended with status 2; its last words`."""
    script = """\
echo fine
ls /nowhere
echo "no matter" >&2
false
nosuch --now   # a typing error
true
"""
    assert told(played, script) == [
        "work.sh, line 2: `ls /nowhere` failed with status 2: ls: cannot access '/nowhere': No such file or directory",
        "work.sh, line 4: `false` failed with status 1, and said nothing",
        "work.sh, line 5: `nosuch --now` failed with status 127: work.sh: line 5: nosuch: command not found",
    ]


@pytest.mark.parametrize("option", ["", "set -o noclobber"])
def test_the_kernel_is_told_to_forget_before_each_command(played, tmp_path, option):
    """Regression: a script that lets no file be overwritten kept that from being told."""
    (tmp_path / "caches").write_text("")
    assert told(played, f"{option}\n: >| caches\ntrue\n") == []
    assert (tmp_path / "caches").read_text() == "2"


def test_what_is_meant_to_fail_is_no_failure(played):
    """As bash itself sees it: conditions and what follows them."""
    assert told(played, "false || true\nif false; then :; fi\n! true\nfalse | true\nuntil true; do :; done\n") == []


def test_whoever_throws_a_complaint_away_expects_it(played):
    """As our own model answers do, which take away what may not be there."""
    assert told(played, "ls /nowhere 2>/dev/null\nls /nowhere &> /dev/null\ntrue\n") == []
    assert len(told(played, "ls /nowhere 2>&1 | cat; ls /nowhere >/dev/null\ntrue\n")) == 1


def test_what_is_asked_or_silenced_in_another_spelling_is_no_failure(played):
    """`> /dev/null 2>&1`, a count from 0, a test, the end of a file."""
    assert (
        told(played, "ls /nowhere > /dev/null 2>&1\ni=0; ((i++))\n[ a = b ]\necho a | grep -q b\nread x\ntrue\n") == []
    )


def test_of_a_pipeline_only_the_end_is_known(played):
    """Its parts print at the same time, so whose words they are is chance."""
    assert told(played, "set -o pipefail\nls /nowhere | cat\ntrue\n") == [
        "work.sh, line 2: `… | cat` failed with status 2"
    ]


def test_after_too_many_commands_words_are_nobodys(played):
    """Where beginnings are no longer marked; what is silenced stays so."""
    script = "for ((i = 0; i < 600; i++)); do :; done\necho one\nls /nowhere 2>/dev/null\nls /nowhere\ntrue\n"
    assert told(played, script) == ["work.sh, line 4: `ls /nowhere` failed with status 2"]


def test_a_script_that_tidies_up_its_environment_goes_on(played):
    """Without our variable under `set -u`, and without the marks' descriptor: nothing of ours is printed."""
    for script in (
        "set -u; unset LINKLAB_BEGUN\necho on\n",
        f"exec {FD}>&-\nshopt -s extdebug\necho on\nfalse\ntrue\n",
    ):
        stream, status = played(script)
        assert (read_printed(stream).text, status) == ("on\n", 0)


def test_a_line_in_a_loop_is_named_once_and_many_lines_are_counted(played):
    """However often it runs."""
    assert len(told(played, "for i in 1 2 3; do ls /no$i; done; true\n")) == 1
    many = told(played, "false\n" * (MOST_TOLD + 3) + "true\n")
    assert many[MOST_TOLD:] == ["3 more lines of work.sh failed"]


def test_the_end_of_a_script_is_told_where_no_line_says_it(played):
    """A syntax error and an exit of its own; not a last line that failed."""
    assert told(played, "false\nif then\n")[-1] == (
        "work.sh ended with status 2; its last words: "
        "work.sh: line 2: syntax error near unexpected token `then' / work.sh: line 2: `if then'"
    )
    assert told(played, "echo bye\nexit 3\n") == ["work.sh ended with status 3; its last words: bye"]
    assert told(played, "ls /nowhere\n") == [
        "work.sh, line 1: `ls /nowhere` failed with status 2: ls: cannot access '/nowhere': No such file or directory"
    ]


def test_a_script_does_what_it_does_without_being_watched(played):
    """`$_`, `$?`, PIPESTATUS, traces, options, functions and traps of its own; and what it prints, to the byte."""
    script = """\
mkdir d; echo "$_"; cd "$_" && pwd >/dev/null
false | true; echo "${PIPESTATUS[@]}"
false; echo "$?"
set -u; f() { echo "$1"; false; echo "in $?"; }; f x
set -x; ls /nowhere; set +x
echo "${BASH_ENV-none}"; bash -c 'false; echo child'
trap 'echo mine' ERR; false; trap - ERR
set -e
false
echo never
"""
    stream, status = played(script, watched=False)
    subprocess.run(["rmdir", "d"], check=False)
    watched, status_watched = played(script.replace("mkdir d", "mkdir -p d"))
    plain = stream.replace("+ mkdir d", "+ mkdir -p d")
    assert (read_printed(watched).text, status_watched) == (plain, status)
    assert "never" not in stream


def test_marks_of_a_strangers_own_change_nothing_but_the_own_report(played):
    """Forged, cut off or endless, what is told stays short and printable."""
    forged = "\x1eF1:1:7:rm -rf /\x1f"
    (sentence,) = sentences(read_printed(f"a\x1b[31m`b`\n{forged}"), 0)
    assert sentence == "work.sh, line 7: `rm -rf /` failed with status 1: a?[31m`b`"
    assert read_printed("\x1eF1:1:7:cut").text == "\x1eF1:1:7:cut"
    flood = "".join(f"\x1eF1:1:{n}:{'x' * 400}\x1f" for n in range(MOST_OUTPUT_BYTES // 400))
    said = sentences(read_printed(flood), 0)
    assert len(said) == MOST_TOLD + 1
    assert max(map(len, said)) < 200
