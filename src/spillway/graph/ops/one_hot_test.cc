#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(OneHotOp, MarksThePlaceOfAnIndex) {
  check_op({.op = "one_hot",
            .inputs = {i32({3}, {1, -1, 5}), i32({}, {2}), f32({}, {1}), f32({}, {0})},
            .expect = {f32({3, 2}, {0, 1, 0, 0, 0, 0})},
            .fixed = {1}});
  check_op({.op = "one_hot",
            .inputs = {of(DType::kUInt8, {2}, {0, 1}), i32({}, {3}), i32({}, {7}), i32({}, {8})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {i32({3, 2}, {7, 8, 8, 7, 8, 8})},
            .fixed = {1}});
  expect_refused("one_hot", {i32({1}, {0}), i32({}, {-3}), f32({}, {1}), f32({}, {0})}, {},
                 "depth must be non-negative, got: -3");
}

}  // namespace
}  // namespace spillway::testing
