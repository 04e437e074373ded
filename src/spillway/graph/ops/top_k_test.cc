#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TopKOp, GivesTheLargestAndTheirPlaces) {
  check_op({.op = "top_k",
            .inputs = {f32({2, 3}, {1, 3, 3, 6, 5, 4})},
            .attrs = {{"k", std::int64_t{2}}},
            .expect = {f32({2, 2}, {3, 3, 6, 5}), i32({2, 2}, {1, 2, 0, 1})}});
  check_op({.op = "top_k",
            .inputs = {of(DType::kUInt8, {3}, {1, 200, 3})},
            .expect = {of(DType::kUInt8, {1}, {200}), i32({1}, {1})}});
  expect_refused("top_k", {f32({2}, {})}, {{"k", std::int64_t{3}}},
                 "input must have at least k columns. Had 2, needed 3");
}

}  // namespace
}  // namespace spillway::testing
