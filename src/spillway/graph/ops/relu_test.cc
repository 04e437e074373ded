#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReluOp, KeepsWhatIsPositive) {
  check_op({.op = "relu", .inputs = {f32({3}, {-1.5, 0, 2})}, .expect = {f32({3}, {0, 0, 2})}});
  check_op({.op = "relu", .inputs = {i32({2}, {-3, 4})}, .expect = {i32({2}, {0, 4})}});
}

}  // namespace
}  // namespace spillway::testing
