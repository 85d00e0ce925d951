# SPDX-License-Identifier: BSD-3-Clause
"""The guide of a lab: what its manual asks for, and how far somebody has come, judged by what the network shows.

    lab ─→ LabPlan (sections → subgoals → tasks → steps, each with what it wants)
    evidence (lines typed, state read back, files, the editor's verbs) ─→ Guide ─→ a state for each step

Everything but `collect` is pure: no network, no window, no server. Page, editor and `linklab step` show what it says.
"""
