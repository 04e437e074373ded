#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(Atan2Op, GivesTheAngle) {
  check_op({.op = "atan2",
            .inputs = {f32({3}, {1, -1, 0}), f32({3}, {1, -1, 2})},
            .expect = {f32({3}, {0.785398163397, -2.35619449019, 0})},
            .tolerance = 1e-6});
}

}  // namespace
}  // namespace spillway::testing
