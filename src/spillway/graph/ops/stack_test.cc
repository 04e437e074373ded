#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(StackOp, PutsTensorsSideBySide) {
  check_op({.op = "stack",
            .inputs = {i32({2}, {1, 2}), i32({2}, {3, 4})},
            .expect = {i32({2, 2}, {1, 2, 3, 4})}});
  check_op({.op = "stack",
            .inputs = {f32({2}, {1, 2}), f32({2}, {3, 4})},
            .attrs = {{"axis", std::int64_t{-1}}},
            .expect = {f32({2, 2}, {1, 3, 2, 4})}});
  check_op({.op = "stack_strings",
            .inputs = {text({}, {"a"}), text({}, {"b"})},
            .expect = {text({2}, {"a", "b"})}});
}

TEST(StackOp, RefusesDifferentShapes) {
  expect_refused("stack", {f32({2}, {}), f32({3}, {})}, {},
                 "Shapes of all inputs must match: values[0].shape = [2] != values[1].shape = [3]");
}

}  // namespace
}  // namespace spillway::testing
