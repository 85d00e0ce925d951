# SPDX-License-Identifier: BSD-3-Clause
"""The program inside a network's kernel, as root: owns Mininet, types into terminals, reports what they show.

Standard library and mininet only; run by the Python that mininet is installed for. The only package that imports
mininet. It does not know which kernel it runs on. Its requests and answers: `linklab.agent.protocol`.
"""
