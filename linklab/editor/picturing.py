# SPDX-License-Identifier: BSD-3-Clause
"""File > Export Picture and File > Print: the drawing as it is now, made beside the window so that it stays alive.

Printing goes through CUPS (`lp`, `lpstat`), which every desktop's printers are set up in; the picture is a PDF.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from linklab.base import installation
from linklab.editor.document import Document
from linklab.editor.pictures import ENDINGS, write_picture
from linklab.editor.settings import EditorSettings
from linklab.errors import InputError, LinklabError
from linklab.windows.chooser import Chooser
from linklab.windows.window import Window
from linklab.windows.words import Phrase

POLL_MS = 50
LPSTAT_S = 8.0
MOST_PRINTERS = 5
ELSEWHERE = "File > Export Picture writes a PDF, which can be printed on another machine."


class Picturing:
    """Pictures of one document."""

    def __init__(self, window: Window, document: Document, settings: EditorSettings) -> None:
        self.window, self.document, self.settings = window, document, settings

    @property
    def _folder(self) -> Path:
        return self.document.path.parent if self.document.path else Path.cwd()

    def export(self) -> None:
        """Ask for a name and write the picture in the format of its ending."""
        path = self.document.path
        name = f"{path.stem if path else 'network'}{ENDINGS[0]}"
        root, look, folder = self.window.root, self.window.look, installation.work_folder(path)
        title = "Export Picture (.svg, .png or .pdf)"
        Chooser(root, look, title, folder=folder, ending=ENDINGS, name=name, save=True, take=self.export_path)

    def export_path(self, path: Path) -> None:
        """Write the picture there."""
        self.window.say(Phrase("drawing {file} …", file=path.name))
        self._write(path, lambda: self.window.say(Phrase("wrote {path}", path=path)))

    def _write(self, path: Path, then: Callable[[], None]) -> None:
        """Write a picture in a thread of its own, since a PDF takes seconds, then go on in this one."""
        failed: list[Exception] = []
        topology, folder = self.document.topology, self._folder

        def work() -> None:
            try:
                write_picture(topology, path, folder, self.settings)
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()

        def look() -> None:
            if thread.is_alive():
                self.window.after(POLL_MS, look)
            elif not failed:
                then()
            elif isinstance(failed[0], LinklabError):
                self.window.say("")
                self.window.tell("No picture", str(failed[0]))
            else:
                raise failed[0]

        look()

    # --- printing

    def print(self) -> None:
        """Ask which printer, and print."""
        if shutil.which("lp") is None or shutil.which("lpstat") is None:
            self.window.tell(
                "No printing here",
                Phrase("The commands of CUPS, lp and lpstat, are not installed. {cure}", cure=Phrase(ELSEWHERE)),
            )
            return
        self._run(["lpstat", "-e"], LPSTAT_S, self._choose_printer)

    def _choose_printer(self, output: str, _: int) -> None:
        printers = [line.split()[0] for line in output.splitlines() if line.strip()]
        if not printers:
            self.window.tell(
                "No printer",
                Phrase("No printer is set up on this machine (lpstat -e names none). {cure}", cure=Phrase(ELSEWHERE)),
            )
            return
        answers: list[tuple[str, Callable[[], None]]] = [
            (name, partial(self.print_on, name)) for name in printers[:MOST_PRINTERS]
        ]
        self.window.ask("Print", "On which printer? The drawing fills a page.", [*answers, ("Cancel", lambda: None)])

    def print_on(self, printer: str) -> None:
        """Print on that printer."""
        folder = tempfile.TemporaryDirectory(prefix="linklab-print-")
        path = Path(folder.name) / "drawing.pdf"

        def sent(output: str, code: int) -> None:
            folder.cleanup()
            if code:
                self.window.tell("Not printed", f"lp refused the drawing: {output.strip()}")
            else:
                self.window.say(Phrase("sent to {printer}", printer=printer))

        command = ["lp", "-d", printer, "-o", "fit-to-page", "-t", self.document.title, str(path)]
        self.window.say(Phrase("printing on {printer} …", printer=printer))
        self._write(path, lambda: self._run(command, LPSTAT_S, sent))

    def _run(self, command: list[str], seconds: float, then: Callable[[str, int], None]) -> None:
        """Run a program of CUPS without waiting for it; one that hangs is ended."""
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as error:
            raise InputError(f"{command[0]} could not be started: {error.strerror}") from error

        def look(left_ms: float) -> None:
            if process.poll() is None and left_ms > 0:
                self.window.after(POLL_MS, lambda: look(left_ms - POLL_MS))
                return
            if process.poll() is None:
                process.kill()
                process.wait()
                self.window.tell("No answer", f"{command[0]} did not answer within {seconds:.0f} s. {ELSEWHERE}")
                return
            assert process.stdout is not None
            with process.stdout as stream:
                then(stream.read(), process.returncode)

        look(seconds * 1000)
