# SPDX-License-Identifier: BSD-3-Clause
"""Batch files: the INI form, what is inherited and overlaid, loops, commands, names; stock Flent as an oracle."""

import configparser
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from linklab.errors import InputError
from linklab.experiment.batch import BatchChoice, batch_list
from linklab.experiment.batch_file import expand, parse, read_batch_files
from linklab.experiment.model import TrialCommand, When
from linklab.experiment.trial_list import as_folder, digest

HEAD = "[Batch::b]\ntest_name = tcp_1up\nhosts = h\npath = 10mbit 50ms\n"

RICH = """
[Batch::base]
abstract = yes
test_name = tcp_1up
hosts = localhost
path = 10mbit 50ms ${qdisc}
length = 3
x = ${y}-${z}
y = base
z = ${y}${y}
title = t ${x} ${repetition} ${batch_name} ${qdisc} $$HOME
output_path = out/${batch_name}
filename_extra = ${qdisc}-${cc}-${repetition}
repetitions = 3
for_q = q_*
for_cc = cub*, bbr
commands = pre1, off, post1, mon
test_parameters = tcp_cong_control=${cc};a=b
; a comment
[Batch::one]
inherits = base
y = one

[Batch::two]
inherits = one
disabled = yes

[Batch::three]
inherits = two

[Batch::four]
inherits = two, one
enabled: yes
disabled: no
for_cc = bbr
note = two
    lines

[Arg::q_one]
qdisc = one
[Arg::q_two]
inherits = q_one
cc = zz
qdisc = two
extra_commands = post2
[Arg::cubic]
cc = cubic
[Arg::bbr]
cc = bbr

[Command::pre1]
type = pre
exec = echo pre1 ${qdisc} ${own} ${HOME}
own = mine
extra_commands = post2, pre3
[Command::pre3]
type = pre
exec = echo ${type}
[Command::post1]
type = post
exec = echo post
[Command::post2]
type = post
exec = echo post2 ${cc}
essential = yes
[Command::off]
inherits = post2
disabled = yes
[Command::mon]
type = monitor
exec = sleep 100
kill = yes
"""


def listed(tmp_path: Path, *texts: str, names: tuple[str, ...] = (), **choice):
    """The list of trials of batch files with these texts."""
    choice.setdefault("shuffle_seed", None)
    return batch_list(read_batch_files(written(tmp_path, *texts)), BatchChoice(names, **choice))


def written(tmp_path: Path, *texts: str) -> list[Path]:
    """Batch files with these texts."""
    paths = [tmp_path / f"{number}.batch" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def titles(tmp_path: Path, *texts: str, **choice) -> list[str]:
    """The titles of the trials, in the order of the file."""
    return [entry.trial.title for entry in listed(tmp_path, *texts, **choice).entries]


def test_loops_are_crossed_in_the_order_of_the_file_and_repetitions_are_the_innermost(tmp_path):
    """Two loops of two and two repetitions are eight trials, and each repetition has the next seed."""
    text = HEAD + "for_b = x, y\nfor_a = u, v\nrepetitions = 2\ntitle = ${p}${q}${repetition}\n"
    text += "[Arg::x]\np = x\n[Arg::y]\np = y\n[Arg::u]\nq = u\n[Arg::v]\nq = v\n"
    found = listed(tmp_path, text).entries
    assert [each.trial.title for each in found] == ["xu01", "xu02", "xv01", "xv02", "yu01", "yu02", "yv01", "yv02"]
    assert [each.trial.seed for each in found] == [1, 2] * 4
    assert [each.name for each in found][:3] == ["b-x-u-01", "b-x-u-02", "b-x-v-01"]
    assert found[1].trial.extra["batch"] == {"arguments": ["x", "u"], "repetition": 2}


def test_a_pattern_of_a_loop_takes_argument_sets_in_the_order_of_the_file(tmp_path):
    """It names none or one twice only by mistake."""
    args = "title = ${p}\n[Arg::zz]\np = z\n[Arg::aa]\np = a\n"
    assert titles(tmp_path, HEAD + "for_a = *\n" + args) == ["z", "a"]
    with pytest.raises(InputError, match=r'0\.batch:5: \[Batch::b\]: no \[Arg::…\] is called "q\*"; there are: zz, aa'):
        listed(tmp_path, HEAD + "for_a = q*\n" + args)
    with pytest.raises(InputError, match='the loop takes "zz" twice'):
        listed(tmp_path, HEAD + "for_a = zz, *\n" + args)


def test_what_is_inherited_and_what_wins(tmp_path):
    """A later parent wins over an earlier one, the section over both; of loops the later wins, over all."""
    parents = "[Batch::i]\np = i\nq = i\nabstract = yes\n[Batch::j]\np = j\nabstract = yes\n"
    assert titles(tmp_path, parents + HEAD + "inherits = i, j\ntitle = ${p}${q}\n") == ["ji"]
    loops = "p = batch\nfor_b = x\nfor_a = u\ntitle = ${p}\n[Arg::x]\np = x\n[Arg::u]\np = u\n"
    assert titles(tmp_path, HEAD + loops) == ["u"]
    assert titles(tmp_path, HEAD + "title = ${p}\np = 1\n", overrides={"p": "2"}) == ["2"]


def test_abstract_is_not_inherited_and_disabled_is(tmp_path):
    """So that one line turns a whole family off."""
    entries = listed(tmp_path, RICH).entries
    assert Counter(each.trial.extra["BATCH_NAME"] for each in entries) == {"one": 12, "four": 6}
    with pytest.raises(InputError, match=r"\[Batch::three\]: this batch is disabled"):
        listed(tmp_path, RICH, names=("three",))


def test_a_section_of_a_later_file_takes_the_place_of_an_earlier_one_whole(tmp_path):
    """Nothing of the earlier one is left."""
    with pytest.raises(InputError, match=r"1\.batch:1: \[Batch::b\]: test_name is missing"):
        listed(tmp_path, HEAD, "[Batch::b]\ntitle = two\n")


def test_commands_come_once_each_with_those_that_they_bring(tmp_path):
    """In Flent's order, with the variables of the trial; a name that nobody set is left to the shell."""
    first = listed(tmp_path, RICH, names=("one",)).entries[0]
    assert first.trial.commands == (
        TrialCommand("pre1", "echo pre1 one mine ${HOME}", When.PRE),
        TrialCommand("post2", "echo post2 cubic", When.POST, essential=True),
        TrialCommand("pre3", "echo pre", When.PRE),
        TrialCommand("post1", "echo post", When.POST),
        TrialCommand("mon", "sleep 100", When.MONITOR, kill=True),
    )
    assert first.name == "out/one/one-one-cubic-01"
    assert first.trial.parameters == {"tcp_cong_control": "cubic", "a": "b"}


def test_a_command_names_the_node_or_the_host_on_which_it_runs_and_knows_the_name_of_the_file(tmp_path):
    """The network's root namespace is where it runs if it says nothing."""
    text = HEAD + "commands = a, b\n[Command::a]\ntype = pre\nexec = tc\nnode = ${which}\nwhich = r1\n"
    text += "[Command::b]\ntype = post\nexec = cp ${filename} x\nwhere = host\n"
    a, b = listed(tmp_path, text).entries[0].trial.commands
    assert (a.node, a.on_host, b.node, b.on_host, b.line) == ("r1", False, "", True, "cp b-01 x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("length = 3\n", r"0\.batch:1: \"length = 3\" stands before the first section"),
        ("[Batch:x]\n", r"0\.batch:1: \"\[Batch:x\]\" begins no section that I know"),
        ("[Foo::x]\n", r"use \[Batch::NAME\], \[Command::NAME\], \[Arg::NAME\]"),
        (HEAD + HEAD, r"0\.batch:5: \[Batch::b\] is there already, at line 1"),
        (HEAD + "length = 1\nLength = 2\n", r'0\.batch:6: \[Batch::b\]: "length" is there already, at line 5'),
        (HEAD + "words\n", r'0\.batch:5: \[Batch::b\]: "words" is not KEY = VALUE'),
        (HEAD + "title = ${no}\n", r"0\.batch:5: \[Batch::b\]: there is no value for \$\{no\}"),
        (HEAD + "a = 1\ntitle = ${A}\n", r"there is no value for \$\{A\}; keys are lower case: \$\{a\}"),
        (HEAD + "p = a${p}\ntitle = ${p}\n", r"the values of \$\{p\} and others refer to each other in a circle"),
        (HEAD + "inherits = c\n[Batch::c]\ninherits = b\n", "it inherits from itself: b → c → b"),
        (HEAD + "inherits = c\n", r"0\.batch:5: \[Batch::b\]: there is no \[Batch::c\] to inherit from"),
        (HEAD + "commands = c\n", r"there is no \[Command::c\]; there are: none"),
        (
            HEAD + "commands = c\n[Command::c]\nexec=x\n",
            r"\[Command::c\]: \"type\" must be pre, post, monitor, not \"\"",
        ),
        (HEAD + "commands = c\n[Command::c]\ntype=pre\n", r'0\.batch:6: \[Command::c\]: "exec" is missing'),
        (HEAD + "repetitions = x\n", r'0\.batch:5: \[Batch::b\]: "repetitions" must be a whole number, not "x"'),
        (HEAD + "repetitions = 0\n", r'0\.batch:5: \[Batch::b\]: "repetitions" must be at least 1; to leave the batch'),
        (HEAD + "repetitions = 999999\n", "its loops make more than 20000 trials"),
        (HEAD + "length = abc\n", r'0\.batch:5: \[Batch::b\]: "length" must be a number of seconds, not "abc"'),
        (HEAD + "output_path = ../x\n", r'output_path: "\.\./x" must be a folder below that of the results'),
        (HEAD + "output_path = /etc\n", r'output_path: "/etc" must be a folder below'),
        (HEAD + "disabled = maybe\n", r'0\.batch:5: \[Batch::b\]: "disabled" must be yes or no, not "maybe"'),
        (HEAD + "test_parameters = a\n", r'"a" must be KEY=VALUE; several are separated by ";"'),
        (HEAD + "topology = x.mn\n", "both path and topology are given"),
        ("[Batch::b]\ntest_name = ping\nhosts = h\n", "nothing says on which path the test is run"),
        (
            HEAD + "repetitions = 2\nfilename_extra = x\n",
            r'the trials "b: repetition 01" and "b: repetition 02" would both be written to b-x\.flent\.gz',
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_section_before_anything_runs(tmp_path, text, why):
    """One sentence for each mistake."""
    with pytest.raises(InputError, match=why):
        listed(tmp_path, text)


def test_what_is_wrong_on_the_command_line_is_said_so(tmp_path):
    """A value that was laid over the file's."""
    with pytest.raises(InputError, match=r'^--override: "length" must be a number of seconds, not "x"'):
        listed(tmp_path, HEAD, overrides={"length": "x"})


def test_a_name_is_no_longer_than_a_file_system_allows(tmp_path):
    """In bytes, whatever the letters."""
    entry = listed(tmp_path, HEAD + f"filename_extra = {'ü' * 400}\n").entries[0]
    assert 190 < len(entry.name.encode()) <= 200


def test_a_key_that_nothing_refers_to_is_named(tmp_path):
    """It may be spelt wrong; Flent's own settings and values of variables are no mistakes."""
    text = HEAD + "lenght = 3\nsocket_stats = yes\nq = 1\ntitle = ${q}\nextended_metadata = no\n"
    (said,) = (sentence for sentence in listed(tmp_path, text).unused if "hosts" not in sentence)
    assert said.endswith('0.batch:5: [Batch::b]: nothing refers to "lenght"; is it spelt as it should be?')


def test_a_file_that_would_grow_without_end_is_refused_in_time(tmp_path):
    """Twenty doublings of a text, and a diamond of sections forty deep."""
    doubling = "".join(f"a{number} = ${{a{number + 1}}}${{a{number + 1}}}\n" for number in range(20))
    with pytest.raises(InputError, match="in a circle"):
        listed(tmp_path, HEAD + doubling + f"a20 = {'x' * 1000}\ntitle = ${{a0}}\n")
    diamond = (
        "".join(f"[Batch::d{n}]\ninherits = d{n + 1}, d{n + 1}\n" for n in range(40)) + "[Batch::d40]\nlength = 7\n"
    )
    assert listed(tmp_path, HEAD + "inherits = d0\n" + diamond, names=("b",)).entries[0].trial.length_s == 7


def test_seeds(tmp_path):
    """A repetition has the next seed, unless the file says itself what the seed comes from."""

    def seeds(text: str) -> list[int]:
        return [entry.trial.seed for entry in listed(tmp_path, HEAD + text).entries]

    assert seeds("seed = 7\nrepetitions = 3\n") == [7, 8, 9]
    assert seeds("n = 2\nrepetitions = ${n}\n") == [1, 2]
    assert seeds("seed = 1${repetition}\nrepetitions = 3\n") == [101, 102, 103]
    assert seeds("for_s = *\n[Arg::x]\nseed = 5\n[Arg::y]\nseed = 9\n") == [5, 9]


def test_the_shuffle_has_a_seed_and_stays_within_each_batch(tmp_path):
    """The same seed gives the same order, another another, and the list is the same list."""
    one, same, other = (listed(tmp_path, RICH, shuffle_seed=seed).entries for seed in (1, 1, 2))
    plain = listed(tmp_path, RICH).entries
    assert [each.name for each in one] == [each.name for each in same]
    assert [each.name for each in one] != [each.name for each in other]
    assert [each.name for each in one] != [each.name for each in plain]
    assert [each.trial.extra["BATCH_NAME"] for each in one] == ["one"] * 12 + ["four"] * 6
    assert digest(one) == digest(other) == digest(plain)


def test_the_same_files_elsewhere_are_the_same_list(tmp_path):
    """Where a batch file lies is no part of what comes of it."""
    lists = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        lists.append(digest(listed(tmp_path / folder, RICH).entries))
    assert lists[0] == lists[1]


FILES = "[Batch::b]\ntest_name = mine.toml\ntopology = my.mn\nfrom = h1\nhosts = h2\n"


def test_files_that_a_list_names_count_by_their_content_and_not_by_their_folder(tmp_path, monkeypatch):
    """Regression: an edited test was taken for the same, and the same batch from another folder for another one."""

    def made(folder: str, test: str = "a", topology: str = "b") -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "mine.toml").write_text(test)
        (tmp_path / folder / "my.mn").write_text(topology)
        return digest(listed(tmp_path / folder, FILES).entries)

    first = made("here")
    assert made("there") == first
    monkeypatch.chdir(tmp_path / "here")
    assert digest(listed(Path(), FILES).entries) == first
    assert made("here", test="c") != first
    assert made("here", topology="c") != first
    assert made("here") == first


def test_files_lie_beside_the_batch_file_and_hosts_are_nodes_of_a_topology(tmp_path):
    """A path relative to the batch file, as a person means it."""
    text = "[Batch::b]\ntest_name = mine.toml\ntopology = my.mn\nfrom = h1\nhosts = h2, h3\n"
    trial = listed(tmp_path, text).entries[0].trial
    assert (trial.test, trial.topology) == (str(tmp_path / "mine.toml"), str(tmp_path / "my.mn"))
    assert (trial.source, trial.targets) == ("h1", ("h2", "h3"))


@pytest.mark.parametrize("text", ["a/../b", "/a", ".hidden", "a/.b", "x" * 300, "a\tb"])
def test_folders_that_are_refused(text):
    """Nothing is written outside, hidden, or under a name that cannot be."""
    with pytest.raises(InputError):
        as_folder(text)


def test_the_form_is_that_of_configparser():
    """Random files are read as Python reads them, or refused by both."""
    rng = random.Random(18)  # noqa: S311
    pieces = [
        "[Batch::a]",
        "[Arg::b]",
        "k = v",
        "K2: w = x",
        " deeper",
        "  key = deeper",
        "",
        "# c",
        " ; c",
        "a=",
        "=b",
        "x",
    ]
    read = refused = 0
    for _ in range(3000):
        text = "\n".join(rng.choices(pieces, k=rng.randint(1, 8)))
        stock = configparser.RawConfigParser()
        try:
            stock.read_string(text)
        except configparser.Error:
            with pytest.raises(InputError):
                parse(text, "f")
            refused += 1
            continue
        ours = {f"{each.kind}::{each.name}": dict(each.values) for each in parse(text, "f")}
        theirs = {name: dict(stock.items(name)) for name in stock.sections()}
        # Python keeps empty lines within a value; nobody means them
        for values in theirs.values():
            values.update({key: re.sub(r"\n+", "\n", value).strip() for key, value in values.items()})
        assert ours == theirs, text
        read += 1
    assert read > 200
    assert refused > 200


def test_variables_in_variables(tmp_path):
    """Recursive, and `$$` is a dollar."""
    place = parse("[Batch::b]\n", "f")[0].place
    assert expand("${a} $$ ${b", {"a": "x${c}", "c": "y"}, place) == "xy $ ${b"
    assert expand("${HOME}/${a}", {"a": "1"}, place, lenient=True) == "${HOME}/1"


# --- stock Flent


def flent_says(paths: list[Path], name: str) -> list[dict[str, object]]:
    """What stock Flent would run: for each trial its arguments, repetition, settings and commands."""
    options = [word for path in paths for word in ("-B", str(path))]
    command = ["flent", *options, "-b", name, "--batch-dry-run", "--batch-verbose", "--batch-no-shuffle"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found: list[dict[str, object]] = []
    for line in printed.splitlines():
        if match := re.fullmatch(r" args:(.*) rep:(\d+) \(dry run\)", line):
            found.append({"sets": match[1], "repetition": match[2], "commands": []})
        elif match := re.fullmatch(r"  Would output to: (.*)\.", line):
            found[-1]["folder"] = match[1]
        elif match := re.fullmatch(r"  Would run '(.*)' \((non-)?essential\)", line):
            found[-1]["commands"].append((match[1], not match[2]))
        elif match := re.fullmatch(r"  Would run test '(.*)'\.", line):
            found[-1]["test"] = match[1]
        elif match := re.fullmatch(r"   (title|length|test_parameters|note)=(.*)", line):
            found[-1][match[1]] = match[2]
    return found


def we_say(entries) -> list[dict[str, object]]:
    """The same of ours."""
    found = []
    for entry in entries:
        trial = entry.trial
        order = (When.PRE, When.MONITOR, When.POST)
        commands = [(each.line, each.essential) for when in order for each in trial.commands if each.when is when]
        said: dict[str, object] = {
            "sets": ",".join(trial.extra["batch"]["arguments"]),
            "repetition": f"{trial.extra['batch']['repetition']:02}",
            "commands": commands,
            "folder": str(Path(entry.name).parent),
            "test": trial.test,
        }
        said |= {"title": trial.title} if trial.title else {}
        said |= {"length": f"{trial.length_s:g}"} if trial.length_s else {}
        said |= {"note": trial.note.split("\n", maxsplit=1)[0]} if trial.note else {}
        if trial.parameters:
            said["test_parameters"] = ";".join(f"{key}={value}" for key, value in trial.parameters.items())
        found.append(said)
    return found


CHAIN = "".join(
    f"[Command::c{number}]\ntype={kind}\nexec=run {number}\nextra_commands={more}\n"
    for number, kind, more in (
        (1, "pre", ""),
        (2, "post", "c5"),
        (3, "pre", "c2,c4"),
        (4, "monitor", "c1"),
        (5, "pre", ""),
    )
)
OWN_AND_OVERLAID = "[Command::c]\ntype=pre\nexec=e ${dev} ${x}\ndev=own\nx=2\n"
MANY_WAYS = [
    (RICH, ("one",)),
    (RICH.replace("off, ", ""), ("four",)),  # Flent lays the "disabled = no" of a batch over its commands
    (HEAD + "for_b=x,y\nfor_a=u,v\nrepetitions=2\n[Arg::x]\n[Arg::y]\n[Arg::u]\ntitle=u\n[Arg::v]\nlength=2\n", ("b",)),
    (
        "[Batch::q]\nabstract=yes\nfor_a=x\nfor_b=y\nlength=4\n" + HEAD + "for_c=z\nfor_b=w\ninherits=q\n"
        "[Arg::x]\ntitle=x\n[Arg::y]\n[Arg::z]\n[Arg::w]\ntitle=w${length}\n",
        ("b",),
    ),
    (HEAD + "commands=c3,c2,c1,c3\n" + CHAIN, ("b",)),
    (HEAD + f"commands=c\nfor_a=x\nx=1\n{OWN_AND_OVERLAID}[Arg::x]\ndev=arg\n", ("b",)),
    (HEAD + "title=100% a ; b # c %(title)s $x $$ ${length}\nlength=7\nTest_Parameters: a=b,c;d=e\n", ("b",)),
]


@pytest.mark.skipif(not shutil.which("flent"), reason="needs stock Flent, which is the oracle")
@pytest.mark.parametrize("number", range(len(MANY_WAYS)))
def test_stock_flent_would_run_the_same(tmp_path, number):
    """The same trials in the same order, with the same titles, lengths, parameters, folders and commands."""
    text, names = MANY_WAYS[number]
    entries = listed(tmp_path, text, names=names).entries
    theirs = [each for name in names for each in flent_says(written(tmp_path, text), name)]
    assert theirs
    assert we_say(entries) == theirs


EXAMPLES = [Path("/usr/share/doc/flent") / name for name in ("batchfile.example.gz", "flent-paper.batch.gz")]


@pytest.mark.skipif(not shutil.which("flent"), reason="needs stock Flent, which is the oracle")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_that_come_with_flent(tmp_path, example):
    """They run with a path from the command line: six trials each."""
    if not example.exists():
        pytest.skip(f"there is no {example}")
    text = subprocess.run(["zcat", str(example)], capture_output=True, text=True, check=True).stdout
    names = ("tcp-upload", "rrul")
    entries = listed(tmp_path, text, names=names, path="10mbit 50ms").entries
    theirs = [each for name in names for each in flent_says(written(tmp_path, text), name)]
    for each in theirs:
        each["folder"] = re.sub(r"\d{4}-\d\d-\d\dT\d{6}", "1970-01-01T000000", str(each["folder"]))
        if "test_parameters" in each:
            each["test_parameters"] = str(each["test_parameters"]).rstrip(";")
    assert len(theirs) == 6
    assert we_say(entries) == theirs


def test_hosts_of_flents_that_a_path_does_not_have_are_told(tmp_path):
    """Regression: they were ignored without a word, and yet stood in commands."""
    written = "[Batch::a]\ntest_name = tcp_upload\nhosts = 10.0.0.2\n"
    file = tmp_path / "lab.batch"
    file.write_text(written)
    found = batch_list(read_batch_files([file]), BatchChoice(path="10mbit 50ms")).unused
    assert len(found) == 1
    assert "hosts = 10.0.0.2 chooses nothing" in found[0]
    file.write_text(written + "topology = x.mn\n")
    assert not batch_list(read_batch_files([file]), BatchChoice()).unused


def test_a_batch_that_is_not_there_is_told_from_one_that_is_meant(tmp_path):
    """A batch that cannot be run is not offered."""
    file = tmp_path / "lab.batch"
    file.write_text("[Batch::uploae]\nabstract = yes\n[Batch::upload]\ninherits = uploae\ntest_name = ping\n")
    with pytest.raises(InputError, match='there is no batch "uploaee"; did you mean "upload"'):
        batch_list(read_batch_files([file]), BatchChoice(names=("uploaee",), path="10mbit 50ms"))
