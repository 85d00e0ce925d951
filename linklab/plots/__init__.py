# SPDX-License-Identifier: BSD-3-Clause
"""Series → figures of one look, as PDF, PNG or SVG.

Figures take series, not files of a tool. Needs matplotlib of the distribution; a display only for the live window of
`queue_window`. It must not measure, and must not draw a gap as a value.
"""
