#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SearchsortedOp, FindsPlaces) {
  check_op({.op = "searchsorted",
            .inputs = {f32({3}, {1, 2, 3}), f32({3}, {0, 2, 9})},
            .expect = {i32({3}, {0, 1, 3})}});
  check_op({.op = "searchsorted",
            .inputs = {i32({2, 2}, {1, 2, 3, 4}), i32({2, 1}, {2, 2})},
            .attrs = {{"side", std::string("right")}, {"out_type", DType::kInt64}},
            .expect = {of(DType::kInt64, {2, 1}, {2, 0})}});
}

}  // namespace
}  // namespace spillway::testing
