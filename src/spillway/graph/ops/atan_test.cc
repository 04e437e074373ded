#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AtanOp, GivesWhatTheFunctionGives) {
  check_op({.op = "atan",
            .inputs = {f32({3}, {-2, 0, 3})},
            .expect = {f32({3}, {-1.10714871779, 0, 1.2490457724})},
            .tolerance = 1e-6});
  check_op({.op = "atan",
            .inputs = {f64({3}, {-2, 0, 3})},
            .expect = {f64({3}, {-1.10714871779, 0, 1.2490457724})},
            .tolerance = 1e-11});
  check_op({.op = "atan",
            .inputs = {of(DType::kBFloat16, {3}, {-2, 0, 3})},
            .expect = {of(DType::kBFloat16, {3}, {-1.10714871779, 0, 1.2490457724})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
