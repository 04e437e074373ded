#pragma once

namespace spillway {

// Disturbs the scheduling at the places where threads meet, so that tests see orders a quiet
// machine never shows. Does nothing unless SPILLWAY_TEST_JITTER holds a seed.
void jitter();

}  // namespace spillway
