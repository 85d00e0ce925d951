# SPDX-License-Identifier: BSD-3-Clause
"""The editor in other languages: what is translated, what stays, and whether the catalogue is current."""

import re
import string
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from editor_words import editor_words, words_of

from linklab.base.catalogue import Catalogue, read_catalogue, unchanged
from linklab.editor.actions import MENUS, keys_text
from linklab.editor.settings import EditorSettings, from_data
from linklab.errors import FieldError, InputError
from linklab.windows.actions import key_name
from linklab.windows.words import FOLDER, Phrase, in_language, in_words_of, joined, language_of, languages, told_by

CATALOGUES = sorted(FOLDER.glob("editor.*.po"))
LEFT = 0.1
"""Share of the texts that may be in English until a translator has come by."""
SPANISH = in_words_of(
    Catalogue(
        Path("es.po"),
        {
            "{a} pings {b}": "{a} hace ping a {b}",
            "Move": "Mover",
            "{what}: undone": "{what}: deshecho",
            "Run": "Ejecutar",
        },
    )
)


def placeholders(text):
    """The fields of a template, with their formats."""
    return sorted((name, form, how) for _, name, form, how in string.Formatter().parse(text) if name is not None)


def test_a_phrase_is_english_until_somebody_says_it():
    """It compares, and is shown, as its English text; said, its template is translated and its values stay."""
    phrase = Phrase("{a} pings {b}", a="h1", b="Run")
    assert phrase == "h1 pings Run"
    assert SPANISH(phrase) == "h1 hace ping a Run"
    assert SPANISH(Phrase("{what}: undone", what=Phrase("Move"))) == "Mover: deshecho"
    assert SPANISH(joined("; ", [Phrase("Move"), phrase, "r1-eth0"])) == "Mover; h1 hace ping a Run; r1-eth0"
    assert SPANISH(Phrase(phrase)) == SPANISH(phrase)


def test_what_has_no_translation_stays_english():
    """Texts and templates that the catalogue lacks, braces of no template, and a slip of the translator's."""
    assert SPANISH("Nothing was said yet.") == "Nothing was said yet."
    assert SPANISH(Phrase("{count} nodes", count=2)) == "2 nodes"
    assert SPANISH(Phrase('{"json": 1}')) == '{"json": 1}'
    slip = in_words_of(Catalogue(Path("x.po"), {"{count} nodes": "{cuenta} nodos"}))
    assert slip(Phrase("{count} nodes", count=2)) == "2 nodes"


def test_an_exception_keeps_its_phrase():
    """What is wrong with a field can be said in the person's language; a place before it is kept."""
    phrase = Phrase("{a} pings {b}", a="h1", b="h2")
    assert SPANISH(told_by(FieldError(phrase, key="ip"))) == "h1 hace ping a h2"
    assert told_by(InputError(phrase, where="a.mn")) == "a.mn: h1 pings h2"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"LANG": "es_ES.UTF-8"}, "es"),
        ({"LANG": "es"}, "es"),
        ({"LANG": "es_ES.UTF-8", "LC_MESSAGES": "C"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "es_MX", "LC_ALL": ""}, "es"),
        ({"LC_ALL": "C.UTF-8", "LANG": "es_ES.UTF-8"}, "en"),
        ({"LANG": "xx_YY.UTF-8"}, "en"),
        ({"LANG": "../es"}, "en"),
        ({}, "en"),
    ],
)
def test_the_system_says_which_language(environment, code):
    """LC_ALL before LC_MESSAGES before LANG, as locale(7) has it; English where there is no catalogue."""
    assert language_of(environment) == code


def test_a_language_that_is_chosen_comes_before_the_systems():
    """Also English; one that does not exist is English."""
    assert in_language("es", {"LANG": "C"})("&File") == "&Archivo"
    assert in_language("", {"LANG": "es_ES"})("&File") == "&Archivo"
    assert in_language("en", {"LANG": "es_ES"})("&File") == "&File"
    assert in_language("../po/editor.es", {})("&File") == "&File"
    assert languages() == {"en": "English", "es": "Español"}


def test_the_choice_is_kept():
    """In the settings; anything but a text is left out."""
    assert from_data({"language": "es"}).language == "es"
    assert from_data({"language": 3}) == EditorSettings()


def test_keys_are_called_as_on_the_persons_keyboard():
    """In menus and in Help > Keys; a plus sign is a key, too."""
    say = in_language("es", {})
    assert key_name("Ctrl+Shift+S", say) == "Ctrl+Mayús+S"
    assert key_name("Ctrl++", say) == "Ctrl++"
    assert "Archivo: Guardar como" in keys_text(say)
    assert "Save" not in keys_text(say)


def test_texts_are_found_where_they_are_shown():
    """Arguments of what shows them, templates, and constants that hold them; no documentation, keys or commands."""
    source = '''
"""Of {this} module."""
HELP = "Some help."
OTHER = "not shown"
def f(window, look):
    """Say {it}."""
    window.say("one" if window else Phrase("two"))
    template = "{count} things"
    window.ask("Title", f"{look} pieces", [("Yes", lambda: run("ip route"))])
    Field("key", "Label", "help", kind="flag", choices=(("a", "As it is"),))
'''
    assert words_of(source) == [
        "Some help.",
        "one",
        "two",
        "{count} things",
        "Title",
        "Yes",
        "Label",
        "help",
        "As it is",
    ]


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_is_of_this_editor(path):
    """Every text of it is in the source, most of the source's are in it; `tools/translations.py` renews it."""
    texts, said = read_catalogue(path).texts, editor_words()
    assert not set(texts) - set(said)
    left = [text for text in said if text not in texts]
    assert len(left) < LEFT * len(said), left


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_translation_has_the_same_values(path):
    """Placeholders with their formats, and "…" at the end, which tells that a dialog follows."""
    for text, said in read_catalogue(path).texts.items():
        if re.search(r"\{[a-z_]+[:!}]", text):
            assert placeholders(text) == placeholders(said), text
        assert text.endswith("…") == said.endswith("…"), text
        assert len(text) - len(text.rstrip("\n")) == len(said) - len(said.rstrip("\n")), text


@pytest.mark.parametrize("say", [unchanged, *(in_words_of(read_catalogue(path)) for path in CATALOGUES)])
def test_each_menu_opens_with_a_letter_of_its_own(say):
    """The letter behind "&" is in the title, and no other menu has it."""
    letters = [re.search(r"&(\w)", say(title))[1].lower() for title in MENUS]
    assert len(set(letters)) == len(letters)
