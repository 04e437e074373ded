#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RepeatOp, RepeatsParts) {
  const Tensor x = i32({2, 2}, {1, 2, 3, 4});
  check_op({.op = "repeat",
            .inputs = {x, i32({}, {2})},
            .expect = {i32({8}, {1, 1, 2, 2, 3, 3, 4, 4})},
            .fixed = {1}});
  check_op({.op = "repeat",
            .inputs = {x, i32({2}, {1, 2})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {i32({3, 2}, {1, 2, 3, 4, 3, 4})}});
  check_op({.op = "repeat_strings",
            .inputs = {text({2}, {"a", "b"}), i32({2}, {0, 2})},
            .expect = {text({2}, {"b", "b"})}});
}

TEST(RepeatOp, TakesANegativeCountOfOnePlaceAsNone) {
  check_op({.op = "repeat",
            .inputs = {i32({2}, {1, 2}), i32({2}, {2, -1})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {i32({2}, {1, 1})}});
  expect_refused("repeat", {i32({2}, {1, 2}), i32({}, {-1})}, {}, "repeats must be non-negative");
  expect_refused("repeat", {i32({2}, {1, 2}), i32({1, 2}, {1, 1})}, {}, "a number or a vector");
}

}  // namespace
}  // namespace spillway::testing
