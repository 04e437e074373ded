#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(Relu6Op, KeepsWhatIsBetweenZeroAndSix) {
  check_op({.op = "relu6", .inputs = {f32({3}, {-1.5, 3, 7})}, .expect = {f32({3}, {0, 3, 6})}});
  check_op({.op = "relu6", .inputs = {i32({2}, {-3, 9})}, .expect = {i32({2}, {0, 6})}});
}

}  // namespace
}  // namespace spillway::testing
