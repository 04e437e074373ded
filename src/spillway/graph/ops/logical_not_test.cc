#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LogicalNotOp, TurnsConditions) {
  check_op({.op = "logical_not", .inputs = {bools({2}, {0, 1})}, .expect = {bools({2}, {1, 0})}});
}

}  // namespace
}  // namespace spillway::testing
