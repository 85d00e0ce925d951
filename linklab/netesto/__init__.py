# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns in Netesto's script language: read, run in networks of their own, and shown as tables and pages."""
