#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LeakyReluOp, MakesWhatIsNegativeSmaller) {
  check_op({.op = "leaky_relu",
            .inputs = {f64({3}, {-1.5, 0, 2})},
            .expect = {f64({3}, {-1.5 * static_cast<double>(0.2F), 0, 2})}});
  check_op({.op = "leaky_relu",
            .inputs = {f32({3}, {-1.5, 0, 2})},
            .attrs = {{"alpha", 0.5}},
            .expect = {f32({3}, {-0.75, 0, 2})}});
  expect_refused("leaky_relu", {i32({1}, {1})}, {}, "is not defined for int32");
}

}  // namespace
}  // namespace spillway::testing
