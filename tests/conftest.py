"""What holds for all tests."""

from __future__ import annotations

import os
import signal

# Tests kill processes on purpose: those leave no records for the user's next import to tell of.
# Tests of the recorder itself turn it on, in folders of their own.
os.environ["SPILLWAY_FLIGHT_RECORDER"] = "0"

# A shell starts what runs in the background with Ctrl-C ignored: what is tested is a user's.
signal.signal(signal.SIGINT, signal.default_int_handler)
