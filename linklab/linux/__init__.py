# SPDX-License-Identifier: BSD-3-Clause
"""Linux as programs see it: netlink, calls of the kernel, the command line of tc; standard library only.

What runs inside a network (the agent) and as root (the warden) imports this package and nothing else of ours.
"""
