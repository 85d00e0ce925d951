# SPDX-License-Identifier: BSD-3-Clause
"""dpkg's status file of the image → its bill of materials in SPDX 2.3 JSON; called by `vm/build.py`.

Format: SPDX 2.3, clauses 6 to 8 and 11; package URLs: the purl specification's type "deb".
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from email.parser import HeaderParser
from typing import Any
from urllib.parse import quote

INSTALLED = "install ok installed"


def installed(status: str) -> Iterator[dict[str, str]]:
    """The fields of every installed package of a dpkg status file, by name; ValueError for one without a version."""
    for text in status.split("\n\n"):
        if not text.strip():
            continue
        fields = dict(HeaderParser().parsestr(text.strip("\n") + "\n\n"))
        if "Package" not in fields or "Version" not in fields:
            raise ValueError(f"a package of dpkg's status has no name or no version: {text[:80]!r}")
        # "hold ok installed" is installed too
        if fields.get("Status", "").split()[1:] == INSTALLED.split()[1:]:
            yield fields


def bill(status: str, name: str, epoch: int) -> dict[str, Any]:
    """The document; the same status and epoch (seconds since 1970) give the same.

    What licence a package has stands in its own /usr/share/doc/PACKAGE/copyright, in no form that a program can rely
    on, so it is NOASSERTION here.
    """
    packages = sorted(installed(status), key=lambda fields: (fields["Package"], fields["Architecture"]))
    entries = [_entry(fields) for fields in packages]
    made = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, f'{name} {epoch} {status}')}",
        "creationInfo": {"created": made, "creators": ["Tool: linklab-vm"]},
        "packages": entries,
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT",
                "relationshipType": "DESCRIBES",
                "relatedSpdxElement": entry["SPDXID"],
            }
            for entry in entries
        ],
    }


def _entry(fields: dict[str, str]) -> dict[str, Any]:
    package, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
    source = fields.get("Source", package)  # "name" or "name (version)", Debian policy 5.6.1
    purl = f"pkg:deb/debian/{quote(package)}@{quote(version, safe='')}?arch={architecture}"
    identifier = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in package)
    return {
        "SPDXID": f"SPDXRef-{identifier}-{architecture}",
        "name": package,
        "versionInfo": version,
        "supplier": f"Person: {fields['Maintainer']}" if "Maintainer" in fields else "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "sourceInfo": f"Debian source package: {source}",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl},
        ],
    }
