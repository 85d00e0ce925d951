# SPDX-License-Identifier: BSD-3-Clause
"""What a running network does, as series that grow: rates, queues, congestion windows, round-trip times.

    linklab.agent.live_readings, inside ─→ lines ─→ LiveReading ─→ LiveHistory ─→ page, window, figure, data set
                                           (LiveFeed)          (tracks with levels to read them against)

A feed runs only while somebody looks. Costs no network time in a pocket.
"""

from linklab.live.feed import LiveFeed
from linklab.live.history import LiveHistory
from linklab.live.levels import LiveLevel
from linklab.live.tracks import PANELS, LiveSeries, Track

__all__ = ["PANELS", "LiveFeed", "LiveHistory", "LiveLevel", "LiveSeries", "Track"]
