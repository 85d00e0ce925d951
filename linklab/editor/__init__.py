# SPDX-License-Identifier: BSD-3-Clause
"""The topology editor: `linklab edit [FILE.mn]`.

    document.py (what is edited, undo) ← edits.py (changes, pure) ← view (tkinter) → running.py (a network)

No tkinter: document, edits, identity, several, room, node_fields, link_fields, preference_fields, labels,
export, files, settings, meter, actions, running. The view: app and the rest, made of linklab.windows.
The view changes the drawing only through `Document.apply`, and a running network only through `Runner`.
"""
