# SPDX-License-Identifier: BSD-3-Clause
"""What manuals become: HTML, the topology picture and set_env.sh."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jinja2 import UndefinedError

from linklab.commands.set_env import check_script
from linklab.documents.handbook import manual_html
from linklab.errors import LabError, ManualError
from linklab.lab.model import lab_folders, load_lab
from linklab.manual.blocks import shown_lines
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.html import page, render_manual
from linklab.manual.model import Show
from linklab.manual.parse import parse_manual
from linklab.manual.picture import DrawnLink, DrawnNode, topology_parts, topology_svg
from linklab.manual.set_env import set_env_script
from linklab.topology import Topology

ROOT = Path(__file__).parent.parent.parent


def html(text, path="manual.md", **recorded):
    """The page of a manual with that text."""
    return render_manual(Chapter(parse_manual(text, Path(path)), "Lab 1: T", recorded=Recorded(**recorded)))


def test_a_name_without_a_value_is_an_error_in_every_template():
    """A page with a gap in it looked whole."""
    with pytest.raises(UndefinedError, match="'heading' is undefined"):
        page("page.html.j2", note="", sections=(), body="", language="en")


def test_a_block_is_a_box_with_its_terminal_and_its_recorded_output():
    """The reader sees who types what and what it showed, and none of the options."""
    page = html("## A\n```h1 id=x for=4s\nping <b>\n```\n", outputs={"x": "64 bytes & more\n"})
    assert 'Terminal of h1 <span class="note">stop it with Ctrl+C after about 4 s</span>' in page
    assert "<code>ping &lt;b&gt;</code>" in page
    assert "64 bytes &amp; more</pre>" in page
    assert "for=4s" not in page


def test_the_prompt_to_type_at_is_named_where_it_is_not_the_shells():
    """What is typed into a program with a prompt of its own says so, up to the command that leaves it."""
    page = html(
        '## A\n```client prompt="mn>"\nmn\n```\n```client for=4s prompt="mn>"\nping\n```\n```client\nexit\n```\n'
    )
    assert re.findall(r'terminal(?: <span class="note">(.*?)</span>)?</p>', page) == [
        "",
        "at the prompt mn&gt;, stop it with Ctrl+C after about 4 s",
        "at the prompt mn&gt;",
    ]


def test_terminals_without_the_editor_are_named_once():
    """Whoever is at a shell reads how to open them in the first box that does, and in no other."""
    block = '```editor\nopen "Lab 8.mn"\nrun\nterminal h1\nterminal h2\n```\n'
    page = html(f"## A\n{block}{block}")
    aside = re.findall('<p class="aside">(.*?)</p>', page)
    assert [re.sub("<.*?>", "", text) for text in aside] == [
        "In terminals of your own instead: linklab attach h1, linklab attach h2; "
        "linklab attach alone is the Client's terminal."
    ]
    assert "aside" not in html("## A\n```h1\nping\n```\n").partition("<body")[2]


def test_the_output_of_a_server_is_shown_where_it_is_stopped():
    """A background command shows nothing at its start."""
    recorded = {"outputs": {"s": "listening\n", "step-2": "listening\n"}}
    page = html("## A\n```h2 id=s background\niperf3 -s\n```\n```h2 stop=s\n```\n", **recorded)
    assert page.count("listening") == 1
    assert page.index("listening") > page.index("<kbd>Ctrl+C</kbd>")


def test_numbers_come_from_the_recording():
    """A quote is the recorded number; what was not recorded is marked."""
    text = "## A\n```h1 id=x\na\n```\n{{x.ping.rtt.mean as ms .1}} and {{x.ping.rtt.max}}\n"
    page = html(text, scalars={"x": {"ping.rtt.mean": (0.032669, "s")}})
    assert '<span class="measured">32.7 ms</span> and <span class="missing">not recorded yet</span>' in page


def test_a_unit_that_does_not_fit_is_named_with_its_line():
    """A time quoted in Mbps is a mistake of the manual."""
    with pytest.raises(ManualError, match=r'manual.md:5: "\{\{x.t as Mbps\}\}": a value in s cannot be written'):
        html("## A\n```h1 id=x\na\n```\n{{x.t as Mbps}}\n", scalars={"x": {"t": (1.0, "s")}})


def test_steps_sections_and_links():
    """Sections and steps carry their numbers, and a quoted section is a link to it."""
    page = html("## A\n### B\nStep. Do `x`.\n\nStep. Do y.\n\nSee {{section.b}}.\n")
    assert '<h3 id="b"><span class="number">1.1</span> B</h3>' in page
    assert "<strong>Step 1.</strong> Do <code>x</code>." in page
    assert "<strong>Step 2.</strong> Do y." in page
    assert '<a href="#b">Section 1.1</a>' in page
    with pytest.raises(ManualError, match=r'manual.md:1: there is no section "no"'):
        html("{{section.no}}\n")


def test_figures_are_inside_the_page():
    """Plots of the run are numbered, captioned and part of the file."""
    page = html("![Queue & co](run:x/backlog)\n", figures={"x/backlog": b"<svg/>"})
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+" alt="Queue &amp; co"' in page
    assert "<figcaption>Figure 1. Queue &amp; co</figcaption>" in page


def test_a_picture_has_words_for_whoever_cannot_see_it(tmp_path):
    """An image's title is its alternative text; without one the caption is."""
    (tmp_path / "x.png").write_bytes(b"\x89PNG")
    page = html('![Seen](x.png "A <b> button")\n\n![Bare](x.png)\n', path=tmp_path / "manual.md")
    assert 'src="data:image/png;base64,iVBORw==" alt="A &lt;b&gt; button"' in page
    assert "<figcaption>Figure 1. Seen</figcaption>" in page
    assert 'alt="Bare"' in page


def test_a_missing_image_is_named(tmp_path):
    """A file that the manual shows and that is not there is named with its line."""
    with pytest.raises(ManualError, match=r"manual.md:3: there is no image .*no.svg"):
        html("a\n\n![c](no.svg)\n", path=tmp_path / "manual.md")


@pytest.mark.parametrize(
    ("show", "lines"),
    [
        (Show("auto"), ["1", "2", "3", "4", "5", "6", "7", "8", "[… 26 lines …]", *map(str, range(35, 51))]),
        (Show("all"), list(map(str, range(1, 51)))),
        (Show("none"), [""]),
        (Show("first", first=2), ["1", "2", "[… 48 lines …]"]),
        (Show("last", last=2), ["[… 48 lines …]", "49", "50"]),
        (Show("lines", first=3, last=4), ["3", "4"]),
    ],
)
def test_excerpts(show, lines):
    """Long output is cut where the manual says, and what is left out is counted."""
    assert shown_lines("".join(f"{n}\n" for n in range(1, 51)), show).split("\n") == lines


class Checker(HTMLParser):
    """Notes ids, what links point at, images without words, and anything from elsewhere."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.bad, self.open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        """Look at one tag."""
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        if tag == "img" and not given.get("alt"):
            self.bad.append("img without alt")
        for name in ("src", "href"):
            if given.get(name, "").startswith(("http", "//")):
                self.bad.append(given[name])


@pytest.mark.parametrize("path", lab_folders(), ids=lambda path: path.name)
def test_the_page_of_every_lab_stands_alone(path):
    """Each link leads somewhere, ids are used once, images have words, nothing is loaded from elsewhere."""
    checker = Checker()
    page = manual_html(load_lab(path))
    checker.feed(page)
    assert checker.bad == []
    assert len(checker.ids) == len(set(checker.ids))
    assert {link[1:] for link in checker.links if link.startswith("#")} <= set(checker.ids)
    assert "{{" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("path", lab_folders(), ids=lambda path: path.name)
def test_set_env_of_every_lab_is_what_its_manual_gives(path):
    """The script in the folder has not drifted from the manual."""
    check_script(load_lab(path))


def test_the_picture_shows_nodes_ports_and_addresses():
    """The picture of Lab 8 is an SVG that says all of it, for eyes and for screen readers."""
    svg = topology_svg(*topology_parts(Topology.load(ROOT / "topologies" / "Lab 8.mn")), title="T & t")
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own text
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(
        [
            "h1",
            "h2",
            "s1",
            "s2",
            "10.0.0.1/8",
            "10.0.0.2/8",
            "h1-eth0",
            "s1-eth1",
            "h2-eth0",
            "s2-eth1",
            "s1-eth2",
            "s2-eth2",
        ]
    )
    assert root.find("{http://www.w3.org/2000/svg}title").text == "T & t"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 3


def test_a_picture_of_nothing_is_refused():
    """No nodes, or a link to nowhere, is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least one node"):
        topology_svg([], [])
    with pytest.raises(ValueError, match="link h1-h2: there is no node h2"):
        topology_svg([DrawnNode("h1", "host", 0, 0)], [DrawnLink("h1", "h2", "a", "b")])


SETTINGS = """\
## A
## B
```client setup
sudo tc qdisc add dev s1-eth1 root netem delay 20ms
```
### C
```h1 setup
sysctl -w net.ipv4.tcp_rmem='1 2 3'
echo 1 > /proc/sys/x
```
## D
```client
ls
```
"""


MNEXEC = 'echo "mnexec $*" >> log; echo "did $3"; [ "$3" != bash ] || exit 7'
"""What mnexec is in the test below: the last command fails, and the script with it."""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("section", "commands"),
    [
        ("2", ["tc qdisc del dev s1-eth1 root"]),
        ("2.1", ["tc qdisc del dev s1-eth1 root", "tc qdisc add dev s1-eth1 root netem delay 20ms"]),
        (
            None,
            [
                "tc qdisc del dev s1-eth1 root",
                "tc qdisc add dev s1-eth1 root netem delay 20ms",
                "mnexec -a 42 sysctl -w net.ipv4.tcp_rmem=1 2 3",
                "mnexec -a 42 bash -c echo 1 > /proc/sys/x",
            ],
        ),
    ],
)
def test_set_env_makes_the_settings_before_a_section(tmp_path, section, commands):
    """The script, run with stand-ins for tc, pgrep and mnexec, does what the manual's setup blocks say."""
    script = tmp_path / "set_env.sh"
    script.write_text(set_env_script(parse_manual(SETTINGS, Path("manual.md")), "Lab 1"))
    for name, body in (("tc", 'echo "tc $*" >> log'), ("mnexec", MNEXEC), ("pgrep", "echo 42"), ("id", "echo 0")):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\n{body}\n")
        tool.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    arguments = ["bash", str(script), *([section] if section else [])]
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    log = tmp_path / "log"
    assert log.read_text().splitlines() == commands
    # the same settings on several hosts looked like one that was made twice
    said = [f"h1: did {line.split()[3]}" for line in commands if "mnexec" in line]
    assert done.stdout.splitlines() == [*said, *([f"Section {section} can begin."] if section else [])]
    assert done.returncode == (0 if section else 7)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("status", "commands", "says"),
    [
        (0, ["tc qdisc add dev s1-eth1 root netem delay 20ms"], "Section 2.1 can begin.\n"),
        (3, ["tc qdisc del dev s1-eth1 root", "tc qdisc add dev s1-eth1 root netem delay 20ms"], "Section 2.1 can"),
        (1, [], ""),
        (127, [], ""),
    ],
)
def test_set_env_ends_where_undoing_failed(tmp_path, status, commands, says):
    """Regression: whatever the status but 3, "Section 2.1 can begin." followed, and the script ended with 0."""
    script = tmp_path / "set_env.sh"
    script.write_text(set_env_script(parse_manual(SETTINGS, Path("manual.md")), "Lab 1"))
    tools = {"tc": 'echo "tc $*" >> log', "mnexec": MNEXEC, "pgrep": "echo 42", "id": "echo 0"}
    for name, body in {**tools, "python3": f"exit {status}"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LINKLAB_INSIDE": "1"}
    done = subprocess.run(
        ["bash", str(script), "2.1"], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    log = tmp_path / "log"
    assert (log.read_text().splitlines() if log.exists() else []) == commands
    assert done.stdout.startswith(says)
    assert bool(done.stdout) is bool(says)
    failed = "set_env.sh: not everything could be undone, see above; the settings were not made\n"
    assert (done.returncode, done.stderr) == ((0, "") if commands else (1, failed))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("running", "user", "says"),
    [
        ("exit 1", "0", "set_env.sh: no network is running here; type this in a terminal of it"),
        ("echo 42", "1000", "set_env.sh: only root may change these settings: sudo ./set_env.sh 2.1"),
    ],
)
def test_set_env_says_where_it_has_to_be_typed(tmp_path, running, user, says):
    """On the machine itself, or without root, the script changes nothing and says what to type where."""
    script = tmp_path / "set_env.sh"
    script.write_text(set_env_script(parse_manual(SETTINGS, Path("manual.md")), "Lab 1"))
    for name, body in (("pgrep", running), ("id", f"echo {user}"), ("tc", "echo tc >> log")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(script), "2.1"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert says in done.stderr
    assert not (tmp_path / "log").exists()


def test_set_env_refuses_an_unknown_section(tmp_path):
    """A section that is not there is named with those that are, and nothing is changed."""
    script = tmp_path / "set_env.sh"
    script.write_text(set_env_script(parse_manual(SETTINGS, Path("manual.md")), "Lab 1"))
    done = subprocess.run(["bash", str(script), "7"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "set_env.sh: no section 7; I know 1 2 2.1 3 end\n")


def test_set_env_is_for_terminals_of_nodes():
    """A setting typed at the Mininet command line cannot go into the script."""
    with pytest.raises(ManualError, match=r"manual.md:2: setup is for commands of a node or client terminal"):
        set_env_script(parse_manual("## A\n```mininet setup\nx\n```\n", Path("manual.md")), "Lab 1")


def test_a_drifted_script_is_named(tmp_path):
    """An edited set_env.sh is found, with the cure."""
    shutil.copytree(ROOT / "labs" / "08-bdp-and-tcp-buffers", tmp_path / "labs" / "08-bdp-and-tcp-buffers")
    shutil.copytree(ROOT / "topologies", tmp_path / "topologies")
    lab = load_lab(tmp_path / "labs" / "08-bdp-and-tcp-buffers")
    with (lab.folder / "set_env.sh").open("a") as file:
        file.write("true\n")
    with pytest.raises(LabError, match="is not what the manual gives; renew it with linklab set-env 8 --write"):
        check_script(lab)
