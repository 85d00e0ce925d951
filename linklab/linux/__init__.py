# SPDX-License-Identifier: BSD-3-Clause
"""Calls to the kernel that Python has not: netlink, namespaces, mounts.  Standard library only."""
