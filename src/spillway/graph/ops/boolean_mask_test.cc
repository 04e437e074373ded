#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BooleanMaskOp, KeepsWhatTheMaskSays) {
  const Tensor x = i32({2, 2}, {1, 2, 3, 4});
  check_op(
      {.op = "boolean_mask", .inputs = {x, bools({2}, {0, 1})}, .expect = {i32({1, 2}, {3, 4})}});
  check_op({.op = "boolean_mask",
            .inputs = {x, bools({2, 2}, {1, 0, 0, 1})},
            .expect = {i32({2}, {1, 4})}});
  check_op({.op = "boolean_mask",
            .inputs = {x, bools({2}, {1, 0})},
            .attrs = {{"axis", std::int64_t{1}}},
            .expect = {i32({2, 1}, {1, 3})}});
  check_op({.op = "boolean_mask_strings",
            .inputs = {text({2}, {"a", "b"}), bools({2}, {0, 1})},
            .expect = {text({1}, {"b"})}});
  expect_refused("boolean_mask", {i32({3}, {}), bools({2}, {1, 0})}, {},
                 "Shapes (3,) and (2,) are incompatible");
}

}  // namespace
}  // namespace spillway::testing
