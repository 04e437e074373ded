#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AbsOp, DropsTheSign) {
  check_op({.op = "abs", .inputs = {f32({3}, {-1.5, 0, 2})}, .expect = {f32({3}, {1.5, 0, 2})}});
  check_op({.op = "abs",
            .inputs = {of(DType::kInt8, {2}, {-3, 4})},
            .expect = {of(DType::kInt8, {2}, {3, 4})}});
}

}  // namespace
}  // namespace spillway::testing
