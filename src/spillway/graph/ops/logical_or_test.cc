#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LogicalOrOp, JoinsConditions) {
  check_op({.op = "logical_or",
            .inputs = {bools({4}, {0, 0, 1, 1}), bools({4}, {0, 1, 0, 1})},
            .expect = {bools({4}, {0, 1, 1, 1})}});
}

}  // namespace
}  // namespace spillway::testing
