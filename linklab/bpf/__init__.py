# SPDX-License-Identifier: BSD-3-Clause
"""Links by earliest departure time: the program for the kernel in eBPF C, and what compiles it.

`edt.bpf.c` is the program, `edt.h` what it shares with user space, `build` compiles them. What user space does with
them is in `linklab.linux`, which the agent may use: `edt_object`, `edt_maps`, `edt_words`, `edt_stage`.
"""
