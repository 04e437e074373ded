#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BitwiseXorOp, JoinsBits) {
  check_op({.op = "bitwise_xor",
            .inputs = {i32({2}, {12, -1}), i32({2}, {10, 5})},
            .expect = {i32({2}, {6, -6})}});
  check_op({.op = "bitwise_xor",
            .inputs = {of(DType::kUInt8, {1}, {200}), of(DType::kUInt8, {}, {15})},
            .expect = {of(DType::kUInt8, {1}, {199})}});
}

}  // namespace
}  // namespace spillway::testing
