# SPDX-License-Identifier: BSD-3-Clause
"""What a network is set to: read from what the agent tells, as facts in base units, and along the ways between nodes.

Pure. Used by those who judge what a person did in a network: exercises, and the guide of a lab.
"""
