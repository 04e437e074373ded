#include <gtest/gtest.h>

#include <limits>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr enumerate(std::int64_t start, NodePtr input) {
  return node("enumerate", {{"start", start}}, {std::move(input)});
}

TEST(Enumerate, NumbersElements) {
  check_operator(
      {.build = [] { return enumerate(5, range(3)); }, .expect = {"(5, 0)", "(6, 1)", "(7, 2)"}});
  check_operator(
      {.build = [] { return enumerate(-1, range(2)); }, .expect = {"(-1, 0)", "(0, 1)"}});
}

TEST(Enumerate, GivesAFailedElementItsNumber) {
  check_operator({.build = [] { return enumerate(0, failing_range(3, 1)); },
                  .expect = {"(0, 0)", "!DATA_LOSS", "(2, 2)"}});
}

TEST(Enumerate, EndsWithTheNumbers) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_operator({.build = [&] { return enumerate(most - 2, range(5)); },
                  .expect = {"(9223372036854775805, 0)", "(9223372036854775806, 1)"}});
}

TEST(Enumerate, KeepsTheStructureOfTheElements) {
  check_operator(
      {.build = [] { return enumerate(3, enumerate(0, range(1))); }, .expect = {"(3, (0, 0))"}});
}

}  // namespace
}  // namespace spillway::testing
