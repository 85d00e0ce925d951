# SPDX-License-Identifier: BSD-3-Clause
"""Captures of running networks: packets of interfaces as pcapng with network time, live.

`filters` turns tcpdump's words into programs, `session` captures, `wireshark` opens it there, `extcap` is what
Wireshark asks when it lists interfaces, `decode` says what a packet is.
"""
