#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr counter(Value start, Value step, std::string dtype = "int64") {
  return node(
      "counter",
      {{"start", std::move(start)}, {"step", std::move(step)}, {"dtype", std::move(dtype)}});
}

TEST(Counter, CountsWithoutEnd) {
  check_operator({.build = [] { return counter(std::int64_t{3}, std::int64_t{4}); },
                  .expect = {"3", "7", "11", "15"},
                  .most = 4});
  EXPECT_EQ(counter(std::int64_t{0}, std::int64_t{1})->cardinality(), kInfinite);
}

TEST(Counter, CountsDownAndNotAtAll) {
  check_operator({.build = [] { return counter(std::int64_t{1}, std::int64_t{-1}); },
                  .expect = {"1", "0", "-1"},
                  .most = 3});
  check_operator({.build = [] { return counter(std::int64_t{1}, std::int64_t{0}); },
                  .expect = {"1", "1", "1"},
                  .most = 3});
}

TEST(Counter, WrapsInItsType) {
  check_operator({.build = [] { return counter(std::int64_t{126}, std::int64_t{1}, "int8"); },
                  .expect = {"126", "127", "-128"},
                  .most = 3});
}

TEST(Counter, CountsInFractions) {
  check_operator({.build = [] { return counter(0.0, 0.5, "float32"); },
                  .expect = {"0", "0.5", "1"},
                  .most = 3});
}

TEST(Counter, RefusesAFractionOfAnIntegerAndOtherTypes) {
  const auto refused = [](Value start, std::string dtype) {
    auto made = try_node("counter", {{"start", std::move(start)}, {"dtype", std::move(dtype)}});
    EXPECT_FALSE(made.ok());
    return made.ok() ? "" : made.error().info().type;
  };
  EXPECT_EQ(refused(0.5, "int64"), "TypeError");
  EXPECT_EQ(refused(std::int64_t{0}, "string"), "TypeError");
}

}  // namespace
}  // namespace spillway::testing
