#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TransposeOp, OrdersAxes) {
  const Tensor x = i32({2, 3}, {0, 1, 2, 3, 4, 5});
  check_op({.op = "transpose", .inputs = {x}, .expect = {i32({3, 2}, {0, 3, 1, 4, 2, 5})}});
  check_op({.op = "transpose",
            .inputs = {f32({1, 2, 2}, {1, 2, 3, 4}), i32({3}, {2, 0, -2})},
            .expect = {f32({2, 1, 2}, {1, 3, 2, 4})},
            .fixed = {1}});
  check_op({.op = "transpose",
            .inputs = {c64({1, 2}, {1, 2, 3, 4})},
            .attrs = {{"conjugate", true}},
            .expect = {c64({2, 1}, {1, -2, 3, -4})}});
  check_op({.op = "transpose_strings",
            .inputs = {text({1, 2}, {"a", "b"})},
            .expect = {text({2, 1}, {"a", "b"})}});
}

TEST(TransposeOp, RefusesWhatIsNoOrder) {
  expect_refused("transpose", {f32({2, 3}, {}), i32({2}, {0, 0})}, {}, "1 is missing from");
  expect_refused("transpose", {f32({2, 3}, {}), i32({2}, {0, 2})}, {},
                 "2 is out of range [0 .. 2)");
}

}  // namespace
}  // namespace spillway::testing
