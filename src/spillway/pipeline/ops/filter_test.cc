#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
TEST(Filter, KeepsWhatThePredicateAccepts) {
  check_operator({.build =
                      [] {
                        return node("filter",
                                    {{"predicate", predicate([](std::int64_t x) { return x % 2 == 0; })}},
                                    {range(5)});
                      },
                  .expect = {"0", "2", "4"}});
}
}  // namespace spillway::testing
