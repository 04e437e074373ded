#pragma once

#include <string_view>

namespace spillway {

// Breaks one promise on purpose: true for the name in SPILLWAY_TEST_MUTANT, so that tests/mutants
// can see the suite notice. Never in a build without test points.
#ifdef SW_TEST_POINTS
bool mutant(std::string_view name);
#else
constexpr bool mutant(std::string_view) { return false; }
#endif

}  // namespace spillway
