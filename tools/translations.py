# SPDX-License-Identifier: BSD-3-Clause
"""Renew the translation catalogues in po/, for which po4a and gettext must be installed (Debian: po4a gettext).

A lab's catalogue has the prose of its manual and answers and what lab.toml says; the commands of its blocks are not in
it. An exercise's has its handout, editor.LANGUAGE.po what the editor's window says. What has changed in English is
marked "fuzzy" and shown in English until a translator has looked at it.
Usage: python tools/translations.py LANGUAGE [LAB | exercises/N-NAME]…
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from editor_words import editor_words

from linklab.base import installation
from linklab.documents.translation import FOLDER
from linklab.errors import InputError, LinklabError
from linklab.exercise.load import exercise_folders
from linklab.lab.model import find_lab, load_lab
from linklab.manual.translate import PROSE_BLOCKS

ROOT = installation.ROOT
NO_WRAP = "--no-wrap"
SAID = re.compile(r'\bsay\(\s*"((?:[^"\\]|\\.)*)"')
_BLOCK = re.compile(r"#\. type: Fenced code block(?: \((\S+))?")
_HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'


def main() -> int:
    """Renew the catalogues that the command line names, and say what is left to translate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("language", help="such as es")
    parser.add_argument("names", nargs="*", metavar="NAME", help="labs (1) or exercises (exercises/1-basic-topology)")
    args = parser.parse_args()
    try:
        renew(FOLDER / f"linklab.{args.language}.po", program_template(), args.language)
        renew(FOLDER / f"editor.{args.language}.po", editor_template(), args.language)
        for name in args.names:
            slug, template = template_of(name)
            renew(FOLDER / f"{slug}.{args.language}.po", template, args.language)
    except LinklabError as error:
        sys.exit(f"translations: {error}")
    except FileNotFoundError as error:
        sys.exit(f"translations: {error.filename}: not found; install po4a and gettext")
    return 0


def template_of(name: str) -> tuple[str, str]:
    """Slug and template (the text of a .pot file) of a lab or exercise."""
    exercise = next((folder for folder in exercise_folders() if Path(name).name == folder.name), None)
    if exercise:
        return f"{exercise.parent.name}-{exercise.name}", extracted({"handout.md": exercise / "handout.md"})
    lab = load_lab(find_lab(name))
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "lab.toml"
        told.write_text("\n\n".join((lab.title, *lab.objectives)) + "\n", encoding="utf-8")
        return lab.slug, extracted({"lab.toml": told, "manual.md": lab.manual.path, "answers.md": lab.answers_path})


def extracted(files: dict[str, Path]) -> str:
    """What po4a finds to translate in Markdown files, without the blocks that the machine reads.

    Args:
        files: what a file is called in the catalogue → where it lies.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for called, path in files.items():
            (folder / called).write_bytes(path.read_bytes())
        # po4a wants a language and where its documents would go, also where it only extracts.
        config = ["[po4a_langs] xx", "[po4a_paths] all.pot $lang:$lang.po"]
        config += ['[po4a_alias: prose] text opt:"-o markdown -o neverwrap"']
        config += [f"[type: prose] {called} $lang:$lang/{called}" for called in files]
        (folder / "po4a.cfg").write_text("\n".join(config) + "\n")
        command = ["po4a", "--no-translations", "--quiet", "--master-charset", "UTF-8", "--package-name", "linklab"]
        _run([*command, "po4a.cfg"], folder)
        text = (folder / "all.pot").read_text(encoding="utf-8")
    return "\n\n".join(part for part in text.split("\n\n") if _is_prose(part))


def _is_prose(entry: str) -> bool:
    block = _BLOCK.search(entry)
    return block is None or (block[1] or "").rstrip(")") in PROSE_BLOCKS


def program_template() -> str:
    """What Linklab's own pages say: the texts given to `say` in Python and in templates."""
    found: dict[str, list[str]] = {}
    for path in sorted([*ROOT.glob("linklab/manual/*.py"), *ROOT.glob("linklab/manual/*.j2"), *_documents()]):
        for text in SAID.findall(path.read_text(encoding="utf-8")):
            found.setdefault(text, []).append(str(path.relative_to(ROOT)))
    return "\n".join([_HEAD, *_entries(found)])


def editor_template() -> str:
    """What the window of the editor says."""
    quoted = {quote(text): places for text, places in editor_words().items()}
    return "\n".join([_HEAD, *_entries(quoted)])


def quote(text: str) -> str:
    """A text as a catalogue has it between its quotation marks."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _documents() -> Iterable[Path]:
    return ROOT.glob("linklab/documents/*.py")


def _entries(found: dict[str, list[str]]) -> Iterator[str]:
    for text, places in found.items():
        yield "\n".join(f"#: {place}" for place in dict.fromkeys(places)) + f'\nmsgid "{text}"\nmsgstr ""\n'


def renew(catalogue: Path, template: str, language: str) -> None:
    """Bring a catalogue up to a template: new texts empty, changed ones fuzzy, those that are gone removed."""
    with tempfile.TemporaryDirectory() as name:
        pot = Path(name) / "new.pot"
        pot.write_text(template, encoding="utf-8")
        catalogue.parent.mkdir(exist_ok=True)
        if catalogue.is_file():
            _run(["msgmerge", "--update", "--backup=none", NO_WRAP, "--quiet", str(catalogue), str(pot)])
        else:
            head = ["msginit", "--no-translator", NO_WRAP, f"--locale={language}.UTF-8", f"--input={pot}"]
            _run([*head, f"--output-file={catalogue}"])
        _run(["msgattrib", "--no-obsolete", NO_WRAP, f"--output-file={catalogue}", str(catalogue)])
    done = _run(["msgfmt", "--statistics", "-o", "/dev/null", str(catalogue)])
    print(f"{catalogue.relative_to(ROOT)}: {done.strip()}")


def _run(command: list[str], folder: Path | None = None) -> str:
    """What a program says of its work; InputError if it fails."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise InputError(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stderr


if __name__ == "__main__":
    sys.exit(main())
