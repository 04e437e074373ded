#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
TEST(Range, CountsUp) {
  check_operator({.build = [] { return range(3); }, .expect = {"0", "1", "2"}});
}
}  // namespace spillway::testing
