#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BitwiseAndOp, JoinsBits) {
  check_op({.op = "bitwise_and",
            .inputs = {i32({2}, {12, -1}), i32({2}, {10, 5})},
            .expect = {i32({2}, {8, 5})}});
  check_op({.op = "bitwise_and",
            .inputs = {of(DType::kUInt8, {1}, {200}), of(DType::kUInt8, {}, {15})},
            .expect = {of(DType::kUInt8, {1}, {8})}});
}

}  // namespace
}  // namespace spillway::testing
