#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
TEST(Take, EndsAfterItsCount) {
  check_operator({.build = [] { return node("take", {{"count", std::int64_t{2}}}, {range(5)}); },
                  .expect = {"0", "1"}});
}
}  // namespace spillway::testing
