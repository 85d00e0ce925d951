# SPDX-License-Identifier: BSD-3-Clause
"""Drawings for the theory of the manuals, made by code: `python -m linklab.figures` writes labs/*/figures/*.svg."""
