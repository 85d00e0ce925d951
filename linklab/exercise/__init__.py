# SPDX-License-Identifier: BSD-3-Clause
"""Exercises and problems: description, individual parameters, submissions and their judgement, all pure.

Files and captured output in, reports out; the networks of a grading are run by `linklab.grade`.
Format of the folder: docs/writing-an-exercise.md.
"""
