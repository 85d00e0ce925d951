# SPDX-License-Identifier: BSD-3-Clause
"""What has lost its parent does not outlive the program."""

import subprocess
import sys
import threading

from linklab.base.orphans import orphans_end

LOST = """
import os, subprocess, time
from linklab.base.orphans import orphans_end
begun = subprocess.Popen(["sleep", "60"], start_new_session=True)
with orphans_end(20):
    parent = subprocess.Popen(["sh", "-c", "setsid sh -c 'echo $$; exec sleep 60' & wait"], stdout=subprocess.PIPE)
    one = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    print("there", os.path.exists(f"/proc/{one}"))
print("there", os.path.exists(f"/proc/{one}"), begun.poll())
begun.kill()
"""


def test_sessions_without_a_parent_have_ended_on_the_way_out():
    """What was begun before goes on, though it leads a session."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout == "there True\nthere False None\n"


def test_in_another_thread_nothing_is_ended():
    """Regression: a cluster's worker grades in threads, beside which somebody else's may have begun sessions."""
    with subprocess.Popen(["sh", "-c", "echo; exec sleep 60"], start_new_session=True, stdout=subprocess.PIPE) as one:

        def inside():
            with orphans_end(20):
                begun.append(subprocess.Popen(["sleep", "60"], start_new_session=True))

        begun = []
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join(10)
        assert (one.poll(), begun[0].poll()) == (None, None)
        for each in (one, *begun):
            each.kill()
        begun[0].wait()
