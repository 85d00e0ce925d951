# SPDX-License-Identifier: BSD-3-Clause
"""Which files of a network's working folder the host may open for a program inside: those that are only shown.

The desktop chooses a program by a file's name and its first bytes, and for some kinds that program runs what it opens
(.desktop, .jar, scripts). So the name must be of a kind that is only shown, and the bytes must agree with it.
Bytes: PNG 5.2, JPEG B.1, GIF89a 17, ISO 32000 7.5.2, pcap and pcapng section 4 (IETF drafts), RIFF for WebP.
"""

from __future__ import annotations

from pathlib import Path

_PICTURES = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".webp": (b"RIFF",),
}
_CAPTURE = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\n\r\r\n")
_BEGINNINGS = {
    **_PICTURES,
    ".pdf": (b"%PDF-",),
    **dict.fromkeys((".pcap", ".pcapng", ".cap"), _CAPTURE),
}
_TEXTS = frozenset(
    {".txt", ".log", ".md", ".csv", ".tsv", ".json", ".jsonl", ".toml", ".dat", ".out", ".results", ".html", ".htm"}
    | {".svg", ".mn", ""}
)
_LAUNCHER = b"[Desktop Entry]"
READ_BYTES = 4096


def refusal(path: Path) -> str:
    """Why this file is not opened, as a sentence; "" for one that may be, and for a folder.

    Args:
        path: of the host, of a file or folder that is there.
    """
    true = path.resolve()  # what a link is called says nothing about what it leads to
    if true.is_dir():
        return ""
    if not true.is_file():
        return f"{path} is not a file, so it is not opened"
    suffix = true.suffix.lower()
    if path.suffix.lower() != suffix or (suffix not in _TEXTS and suffix not in _BEGINNINGS):
        return (
            f"{path} is not opened, since a desktop may run files of its kind: images, PDF, HTML, text and captures "
            "can be opened; open it yourself, outside the network, if you trust it"
        )
    with true.open("rb") as file:
        begins = file.read(READ_BYTES)
    if suffix in _BEGINNINGS:
        agrees = begins.startswith(_BEGINNINGS[suffix])
    else:
        agrees = b"\0" not in begins and not begins.startswith(b"#!") and _LAUNCHER not in begins.splitlines()
    if begins and not agrees:
        return f"{path} is not opened, since what is in it is not what its name says"
    return ""
