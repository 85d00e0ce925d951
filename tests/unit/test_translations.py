# SPDX-License-Identifier: BSD-3-Clause
"""Manuals in other languages: catalogues are read, paragraphs found as po4a found them, nothing old or broken shown."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from linklab import cli
from linklab.base.catalogue import Catalogue, read_catalogue
from linklab.commands.labs import check_lab
from linklab.documents import translation
from linklab.documents.translation import catalogue_problems, program_problems, same_anchors, translated_chapter
from linklab.errors import InputError, ManualError
from linklab.lab.model import find_lab, lab_folders, load_lab
from linklab.manual.chapter import Chapter, English
from linklab.manual.hints import begin_hint, clock_hint, folder_hint
from linklab.manual.html import render_body, render_manual
from linklab.manual.paper import paper_html
from linklab.manual.parse import parse_manual
from linklab.manual.translate import lost, passages, translated

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests/captures"
MARKDOWN = (CAPTURES / "po4a-0.69-markdown.md").read_text(encoding="utf-8")


def catalogue(path, **entries):
    """A .po file with these entries, and their reading."""
    lines = "\n\n".join(f'msgid "{text}"\nmsgstr "{said}"' for text, said in entries.items())
    path.write_text(f'msgid ""\nmsgstr "Language: xx\\n"\n\n{lines}\n', encoding="utf-8")
    return read_catalogue(path)


def test_a_catalogue_is_read_as_gettext_reads_it(tmp_path):
    """Texts over several lines and escapes; nothing that is fuzzy, empty, obsolete, or the header."""
    path = tmp_path / "a.po"
    path.write_text(
        'msgid ""\nmsgstr "Language: es\\n"\n\n'
        '#. a note\n#: a.md:1\n#, no-wrap\nmsgid ""\n"one \\"two\\"\\n"\n"three\\\\\\n"\n'
        'msgstr ""\n"uno\\n"\n"tres\\n"\n\n#, fuzzy, no-wrap\n#| msgid "was"\nmsgid "is"\nmsgstr "era"\n\n'
        'msgid "empty"\nmsgstr ""\n\n#~ msgid "gone"\n#~ msgstr "ido"\n'
    )
    assert read_catalogue(path).texts == {'one "two"\nthree\\\n': "uno\ntres\n"}
    assert read_catalogue(tmp_path / "none.po").texts == {}


def test_a_line_that_is_none_of_a_catalogue_is_named(tmp_path):
    """A forgotten quotation mark is an error with its place."""
    (tmp_path / "a.po").write_text('msgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr "d\n')
    with pytest.raises(InputError, match=r"a\.po:5: this line does not belong in a catalogue; expected msgid"):
        read_catalogue(tmp_path / "a.po")


def test_entries_need_no_empty_line_between_them(tmp_path):
    """Each begins at the msgid, or the comments before it, that follows a msgstr: two became one, and neither was said.

    A mark as old belongs to the entry below it.
    """
    path = tmp_path / "a.po"
    path.write_text(
        'msgid ""\nmsgstr "Language: es\\n"\nmsgid "one"\nmsgstr "uno"\nmsgid ""\n\n"two"\nmsgstr "d"\n\n"os"\n'
        '#, fuzzy\nmsgid "is"\nmsgstr "era"\n#: a.md:1\nmsgid "three"\nmsgstr "tres"\n#~ msgid "x"\n#~ msgstr "y"\n'
    )
    assert read_catalogue(path).texts == {"one": "uno", "two": "dos", "three": "tres"}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', r':3: msgid is here twice or too early; expected msgstr "…" before'),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', r':3: msgstr is here twice or too early; expected msgid "…" before'),
        ('msgstr "b"\n', r':1: msgstr is here twice or too early; expected msgid "…" before'),
        ('msgid "a"\nmsgstr "b"\nmsgid "c"\n', r':3: the entry ends without a translation; expected msgstr "…"'),
        ('"a"\nmsgid "b"\nmsgstr "c"\n', r":1: this line does not belong in a catalogue"),
    ],
)
def test_parts_of_an_entry_in_another_order_are_named(tmp_path, lines, problem):
    """Nothing is guessed about which translation belongs to which text."""
    (tmp_path / "a.po").write_text(lines)
    with pytest.raises(InputError, match=r"a\.po" + problem):
        read_catalogue(tmp_path / "a.po")


def test_texts_are_divided_as_po4a_divides_them(tmp_path):
    """Each piece is what po4a 0.69 took from the same text, so that each is found in its catalogue."""
    template = (CAPTURES / "po4a-0.69-markdown.pot").read_text(encoding="utf-8")
    filled = tmp_path / "all.po"
    filled.write_text(re.sub(r'msgstr ""$', 'msgstr "x"', template, flags=re.M), encoding="utf-8")
    pieces = {one.text for one in passages(MARKDOWN) if one.text.strip() and not one.text.startswith("```")}
    assert set(read_catalogue(filled).texts) == pieces


@pytest.mark.parametrize("path", [*CAPTURES.glob("po4a-*.md"), *ROOT.glob("labs/*/*.md")], ids=str)
def test_pieces_make_up_the_text(path):
    """Without a catalogue a text stays as it is, to the byte."""
    text = path.read_text(encoding="utf-8")
    assert translated(text, Catalogue(Path("none.po")))[0] == text


def test_what_is_prose_is_translated_and_what_is_typed_is_not(tmp_path):
    """Prefixes and indents stay; the body of a step stays though the catalogue has its text."""
    said = catalogue(
        tmp_path / "a.po",
        **{
            "A heading {-}": "Un título {-}",
            "An item\\nthat goes on.\\n": "Un punto\\nque sigue.\\n",
            "ping 10.0.0.2\\n": "haga ping 10.0.0.2\\n",
            "How long?\\n": "¿Cuánto?\\n",
        },
    )
    text, left = translated(MARKDOWN, said)
    assert "## Un título {-}\n" in text
    assert "- Un punto\n  que sigue.\n- Another" in text
    assert "```predict id=p settled=x\n¿Cuánto?\n```" in text and "```h1 id=x\nping 10.0.0.2\n```" in text
    lines = {each.line: each.reason for each in left}
    assert sorted(lines) == [3, 8, 10, 11, 13, 26, 29, 30]
    assert set(lines.values()) == {"no current translation"}


@pytest.mark.parametrize(
    ("text", "said", "problem"),
    [
        ("Type `ls`.", "Escriba `dir`.", "is translated without `ls`"),
        ("It took {{a.b as ms}}.", "Tardó {{a.b}}.", "is translated without {{a.b as ms}}"),
        ("It took 0.05 ms.", "Tardó 0,05 ms.", ""),
        ("1,514 bytes", "1514 bytes", ""),
        ("10 ms", "100 ms", "is translated without 10"),
        ("Nothing.", "Nada, o 5.", "is translated with 5, which is not in the original"),
        ("![A](figures/a.svg)\n", "![A](figuras/a.svg)\n", "is translated without ](figures/a.svg"),
        ("A {-}", "A", "is translated without {-}"),
        ("The RTT {#predict-rtt}", "El RTT {#predict-ida}", "is translated without {#predict-rtt}"),
        ("Step. Ping.\n", "Paso. Ping.\n", "is translated without Step. "),
        ("Subgoal. Look.\n", "Objetivo. Mire.\n", "is translated without Subgoal. "),
        ("One.\n", "Uno.\n\n## Dos\n", "is translated with other headings, items, or blocks"),
        ("- One.\n", "Uno.\n", "is translated with other headings, items, or blocks"),
        ("One.\n", "Uno.", "is translated with another end of line"),
    ],
)
def test_a_translation_keeps_what_the_machine_reads(text, said, problem):
    """Code, quotes, targets, marks, and numbers; a number may be written as the language writes it."""
    assert lost(text, said) == problem


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of catalogues with a language xx that says little."""
    catalogue(tmp_path / "linklab.xx.po", **{"Step {number}.": "Paso {number}."})
    monkeypatch.setattr(translation, "FOLDER", tmp_path)
    return tmp_path


def lab_with(text):
    """Lab 5 with another manual, and nothing else to translate."""
    lab = replace(load_lab(find_lab("5")), title="5", objectives=())
    return replace(lab, manual=parse_manual(text, lab.manual.path), folder=Path("/nowhere") / lab.slug)


def test_a_page_has_its_language_and_links_that_lead_somewhere(folder):
    """Sections keep their anchors, which links name; the page says in which language it is."""
    lab = lab_with("## The start\nStep. See {{section.the-start}}.\n")
    catalogue(
        folder / f"{lab.slug}.xx.po",
        **{"The start": "El principio", "Step. See {{section.the-start}}.\\n": "Step. Vea {{section.the-start}}.\\n"},
    )
    chapter, problems = translated_chapter(lab, "xx", folder)
    page = render_manual(chapter)
    assert problems == []
    assert '<html lang="xx">' in page
    assert '<h2 id="the-start"><span class="number">1</span> El principio</h2>' in page
    assert '<strong>Paso 1.</strong> Vea <a href="#the-start">Section 1</a>' in page


def test_what_is_not_translated_is_in_english_and_said(folder, monkeypatch):
    """An old paragraph is shown in English and named with its line; the page says how many there are."""
    lab = lab_with("## The start\n\nNew words.\n\nType `ls`.\n")
    catalogue(
        folder / f"{lab.slug}.xx.po",
        **{"The start": "El principio", "Old words.\\n": "Palabras.\\n", "Type `ls`.\\n": "Escriba.\\n"},
    )
    chapter, problems = translated_chapter(lab, "xx", folder)
    assert [problem.partition("manual.md:")[2] for problem in problems] == [
        "3: no current translation",
        "5: is translated without `ls`",
    ]
    assert "El principio" in render_body(chapter) and "New words." in render_body(chapter)
    assert chapter.note.startswith("2 parts of this page are in English")
    (problem,) = catalogue_problems(lab, folder)
    monkeypatch.setattr("linklab.commands.labs.catalogue_problems", lambda lab: catalogue_problems(lab, folder))
    assert problem in check_lab(find_lab("5").name)
    assert problem.endswith('"Type `ls`." is translated without `ls`; mend the translation')


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("Paso {numero}.", "is translated without {number}"),
        ("Paso {number} de {total}.", "is translated with {total}, which is not in the original"),
        ("Paso {number:d}.", "is translated without {number}"),
        ("Paso {number.", "has a brace out of place (expected '}' before end of string)"),
        ("Paso {number}, {number}.", ""),
    ],
)
def test_a_word_of_the_program_that_cannot_be_filled_is_in_english_and_said(folder, monkeypatch, capsys, said, problem):
    """A placeholder that was translated too ended the command in a bare KeyError; `labs --check` names it."""
    lab = lab_with("## The start\nStep. See.\n")
    catalogue(folder / "linklab.xx.po", **{"Step {number}.": said})
    catalogue(folder / f"{lab.slug}.xx.po", **{"The start": "El principio", "Step. See.\\n": "Step. Vea.\\n"})
    chapter, problems = translated_chapter(lab, "xx", folder)
    place = f'{folder / "linklab.xx.po"}: "Step {{number}}." '
    assert [each for each in problems if "linklab.xx.po" in each] == ([place + problem] if problem else [])
    assert f"<strong>{'Step 1.' if problem else 'Paso 1, 1.'}</strong> Vea." in render_body(chapter)
    monkeypatch.setattr("linklab.commands.labs.lab_folders", list)
    monkeypatch.setattr("linklab.commands.labs.check_fidelity", lambda: None)
    monkeypatch.setattr("linklab.commands.labs.program_problems", lambda: program_problems(folder))
    assert cli.main(["labs", "--check"]) == (2 if problem else 0)
    assert capsys.readouterr().err == (f"linklab: {place}{problem}; mend the translation\n" if problem else "")


def test_english_pieces_of_a_page_say_so_to_a_screen_reader(folder):
    """Headings, paragraphs, items, steps, tables, and captions; their lines are those of the translated text."""
    lab = lab_with(
        "One.\nTwo.\n\n## The start\n\nNew.\n\n- Alpha.\n- Beta.\n\nStep. Look.\n\nSubgoal. See.\n\n"
        "```predict id=p settled=a asks=words\nHow?\n```\n\n"
        "```h1 id=a\nls\n```\n\n![Plot](topology:)\n\n|a|b|\n|-|-|\n|c|d|\n\n"
        "## The end\n\n{{lab.roadmap}}\n\n{{lab.objectives}}\n"
    )
    lab = replace(lab, objectives=("Know.", "Do."))
    said = {"One.\\nTwo.\\n": "Uno.\\n", "The end": "El fin", "Beta.\\n": "Beta dos.\\n", "Do.\\n": "Haga.\\n"}
    catalogue(folder / f"{lab.slug}.xx.po", **said)
    chapter, problems = translated_chapter(lab, "xx", folder)
    page = render_manual(chapter)
    marked = re.findall(
        r'<span lang="en">(.*?)</span>|<(table) lang="en" tabindex="0" aria-label="a, b">', page, re.DOTALL
    )
    assert [text.strip() or tag for text, tag in marked] == [
        *("The start", "The start", "New.", "Alpha.", "Look.", "See", "How?", "Plot", "table", "The start", "Know."),
    ]
    assert "<strong>Paso 1.</strong> <span" in page and "<li>Beta dos.</li>" in page and "<li>Haga.</li>" in page
    assert len(problems) == 9
    (paper,) = re.findall(r"<nav.*?</nav>", paper_html([chapter], title="T"), re.DOTALL)
    assert re.findall(r'<span lang="en">(.*?)</span>', paper) == ["The start"] and "El fin" in paper
    assert page.count('<svg lang="en" ') == 1
    assert ' lang="en">' not in render_body(replace(chapter, english=English()))


def test_title_and_objectives_that_are_in_english_are_counted(folder):
    """They stayed in English without a word; each is named with its line in lab.toml."""
    lab = load_lab(find_lab("5"))
    catalogue(folder / f"{lab.slug}.xx.po", **{f"{lab.title}\\n": "El cubo\\n", f"{lab.objectives[0]}\\n": "Uno\\n"})
    chapter, problems = translated_chapter(lab, "xx", folder)
    named = [problem for problem in problems if "lab.toml:" in problem]
    lines = (lab.folder / "lab.toml").read_text().splitlines()
    assert [lines[int(each.split(":")[1]) - 1].strip(' ",') for each in named] == list(lab.objectives[1:])
    assert all(each.endswith(": no current translation") for each in named)
    assert chapter.fields["title"] == "El cubo" and chapter.objectives == ["Uno", *lab.objectives[1:]]
    assert chapter.note.startswith(f"{len(problems)} parts of this page are in English")


def test_the_boxes_about_the_terminals_are_in_the_language_of_the_page():
    """The clock, set_env.sh and folders made twice: they were in English, and not counted."""
    manual = parse_manual(
        "## One\n\n```h1 id=a setup\nmkdir A && cd A\n```\n\n## Two\n\n"
        "```h1 id=b together=x\nping -c 1 10.0.0.2\n```\n\n```h2 id=c together=x\nsleep 60\n```\n",
        Path("manual.md"),
    )
    spanish = read_catalogue(ROOT / "po/linklab.es.po")
    asked = []

    def say(text):
        asked.append(text)
        return spanish.say(text)

    alone = parse_manual("## One\n\n```h1 id=a\nsleep 60\n```\n", Path("manual.md"))
    page = begin_hint(manual, manual.sections[1], say) + folder_hint(manual.steps, manual.steps[0], say)
    page += clock_hint(manual, say)[0] + clock_hint(alone, say)[0]
    assert len(set(asked)) == 15 and set(asked) <= set(spanish.texts)
    assert all(re.findall("`.*?`", text) == re.findall("`.*?`", spanish.say(text)) for text in asked)
    assert "ejecute <code>sudo ~/set_env.sh 2</code> en" in page and "<code>cd A</code>" in page
    assert "<code>mininet&gt;</code>" in page and "`" not in page
    body = render_body(Chapter(manual, "H", language="es", say=spanish.say))
    assert not re.search(r"clock is yours|start here|step again", body) and "reloj de la red" in body


def test_a_catalogue_that_cannot_be_read_is_named_by_the_check(folder):
    """The other languages are checked all the same."""
    (folder / "linklab.aa.po").write_text("x\n")
    catalogue(folder / "linklab.xx.po", **{"Step {number}.": "Paso."})
    catalogue(folder / "editor.xx.po", **{"{count:.2f} s": "{count} s", "a {": "una {"})
    first, second, third = program_problems(folder)
    assert first.endswith('editor.xx.po: "{count:.2f} s" is translated without {count:.2f}; mend the translation')
    assert "linklab.aa.po:1: this line does not belong" in second and "without {number}" in third


@pytest.mark.parametrize("text", ["## The start\n\n## Another\n", "## The start\n```h1\nls\n```\n"])
def test_a_manual_with_other_sections_or_steps_is_no_translation(text):
    """What is done in a lab is the same in each language."""
    path = Path("manual.md")
    with pytest.raises(ManualError, match="mend the catalogue"):
        same_anchors(parse_manual("## The start\n", path), parse_manual(text, path))


def test_a_language_that_is_not_there_is_an_error(tmp_path, capsys):
    """The message names those that are there."""
    lab = str(next(iter(lab_folders())))
    assert cli.main(["manual", lab, "--language", "xx", "--out", str(tmp_path / "x.html")]) == 2
    assert 'linklab: "xx": there are no pages in this language; there are en, es' in capsys.readouterr().err
    assert cli.main(["manual", "--all", "--language", "es"]) == 2


def test_lab_1_is_in_spanish(tmp_path, capsys):
    """The page but for what has changed since, which the command names: at most one piece in ten.

    So a change of the English text needs no translator at hand, and the page remains one in Spanish.
    """
    assert cli.main(["manual", "1", "--language", "es", "--out", str(tmp_path / "x.html")]) == 0
    page = (tmp_path / "x.html").read_text()
    english = [line for line in capsys.readouterr().err.splitlines() if "linklab: also wrote" not in line]
    assert '<html lang="es">' in page and "<h1>Laboratorio 1: Introducción a Mininet</h1>" in page
    assert "<strong>Paso 1.</strong> " in page and "Terminal del Cliente" in page and "<code>sudo mn</code>" in page
    assert all(line.endswith("; shown in English") for line in english)
    lab = load_lab(find_lab("1"))
    texts = [path.read_text(encoding="utf-8") for path in (lab.manual.path, lab.answers_path)]
    pieces = sum(len(translated(text, Catalogue(Path("none.po")))[1]) for text in texts)
    assert len(english) <= pieces / 10, "too much of Lab 1 is no longer translated: python tools/translations.py es 1"
    assert program_problems() == []
