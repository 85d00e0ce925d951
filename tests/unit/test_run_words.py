# SPDX-License-Identifier: BSD-3-Clause
"""The words of `linklab test run`."""

from linklab.cli import build_parser


def test_p_is_the_plot_and_big_p_a_parameter():
    """As in Flent, in `linklab test plot` and in `linklab test show`."""
    words = ["test", "run", "rrul", "-p", "all_scaled", "-P", "cc=bbr", "--test-parameter", "x=1"]
    args = build_parser("test").parse_args(words)
    assert (args.plot, args.parameters) == ("all_scaled", ["cc=bbr", "x=1"])
