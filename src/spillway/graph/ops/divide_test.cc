#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(DivideOp, Divides) {
  const double inf = std::numeric_limits<double>::infinity();
  check_op({.op = "divide",
            .inputs = {f32({3}, {7, 1, -1}), f32({3}, {2, 0, 0})},
            .expect = {f32({3}, {3.5, inf, -inf})}});
  check_op({.op = "divide",
            .inputs = {c64({1}, {3, 4}), c64({1}, {0, 1})},
            .expect = {c64({1}, {4, -3})},
            .tolerance = 1e-6});
}

}  // namespace
}  // namespace spillway::testing
