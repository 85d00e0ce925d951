# SPDX-License-Identifier: BSD-3-Clause
"""The one program of the host engine that runs as root: starts a network in namespaces of its own, and ends it.

Standard library only; started as `/usr/bin/python3 -I -S -B …/linklab/warden`, which is all that a sudoers line names.
What it is to do comes as one line of JSON on its standard input (`linklab.warden.orders`), never as code or options.
The rest of Linklab imports `records`, which says where records lie, and `probe`, which an ordinary user may run too.
"""
