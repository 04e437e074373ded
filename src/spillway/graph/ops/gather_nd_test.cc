#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(GatherNdOp, TakesSlicesByCoordinates) {
  const Tensor x = i32({2, 2}, {1, 2, 3, 4});
  check_op(
      {.op = "gather_nd", .inputs = {x, i32({2, 2}, {1, 0, 0, 1})}, .expect = {i32({2}, {3, 2})}});
  check_op({.op = "gather_nd", .inputs = {x, i32({1}, {1})}, .expect = {i32({2}, {3, 4})}});
  check_op({.op = "gather_nd",
            .inputs = {x, i32({2, 1}, {1, 0})},
            .attrs = {{"batch_dims", std::int64_t{1}}},
            .expect = {i32({2}, {2, 3})}});
  check_op({.op = "gather_nd_strings",
            .inputs = {text({2}, {"a", "b"}), i32({1, 1}, {1})},
            .expect = {text({1}, {"b"})}});
  expect_refused("gather_nd", {x, i32({1, 2}, {0, 5})}, {},
                 "indices[0] = [0, 5] does not index into param shape [2,2]");
}

}  // namespace
}  // namespace spillway::testing
