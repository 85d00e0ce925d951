# SPDX-License-Identifier: BSD-3-Clause
"""`/usr/bin/python3 -I -S -B …/linklab/warden`: obey the order on standard input."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))  # -I leaves no other way to our own modules
    from linklab.warden.orders import main

    sys.exit(main())
