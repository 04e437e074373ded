#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TanhOp, GivesWhatTheFunctionGives) {
  check_op({.op = "tanh",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {-0.761594155956, 0, 0.964027580076})},
            .tolerance = 1e-6});
  check_op({.op = "tanh",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {-0.761594155956, 0, 0.964027580076})},
            .tolerance = 1e-11});
  check_op({.op = "tanh",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-0.761594155956, 0, 0.964027580076})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
