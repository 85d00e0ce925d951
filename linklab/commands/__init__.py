# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `linklab`, one module each; the table is in `linklab.cli`."""
