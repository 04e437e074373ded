#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AcoshOp, GivesWhatTheFunctionGives) {
  check_op({.op = "acosh",
            .inputs = {f32({3}, {1, 1.5, 3})},
            .expect = {f32({3}, {0, 0.962423650119, 1.76274717404})},
            .tolerance = 1e-6});
  check_op({.op = "acosh",
            .inputs = {f64({3}, {1, 1.5, 3})},
            .expect = {f64({3}, {0, 0.962423650119, 1.76274717404})},
            .tolerance = 1e-11});
  check_op({.op = "acosh",
            .inputs = {of(DType::kBFloat16, {3}, {1, 1.5, 3})},
            .expect = {of(DType::kBFloat16, {3}, {0, 0.962423650119, 1.76274717404})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
