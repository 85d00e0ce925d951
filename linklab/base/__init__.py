# SPDX-License-Identifier: BSD-3-Clause
"""What every other package may use: it knows nothing of labs, networks or engines."""
