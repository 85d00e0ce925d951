# SPDX-License-Identifier: BSD-3-Clause
"""How anything is judged: one expression language with units, one tolerance, one outcome; over one run or several.

Labs and exercises ask it the same questions, so a number is read, compared and shown alike in both.
Pure: measured numbers in, verdicts out. The language: docs/writing-an-exercise.md, "Expressions".
"""
