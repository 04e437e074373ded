#include "spillway/base/mutant.h"

#ifdef SW_TEST_POINTS

#include <cstdlib>

namespace spillway {

bool mutant(std::string_view name) {
  static const char* const kName = std::getenv("SPILLWAY_TEST_MUTANT");
  return kName != nullptr && name == kName;
}

}  // namespace spillway

#endif
