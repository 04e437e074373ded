#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(StridedSliceOp, TakesRangesIndicesEllipsesAndNewAxes) {
  const Tensor x = i32({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto slice = [&](const Tensor& from, std::vector<double> begin, std::vector<double> end,
                         std::vector<double> step, graph::Attrs attrs, Tensor expect) {
    const Shape n{static_cast<std::int64_t>(begin.size())};
    check_op({.op = from.dtype() == DType::kString ? "strided_slice_strings" : "strided_slice",
              .inputs = {from, i32(n, begin), i32(n, end), i32(n, step)},
              .attrs = std::move(attrs),
              .expect = {std::move(expect)},
              .fixed = {1, 2, 3}});
  };
  slice(x, {1, -1}, {2, -3}, {1, -1}, {}, i32({1, 2, 2}, {10, 11, 8, 9}));
  slice(x, {0, 1}, {0, 2}, {1, 1},
        {{"ellipsis_mask", std::int64_t{1}}, {"shrink_axis_mask", std::int64_t{2}}},
        i32({2, 3}, {1, 3, 5, 7, 9, 11}));
  slice(x, {0, 0, 1}, {0, 0, 9}, {1, 1, 1},
        {{"new_axis_mask", std::int64_t{1}},
         {"begin_mask", std::int64_t{2}},
         {"end_mask", std::int64_t{2}}},
        i32({1, 2, 2, 2}, {2, 3, 4, 5, 8, 9, 10, 11}));
  slice(text({3}, {"a", "b", "c"}), {2}, {-9}, {-2}, {}, text({2}, {"c", "a"}));
}

TEST(StridedSliceOp, TakesAnIndexThatComesWithTheCall) {
  check_op(
      {.op = "strided_slice",
       .inputs = {i32({3, 2}, {0, 1, 2, 3, 4, 5}), i32({1}, {1}), i32({1}, {2}), i32({1}, {1})},
       .attrs = {{"shrink_axis_mask", std::int64_t{1}}},
       .expect = {i32({2}, {2, 3})},
       .fixed = {3}});
}

TEST(StridedSliceOp, RefusesIndicesOutOfBounds) {
  const graph::Attrs pick{{"shrink_axis_mask", std::int64_t{1}}};
  expect_refused("strided_slice", {i32({3}, {}), i32({1}, {5}), i32({1}, {6}), i32({1}, {1})}, pick,
                 "slice index 5 of dimension 0 out of bounds.");
  expect_refused("strided_slice", {i32({3}, {}), i32({1}, {0}), i32({1}, {1}), i32({1}, {0})}, {},
                 "strides[0] must be non-zero");
}

}  // namespace
}  // namespace spillway::testing
