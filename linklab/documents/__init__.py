# SPDX-License-Identifier: BSD-3-Clause
"""Labs and exercises as HTML and PDF, and the handbook of all."""
