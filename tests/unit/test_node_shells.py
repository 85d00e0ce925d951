# SPDX-License-Identifier: BSD-3-Clause
"""How Mininet's nodes start their shells, with a class that does of Mininet's Node what matters here."""

import os
import subprocess

from linklab.agent import node_shells

LIST = ["sh", "-c", "ls /proc/$$/fd"]


def node_class():
    """As in mininet/node.py: mnexec's options, and a process that keeps our descriptors."""

    class Node:
        inNamespace = True  # noqa: N815 - mininet's name

        def startShell(self, mnopts=None):  # noqa: N802 - mininet's name
            self.options = ("-cd" if mnopts is None else mnopts) + "n" * self.inNamespace
            self.shell = self._popen(LIST, stdout=subprocess.PIPE, text=True, close_fds=False)

        def _popen(self, cmd, **params):
            return subprocess.Popen(cmd, **params)

    return Node


def opened(node):
    """The descriptors that a node's shell begins with; one of ours is open and may be inherited."""
    ours = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(ours, True)
    try:
        node.startShell()
        return str(ours) in node.shell.communicate()[0].split()
    finally:
        os.close(ours)


def test_a_shell_has_none_of_our_descriptors_without_mnexec_closing_each():
    """Mininet's own keeps them until mnexec -c closes every number up to the limit."""
    as_it_was, mended = node_class(), node_class()
    node_shells.mend(mended)
    before, after = as_it_was(), mended()
    assert (opened(before), before.options) == (True, "-cdn")
    assert (opened(after), after.options) == (False, "-dn")


def test_options_that_a_caller_gives_stay_also_where_the_class_is_mended_twice():
    """A class of Mininet's that starts its shell with options of its own keeps them."""
    mended = node_class()
    node_shells.mend(mended)
    node_shells.mend(mended)
    for options, runs in (("-p", "-pn"), (None, "-dn")):
        node = mended()
        node.startShell(options)
        node.shell.communicate()
        assert node.options == runs
