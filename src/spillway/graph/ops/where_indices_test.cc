#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(WhereIndicesOp, GivesCoordinates) {
  check_op({.op = "where_indices",
            .inputs = {bools({2, 2}, {0, 1, 1, 0})},
            .expect = {of(DType::kInt64, {2, 2}, {0, 1, 1, 0})}});
  check_op({.op = "where_indices",
            .inputs = {f32({3}, {0, 0, 2})},
            .expect = {of(DType::kInt64, {1, 1}, {2})}});
}

}  // namespace
}  // namespace spillway::testing
