# SPDX-License-Identifier: BSD-3-Clause
"""Manuals on paper: what the PDF says, where its links and bookmarks lead, that nothing runs over the margin."""

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linklab import cli
from linklab.base import files
from linklab.documents import handbook
from linklab.errors import InputError
from linklab.lab.model import lab_folders, load_lab
from linklab.manual.blocks import OUTPUT_COLUMNS, TYPED_COLUMNS, wrapped, wrapped_command
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.html import render_body
from linklab.manual.images import spoken
from linklab.manual.paper import paper_html, to_pdf
from linklab.manual.parse import parse_manual

weasyprint = pytest.importorskip("weasyprint", exc_type=ImportError)
pypdf = pytest.importorskip("pypdf")

LONG = "sudo tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2621440"
TEXT = f"""\
## Overview {{-}}

Words. See {{{{section.doing-it}}}}.

## Doing it

Step. Change it.

```client id=change
{LONG}
```

Step. Ping.

```h1 id=probe for=4s
ping 10.0.0.2
```

It took {{{{probe.ping.rtt.mean as ms .1}}}}.

![RTT of each ping](run:probe/ping-rtt)

| column | {"wide " * 30} |
|---|---|
| a | {"b" * 40} `{"c" * 150}` |
"""
PLOT = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" width="100" height="50">'
    b'<path d="M0 0L100 50" stroke="#000000"/></svg>'
)


def chapter(number=1, text=TEXT):
    """A chapter with a recording."""
    recorded = Recorded(
        outputs={"probe": f"64 bytes {'x' * 200}\n", "change": "done\n"},
        scalars={"probe": {"ping.rtt.mean": (0.0401, "s"), "ping.rtt.max": (0.05, "s")}},
        figures={"probe/ping-rtt": PLOT},
    )
    return Chapter(
        parse_manual(text, Path("manual.md")),
        f"Lab {number}: Pinging",
        fields={"number": str(number), "title": "Pinging"},
        recorded=recorded,
        minutes=45,
    )


@pytest.fixture(scope="module")
def book():
    """A handbook of two labs, as bytes."""
    return to_pdf(paper_html([chapter(1), chapter(2)], title="TCP/IP labs", book=True))


@pytest.fixture(scope="module")
def pages(book):
    """The text of its pages."""
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(book)).pages]


def test_the_book_has_cover_contents_and_chapters(pages):
    """The cover comes first; the contents say on which page each lab and section begins."""
    assert "TCP/IP labs" in pages[0]
    contents = pages[1]
    start = next(number for number, page in enumerate(pages[2:], 3) if "Lab 2: Pinging" in page)
    assert re.search(rf"Lab 2: Pinging[ .]*{start}\b", contents)
    assert re.search(rf"1 ?Doing it[ .]*{start}\b", contents)
    assert "Overview" not in contents  # only what is numbered


def test_pages_have_numbers_and_a_header_that_follows_the_text(pages):
    """A page that goes on with a lab names it and the section; the page a lab begins on does not name it twice."""
    assert all(re.search(rf"\b{number}\b", page) for number, page in enumerate(pages[1:], 2))
    later = [page for page in pages[4:] if "Lab 1: Pinging" in page and "Overview" not in page]
    assert all("Doing it" in page for page in later)
    first = next(page for page in pages[2:] if "Lab 1: Pinging" in page)
    assert first.count("Lab 1: Pinging") == 1


def test_a_page_shows_the_terminal_what_is_typed_and_what_it_showed(pages):
    """Code stands in a box with the terminal's name, a long command wraps, numbers are quoted from the recording."""
    text = "\n".join(pages)
    assert "Client's terminal" in text
    assert "burst 500000 \\\n    limit 2621440" in text
    assert "stop it with Ctrl+C after about 4 s" in text
    assert "It took 40.1 ms" in text
    assert "Figure 2.1. RTT of each ping" in text


def test_links_and_bookmarks_lead_to_sections(book):
    """Every link inside has a place to go, and the bookmarks are labs with their sections."""
    reader = pypdf.PdfReader(io.BytesIO(book))
    links = [
        annotation.get_object()
        for page in reader.pages
        for annotation in page.get("/Annots", pypdf.generic.ArrayObject())
    ]
    targets = {str(link["/Dest"]) for link in links if "/Dest" in link}
    assert {"lab1", "lab2", "lab1-doing-it", "lab2-doing-it"} <= targets
    assert targets <= set(reader.named_destinations)
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)] == [
        "Contents",
        "How to read this book",
        "Lab 1: Pinging",
        "Lab 2: Pinging",
    ]
    assert [entry.title for entry in reader.outline[-1]] == ["Overview", "1 Doing it"]


def test_the_file_is_tagged_and_names_itself(book):
    """Screen readers find language, title and the words of a figure."""
    reader = pypdf.PdfReader(io.BytesIO(book))
    assert reader.metadata.title == "TCP/IP labs"
    assert reader.trailer["/Root"]["/Lang"] == "en"
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]
    html = paper_html([chapter()], title="T")
    assert 'alt="RTT of each ping; plot over time, mean 40.1 ms, max 50 ms"' in html


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext (poppler-utils)")
def test_nothing_runs_over_the_margin(book, tmp_path):
    """No word begins before the left margin or ends behind the right one, however long it is."""
    path = tmp_path / "book.pdf"
    path.write_bytes(book)
    words = subprocess.run(["pdftotext", "-f", "2", "-bbox", path, "-"], capture_output=True, text=True, check=True)
    edges = re.findall(r'<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)"', words.stdout)
    margin = 22 / 25.4 * 72
    assert len(edges) > 100
    assert min(float(left) for left, _ in edges) > margin - 1
    assert max(float(right) for _, right in edges) < 210 / 25.4 * 72 - margin + 1


def test_the_same_chapters_give_the_same_bytes(monkeypatch):
    """A manual built twice is the same file; a date is in it only if the environment gives one."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    one, two = (to_pdf(paper_html([chapter()], title="T")) for _ in range(2))
    assert one == two
    assert "/CreationDate" not in pypdf.PdfReader(io.BytesIO(one)).metadata
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert pypdf.PdfReader(io.BytesIO(to_pdf(paper_html([chapter()], title="T")))).metadata.creation_date.year == 1970
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(InputError, match='SOURCE_DATE_EPOCH is "today"'):
        paper_html([chapter()], title="T")


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("ls", ["ls"]),
        (f"{'a' * 50} {'b' * 50}", [f"{'a' * 50} \\", f"    {'b' * 50}"]),
        (f"echo '{'a ' * 41}' {'b' * 20}", ["echo &#x27;" + "a " * 41 + "&#x27; \\", f"    {'b' * 20}"]),
    ],
)
def test_a_long_command_is_broken_where_a_shell_allows_it(command, lines):
    """Between words, outside quotes, with a backslash."""
    if "'" in command:
        command = command.replace("a " * 41, "a " * 38)
        lines = [line.replace("a " * 41, "a " * 38) for line in lines]
    assert wrapped_command(command, TYPED_COLUMNS).split("\n") == lines


def test_what_cannot_be_broken_as_a_command_goes_on_after_an_arrow():
    """One long quoted word is wrapped like output."""
    lines = re.sub("<[^>]*>", "", wrapped_command("echo '" + "x" * 200 + "'", TYPED_COLUMNS)).split("\n")
    assert all(len(line.replace("&#x27;", "'")) <= TYPED_COLUMNS for line in lines)
    assert [line[0] for line in lines] == ["e", "↪", "↪"]


def test_long_output_goes_on_after_an_arrow():
    """After a space if there is one in the second half of the line; tabs are spaces by then."""
    text = f"a\tb\n{'word ' * 30}\n{'x' * 100}"
    assert re.sub("<[^>]*>", "", wrapped(text, OUTPUT_COLUMNS)).split("\n") == [
        "a       b",
        "word " * 18,
        "↪ " + "word " * 12,
        "x" * 92,
        "↪ " + "x" * 8,
    ]


def test_ids_of_chapters_do_not_meet():
    """In a book each id begins with its lab."""
    ids = [
        re.findall(r' id="([^"]+)"', render_body(chapter(number), paper=True, prefix=str(number))) for number in (1, 2)
    ]
    assert not set(ids[0]) & set(ids[1])


def test_a_drawing_says_what_it_shows():
    """Title and description become the words for it, as an image has no inside for a screen reader."""
    assert spoken('<svg><title id="a">The &amp; one</title><desc>Two.</desc></svg>') == "The & one. Two"
    assert spoken("<svg/>") == ""


def test_all_documents_are_written_and_broken_labs_are_named(tmp_path, capsys, monkeypatch):
    """One broken lab does not keep the others from being written; the exit code tells."""
    good = tmp_path / "labs" / "01-good"
    bad = tmp_path / "labs" / "02-bad"
    for folder in (good, bad):
        folder.mkdir(parents=True)
        (folder / "lab.toml").write_text(f'number = {int(folder.name[:2])}\ntitle = "T"\n')
    (good / "manual.md").write_text("## A\n\nText.\n")
    monkeypatch.setattr("linklab.commands.manual.lab_folders", lambda: [good, bad])
    monkeypatch.setattr("linklab.commands.manual.all_exercise_folders", lambda: [])
    monkeypatch.setattr("linklab.commands.manual.languages_of", lambda lab: ["es"])
    assert cli.main(["manual", "--all", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "there is no such manual; left out" in said and "; shown in English" in said
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        *("01-good.html", "01-good.pdf", "01-good.es.html", "01-good.es.pdf", "handbook.pdf", "index.html"),
        *("when-tc-complains.html", "when-tc-complains.pdf"),
    }
    index = (tmp_path / "out" / "index.html").read_text()
    assert {name for name in names if f'href="{name}"' in index} == names - {"index.html", "01-good.es.pdf"}


def test_every_manual_leads_to_what_the_messages_mean(tmp_path):
    """A manual links the page of messages, written beside it; paper names it, and of a book it is a chapter."""
    assert cli.main(["manual", str(next(iter(lab_folders()))), "--out", str(tmp_path / "x.html")]) == 0
    links = re.findall(r'<p class="messages">.*?<a href="(.*?)">', (tmp_path / "x.html").read_text())
    page = (tmp_path / links[0]).read_text()
    assert "</span> Error: Exclusivity flag on, cannot modify.</h3>" in page
    assert 'class="messages"' not in page
    lab = handbook.chapter(load_lab(next(iter(lab_folders()))))
    assert "“When tc complains”" in paper_html([lab], title="T", messages=handbook.MESSAGES_TITLE)
    book = paper_html([lab, handbook.messages_chapter()], title="T", book=True, messages=handbook.MESSAGES_TITLE)
    assert book.count('href="#labM"') == 2 and book.count('id="labM"') == 1


def test_the_page_of_messages_beside_a_manual_is_said_once(tmp_path, capsys):
    """Written where it is missing or old, with a line that says so; stdout has the manual's name alone."""
    lab, beside = str(next(iter(lab_folders()))), tmp_path / "when-tc-complains.html"
    line = f"linklab: also wrote {beside}, to which the manual links\n"
    assert cli.main(["manual", lab, "--out", str(tmp_path / "x.html")]) == 0
    assert capsys.readouterr() == (f"{tmp_path / 'x.html'}\n", line)
    assert cli.main(["manual", lab, "--out", str(tmp_path / "y.html")]) == 0
    assert capsys.readouterr().err == ""
    beside.write_text(beside.read_text().replace("Exclusivity", "Old"))
    assert cli.main(["manual", lab, "--out", str(tmp_path / "y.html")]) == 0
    assert capsys.readouterr().err == line and "Exclusivity" in beside.read_text()


@pytest.mark.parametrize("mine", ["<!DOCTYPE html>\n<html><title>When tc complains</title>my notes", "", b"\xff\x00"])
def test_a_file_of_the_persons_own_beside_a_manual_stays(tmp_path, capsys, mine):
    """It was overwritten; the manual is written all the same, and does not lead there."""
    lab, beside = str(next(iter(lab_folders()))), tmp_path / "when-tc-complains.html"
    beside.write_bytes(mine.encode() if isinstance(mine, str) else mine)
    before = beside.read_bytes()
    assert cli.main(["manual", lab, "--out", str(tmp_path / "x.html")]) == 0
    assert beside.read_bytes() == before
    assert capsys.readouterr().err == (
        f"linklab: {beside}: not written by Linklab, so it stays as it is; the manual does not link to the page of "
        "messages, which belongs there (docs/when-tc-complains.md)\n"
    )
    assert 'class="messages"' not in (tmp_path / "x.html").read_text()


def test_a_manual_cannot_take_the_name_of_the_page_of_messages(tmp_path, capsys):
    """The page took its place, so the manual was lost; a link to that name is refused too."""
    lab, out = str(next(iter(lab_folders()))), tmp_path / "when-tc-complains.html"
    other = tmp_path / "x.html"
    other.symlink_to(out.name)
    for path in (out, other):
        assert cli.main(["manual", lab, "--out", str(path)]) == 2
        assert capsys.readouterr().err == (
            f"linklab: {path}: the page of messages, to which the manual links, has this name; name another file\n"
        )
    assert not out.exists()


def test_a_manual_that_goes_to_a_device_has_no_page_beside_it(capfd):
    """As in `--out /dev/stdout`: nothing can stand beside it."""
    assert cli.main(["manual", str(next(iter(lab_folders()))), "--out", "/dev/null"]) == 0
    assert capfd.readouterr() == ("/dev/null\n", "")


def test_the_ending_of_out_says_which_document(tmp_path, capsys):
    """A .pdf is a PDF; --pdf with another ending is refused."""
    lab = str(next(iter(lab_folders())))
    assert cli.main(["manual", lab, "--out", str(tmp_path / "x.pdf")]) == 0
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")
    assert cli.main(["manual", lab, "--pdf", "--out", str(tmp_path / "x.html")]) == 2
    assert "--pdf writes a .pdf file" in capsys.readouterr().err
    with pytest.raises(InputError, match="cannot be written"):
        files.write_asked(tmp_path / "x.pdf" / "y.html", "")
