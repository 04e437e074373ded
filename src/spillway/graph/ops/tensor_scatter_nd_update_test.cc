#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TensorScatterNdUpdateOp, ReplacesSlices) {
  check_op({.op = "tensor_scatter_nd_update",
            .inputs = {f32({3}, {1, 2, 3}), i32({2, 1}, {2, 0}), f32({2}, {8, 9})},
            .expect = {f32({3}, {9, 2, 8})}});
  check_op({.op = "tensor_scatter_nd_update_strings",
            .inputs = {text({2}, {"a", "b"}), i32({1, 1}, {1}), text({1}, {"c"})},
            .expect = {text({2}, {"a", "c"})}});
  expect_refused("tensor_scatter_nd_update", {f32({3}, {1, 2, 3}), i32({1, 1}, {3}), f32({1}, {8})},
                 {}, "indices[0] = [3] does not index into shape [3]");
}

}  // namespace
}  // namespace spillway::testing
