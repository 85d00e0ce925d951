# SPDX-License-Identifier: BSD-3-Clause
"""A window that shows a queue while it is sampled; the key s stops it and saves the figure.

The view only: reading is `Follower`'s, drawing `draw_queue`'s. It must not sample, and must not block: it looks at the
file a few times a second.
"""

from __future__ import annotations

import signal
import time
import tkinter as tk
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from linklab.errors import DataError, LinklabError, MissingError
from linklab.measure.qdisc import measure_samples
from linklab.plots import style
from linklab.plots.queue import Follower, draw_queue, plot_file

REFRESH_MS = 250
_HINT = "s stops and saves"


class QueueWindow:
    """The window; `show` returns when the person stops it, closes it, or the sampling has ended and it is closed."""

    def __init__(
        self,
        path: Path,
        out: Path,
        *,
        handle: str | None = None,
        limit_bytes: float | None = None,
        stop_sampling: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the window on the samples in `path`; s saves the figure as `out`.

        stop_sampling: called once, when the person presses s or closes the window.

        Raises:
            MissingError: no display, or matplotlib's parts for tkinter are not installed.
        """
        try:
            from matplotlib.backends.backend_tkagg import FigureCanvasTkAgg  # noqa: PLC0415 - needs tkinter's image part
        except ImportError as error:
            raise MissingError(f"a live plot needs python3-tk and python3-pil.imagetk ({error})") from error
        try:
            self.root = tk.Tk()
        except tk.TclError as error:
            raise MissingError(f"no window can be opened ({error}); give --out FILE and --seconds N instead") from error
        self.saved = False
        self._path = path
        self._follower = Follower(path)
        self._out = out
        self._handle, self._limit_bytes = handle, limit_bytes
        self._stop_sampling = stop_sampling
        self._stopped = False
        what = path.stem.removeprefix("queue-")  # as `plot queue` names its samples
        self.root.title(f"Queue of {what}")
        self.root.geometry("800x560")
        self._status = tk.Label(self.root, text=f"waiting for samples; {_HINT}", anchor="w")
        self._status.pack(side="bottom", fill="x")
        self._figure = Figure(dpi=180, layout="constrained")
        self._canvas = FigureCanvasTkAgg(self._figure, master=self.root)
        self._canvas.get_tk_widget().pack(side="top", fill="both", expand=True)
        self.root.bind("<Key-s>", lambda _event: self.stop())
        self.root.protocol("WM_DELETE_WINDOW", self.close)
        # The first paint waits for the event loop, so that constructing a window never blocks.
        self.root.after(1, self._tick)

    def show(self) -> None:
        """Run until the window is closed; Ctrl+C in the terminal saves and closes it."""
        # tkinter swallows KeyboardInterrupt, and notices a signal only when it wakes up.
        before = signal.signal(signal.SIGINT, lambda _number, _frame: self._interrupted())
        try:
            self._wake()
            self.root.mainloop()
        finally:
            signal.signal(signal.SIGINT, before)

    def _wake(self) -> None:
        self.root.after(REFRESH_MS, self._wake)

    def _interrupted(self) -> None:
        self.stop()
        self.close()

    def stop(self) -> None:
        """Stop sampling, take the last samples and save the figure; the window stays to be looked at."""
        if self._stopped:
            return
        self._end_sampling()
        try:
            self._follower.more()
            self._paint()
            # A new figure: the one in the window has the window's size.
            plot_file(self._path, self._out, handle=self._handle, limit_bytes=self._limit_bytes)
        except LinklabError as error:
            self._status.config(text=f"stopped, not saved: {error}")
            return
        self.saved = True
        self._status.config(text=f"stopped; saved as {self._out}")

    def close(self) -> None:
        """Stop sampling and close the window, saving nothing more."""
        if not self._stopped:
            self._end_sampling()
        self.root.destroy()

    def _end_sampling(self) -> None:
        self._stopped = True
        self._stop_sampling()

    def _tick(self) -> None:
        if self._stopped:
            return
        began = time.monotonic()
        try:
            if self._follower.more():
                self._paint()
                self._status.config(text=_HINT)
        except DataError as error:
            self._status.config(text=str(error))
        # However many the samples get, three quarters of the time stay for the person.
        took_ms = round(1000 * (time.monotonic() - began))
        self.root.after(max(REFRESH_MS, 3 * took_ms), self._tick)

    def _paint(self) -> None:
        if not self._follower.samples.time_s:
            return
        measured = measure_samples(self._follower.samples, self._handle)
        with style.context():
            draw_queue(measured, limit_bytes=self._limit_bytes, figure=self._figure)
            self._canvas.draw_idle()
