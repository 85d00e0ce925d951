# SPDX-License-Identifier: BSD-3-Clause
"""Labs for a class on one server: a student's labs under JupyterHub, and the instructor's page.

`linklab lab --jupyterhub` is what the Hub starts for each student; `class_page` is a service of the Hub, and `spawner`
starts servers that see only their student's files. How to run all this: docs/class-server.md.
"""
