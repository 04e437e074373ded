#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BitwiseInvertOp, TurnsBits) {
  check_op({.op = "bitwise_invert", .inputs = {i32({2}, {5, -1})}, .expect = {i32({2}, {-6, 0})}});
  check_op({.op = "bitwise_invert",
            .inputs = {of(DType::kUInt8, {1}, {5})},
            .expect = {of(DType::kUInt8, {1}, {250})}});
}

}  // namespace
}  // namespace spillway::testing
