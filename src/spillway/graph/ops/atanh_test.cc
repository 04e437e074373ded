#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AtanhOp, GivesWhatTheFunctionGives) {
  check_op({.op = "atanh",
            .inputs = {f32({3}, {-0.5, 0, 0.75})},
            .expect = {f32({3}, {-0.549306144334, 0, 0.972955074528})},
            .tolerance = 1e-6});
  check_op({.op = "atanh",
            .inputs = {f64({3}, {-0.5, 0, 0.75})},
            .expect = {f64({3}, {-0.549306144334, 0, 0.972955074528})},
            .tolerance = 1e-11});
  check_op({.op = "atanh",
            .inputs = {of(DType::kBFloat16, {3}, {-0.5, 0, 0.75})},
            .expect = {of(DType::kBFloat16, {3}, {-0.549306144334, 0, 0.972955074528})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
