# SPDX-License-Identifier: BSD-3-Clause
"""What everything else stands on and what knows nothing of networks."""
