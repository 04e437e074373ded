#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BincountOp, CountsValues) {
  check_op(
      {.op = "bincount", .inputs = {i32({4}, {1, 1, 3, 0})}, .expect = {i32({4}, {1, 2, 0, 1})}});
  check_op({.op = "bincount",
            .inputs = {i32({3}, {1, 1, 3}), f32({3}, {1, 2, 4})},
            .attrs = {{"minlength", std::int64_t{6}}},
            .expect = {f32({6}, {0, 3, 0, 4, 0, 0})}});
  check_op({.op = "bincount",
            .inputs = {i32({2, 2}, {0, 0, 1, 5})},
            .attrs = {{"axis", std::int64_t{-1}}, {"maxlength", std::int64_t{2}}},
            .expect = {i32({2, 2}, {2, 0, 0, 1})}});
  check_op({.op = "bincount",
            .inputs = {i32({}, {1})},
            .attrs = {{"axis", std::int64_t{-1}}},
            .expect = {i32({2}, {0, 1})}});
  expect_refused("bincount", {i32({1}, {-1})}, {}, "Input arr must be non-negative!");
}

}  // namespace
}  // namespace spillway::testing
