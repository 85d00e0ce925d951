# SPDX-License-Identifier: BSD-3-Clause
"""The virtual machine image: built by `make vm`, tested by `make vm-test`; in no wheel."""
