# SPDX-License-Identifier: BSD-3-Clause
"""What bash reads when it starts in a terminal that a person sits at; terminals for captured typing have their own."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path("/run/linklab")
RC = r"""# what was typed on a node is there again in its next terminal, also after this one was hung up
PS1="root@$LINKLAB_NODE:\\w# " # the system's bashrc, which bash reads before this file, has another
shopt -s histappend
HISTCONTROL=ignoredups
PROMPT_COMMAND='history -a'
mkdir() { # a section that is done again makes its folder again, and `mkdir X && cd X` would stay outside
  command mkdir "$@" || {
    local status=$?
    [[ $# != 1 || ! -d $1 ]] || {
      echo "$1 already exists, perhaps from an earlier try: use it with cd $1, or delete it with rm -r $1." >&2
    }
    return $status
  }
}
"""


def seen_by_nodes(file: Path) -> str:
    """The path by which every node reaches a file of ours; a host may have a /run of its own, a private directory."""
    return f"/proc/{os.getpid()}/root{file}"


def options(file: Path | None = None) -> list[str]:
    """What has bash read this file, or the one of every terminal, which is written first; [] if it cannot be."""
    if file is None:
        file = FOLDER / "live.bashrc"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(RC, encoding="utf-8")
        except OSError:
            return []  # a folder that is full or read-only must not keep a terminal from opening
    return ["--rcfile", seen_by_nodes(file)]


def history(node: str) -> str:
    """The file that keeps what is typed on a node."""
    return seen_by_nodes(FOLDER / f"history-{node}")
