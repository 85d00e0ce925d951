# SPDX-License-Identifier: BSD-3-Clause
"""Grading: a submission and a course file in, a report out, by building the student's network again.

`unit` is one submission; `batch` is a class.  What is read, drawn and judged is in `linklab.exercise`, which is pure.
"""
