#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SplitOp, CutsEqualAndSizedParts) {
  const Tensor x = i32({4}, {1, 2, 3, 4});
  check_op({.op = "split",
            .inputs = {x},
            .attrs = {{"num", std::int64_t{2}}},
            .expect = {i32({2}, {1, 2}), i32({2}, {3, 4})}});
  check_op({.op = "split",
            .inputs = {f32({1, 3}, {1, 2, 3})},
            .attrs = {{"num_or_size_splits", std::vector<std::int64_t>{1, -1}},
                      {"axis", std::int64_t{1}}},
            .expect = {f32({1, 1}, {1}), f32({1, 2}, {2, 3})}});
  check_op({.op = "split_strings",
            .inputs = {text({2}, {"a", "b"})},
            .attrs = {{"num", std::int64_t{2}}},
            .expect = {text({1}, {"a"}), text({1}, {"b"})}});
}

TEST(SplitOp, RefusesPartsThatDoNotAddUp) {
  expect_refused("split", {f32({5}, {})}, {{"num", std::int64_t{2}}},
                 "Number of ways to split should evenly divide the split dimension, but got "
                 "split_dim 0 (size = 5) and num_split 2");
}

}  // namespace
}  // namespace spillway::testing
