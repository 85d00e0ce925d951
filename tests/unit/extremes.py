# SPDX-License-Identifier: BSD-3-Clause
"""Values beyond what a program's author thinks of, and every kind of place in a JSON document to put them."""

import copy

EXTREMES = [
    *(None, True, "", "1:", [], {}, float("inf"), float("nan"), 1e308, -1e308, 5e-324),
    *(10**400, -(10**400), 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -1),
]


def places(data, path=()):
    """All places of a JSON document, the whole document first."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def kinds_of_places(data, alike=()):
    """One place of each kind but the whole; numbers in lists, and keys at depths `alike`, do not make a kind."""
    found = {}
    for path in list(places(data))[1:]:
        kind = tuple("" if isinstance(key, int) or depth in alike else key for depth, key in enumerate(path))
        within = data
        for key in path:
            named = within.get("kind") if isinstance(within, dict) else None
            kind += (named,) if isinstance(named, str) else ()
            within = within[key]
        found.setdefault(kind, path)
    return sorted(found.values(), key=str)


def put(data, path, value):
    """The same document with a value in a place."""
    changed = copy.deepcopy(data)
    within = changed
    for step in path[:-1]:
        within = within[step]
    within[path[-1]] = value
    return changed
