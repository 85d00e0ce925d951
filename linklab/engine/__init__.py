# SPDX-License-Identifier: BSD-3-Clause
"""The running network: `api` is the interface, `pocket` the engine that brings its own kernel."""
