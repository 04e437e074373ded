#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SequenceMaskOp, MarksTheFirstPlaces) {
  check_op({.op = "sequence_mask",
            .inputs = {i32({2}, {1, 3})},
            .expect = {bools({2, 3}, {1, 0, 0, 1, 1, 1})}});
  check_op({.op = "sequence_mask",
            .inputs = {i32({2}, {1, 3}), i32({}, {2})},
            .attrs = {{"dtype", DType::kFloat32}},
            .expect = {f32({2, 2}, {1, 0, 1, 1})},
            .fixed = {1}});
}

TEST(SequenceMaskOp, RefusesANegativeOrAManifoldLength) {
  expect_refused("sequence_mask", {i32({1}, {1}), i32({}, {-1})}, {}, "must not be negative: -1");
  expect_refused("sequence_mask", {i32({1}, {1}), i32({1}, {2})}, {}, "maxlen must be scalar");
}

}  // namespace
}  // namespace spillway::testing
