#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// A filter hides how many there are.
NodePtr some(std::int64_t stop) {
  return node("filter", {{"predicate", predicate([](auto) { return true; })}}, {range(stop)});
}

NodePtr asserted(std::int64_t stop, std::int64_t expected) {
  return node("assert_cardinality", {{"expected_cardinality", expected}}, {some(stop)});
}

// Runs it and gives the last event's message, which must be an error.
std::string complaint(std::int64_t stop, std::int64_t expected) {
  const Opened opened = open(asserted(stop, expected));
  for (;;) {
    const Next next = opened.it->next(Demand{10});
    if (!next.ok()) {
      EXPECT_EQ(next.error().code(), Code::kFailedPrecondition);
      EXPECT_EQ(drain(*opened.it), std::vector<std::string>{});
      return std::string(next.error().message());
    }
    if (!next.value()) return "";
  }
}

TEST(AssertCardinality, LetsTheRightNumberThrough) {
  check_operator({.build = [] { return asserted(3, 3); }, .expect = {"0", "1", "2"}});
  check_operator({.build = [] { return asserted(0, 0); }, .expect = {}});
}

TEST(AssertCardinality, TooFewAreAnErrorAtTheEnd) {
  EXPECT_EQ(complaint(4, 5),
            "Input dataset was expected to contain 5 elements but contained only 4 elements.");
  EXPECT_EQ(complaint(4, kInfinite),
            "Input dataset was expected to contain an infinite number of elements but contained "
            "only 4 elements.");
  EXPECT_EQ(elements(asserted(2, 5)), (std::vector<std::string>{"0", "1", "!FAILED_PRECONDITION"}));
}

TEST(AssertCardinality, TheFirstTooManyIsAnError) {
  EXPECT_EQ(complaint(4, 0),
            "Input dataset was expected to contain 0 elements but contained at least 1 element.");
  EXPECT_EQ(complaint(4, 3),
            "Input dataset was expected to contain 3 elements but contained at least 4 elements.");
  check_operator(
      {.build = [] { return asserted(4, 2); }, .expect = {"0", "1", "!FAILED_PRECONDITION"}});
}

TEST(AssertCardinality, IsWhatTheCountIsThen) { EXPECT_EQ(asserted(4, 7)->cardinality(), 7); }

}  // namespace
}  // namespace spillway::testing
