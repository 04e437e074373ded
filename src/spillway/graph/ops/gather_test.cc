#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(GatherOp, TakesWhatIndicesName) {
  const Tensor x = i32({3, 2}, {0, 1, 2, 3, 4, 5});
  check_op(
      {.op = "gather", .inputs = {x, i32({2}, {2, 0})}, .expect = {i32({2, 2}, {4, 5, 0, 1})}});
  check_op({.op = "gather",
            .inputs = {x, of(DType::kInt64, {}, {1})},
            .attrs = {{"axis", std::int64_t{1}}},
            .expect = {i32({3}, {1, 3, 5})}});
  check_op({.op = "gather",
            .inputs = {x, i32({3, 1}, {1, 0, 1})},
            .attrs = {{"axis", std::int64_t{1}}, {"batch_dims", std::int64_t{1}}},
            .expect = {i32({3, 1}, {1, 2, 5})}});
  check_op({.op = "gather_strings",
            .inputs = {text({2}, {"a", "b"}), i32({3}, {1, 1, 0})},
            .expect = {text({3}, {"b", "b", "a"})}});
}

TEST(GatherOp, RefusesIndicesOutside) {
  expect_refused("gather", {i32({3}, {1, 2, 3}), i32({1, 2}, {0, -1})}, {},
                 "indices[0,1] = -1 is not in [0, 3)");
}

}  // namespace
}  // namespace spillway::testing
