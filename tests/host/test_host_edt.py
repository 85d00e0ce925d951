# SPDX-License-Identifier: BSD-3-Clause
"""Links by departure time on this machine's own kernel: what it lacks is said, and nothing is left behind."""

import os
import subprocess
import sys

import pytest

from linklab.bpf.build import compile_program

pytestmark = [pytest.mark.host, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
PUT = """
from linklab.linux.edt_stage import EdtStage, StageError
try:
    with EdtStage("v0") as stage:
        stage.put()
        print("stands")
        stage.remove()
except StageError as error:
    print(error)
"""


def test_a_kernel_without_fq_says_so_and_keeps_nothing():
    """Where the kernel has fq, the program stands and is taken away again."""
    compile_program()
    script = (
        "ip link add v0 type veth peer name v1 && ip link set v0 up && "
        f"{sys.executable} -c '{PUT}' && tc qdisc show dev v0 && tc filter show dev v0 egress"
    )
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, check=False)
    said, *left = done.stdout.splitlines()
    assert said in ("stands", "v0: this kernel has no fq (sch_fq), which links by departure time need")
    assert [line.split()[1] for line in left] == ["noqueue"]
