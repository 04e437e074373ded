#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CumsumOp, AddsUpAlongAnAxis) {
  check_op({.op = "cumsum",
            .inputs = {f32({2, 2}, {1, 2, 3, 4})},
            .expect = {f32({2, 2}, {1, 2, 4, 6})}});
  check_op({.op = "cumsum",
            .inputs = {i32({3}, {1, 2, 3})},
            .attrs = {{"exclusive", true}, {"reverse", true}},
            .expect = {i32({3}, {5, 3, 0})}});
  expect_refused("cumsum", {f32({3}, {})}, {{"axis", std::int64_t{1}}},
                 "Expected scan axis in the range [-1, 1), but got 1");
}

}  // namespace
}  // namespace spillway::testing
