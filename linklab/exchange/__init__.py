# SPDX-License-Identifier: BSD-3-Clause
"""Networks of other programs ↔ topologies, as far as they mean the same; what is not carried over is named.

    x.clab.yml (containerlab), lab.conf and startup files (Kathará), x.py (`mn --custom`) → read.read → Carried
    Topology → containerlab.dump, kathara.dump → texts and notes

Nothing here runs a network. Formats: containerlab.dev/manual/topo-def-file, kathara-lab.conf(5).
"""
