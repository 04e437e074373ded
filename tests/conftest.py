"""What holds for all tests."""

from __future__ import annotations

import os

# Tests kill processes on purpose: those leave no records for the user's next import to tell of.
# Tests of the recorder itself turn it on, in folders of their own.
os.environ["SPILLWAY_FLIGHT_RECORDER"] = "0"
