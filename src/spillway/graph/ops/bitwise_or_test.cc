#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BitwiseOrOp, JoinsBits) {
  check_op({.op = "bitwise_or",
            .inputs = {i32({2}, {12, -1}), i32({2}, {10, 5})},
            .expect = {i32({2}, {14, -1})}});
  check_op({.op = "bitwise_or",
            .inputs = {of(DType::kUInt8, {1}, {200}), of(DType::kUInt8, {}, {15})},
            .expect = {of(DType::kUInt8, {1}, {207})}});
}

}  // namespace
}  // namespace spillway::testing
