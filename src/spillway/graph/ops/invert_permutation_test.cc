#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(InvertPermutationOp, TellsWhereEachStands) {
  check_op({.op = "invert_permutation",
            .inputs = {i32({4}, {2, 0, 3, 1})},
            .expect = {i32({4}, {1, 3, 0, 2})}});
  expect_refused("invert_permutation", {i32({2}, {0, 2})}, {}, "2 is not between 0 and 2");
  expect_refused("invert_permutation", {i32({2}, {1, 1})}, {}, "1 is duplicated in the input.");
}

}  // namespace
}  // namespace spillway::testing
