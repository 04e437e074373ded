#include <cmath>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SeluOp, ScalesWhatIsPositiveAndBendsTheRest) {
  const std::vector<double> x = {-30.0, -1.5, -0.25, 0.0, 0.5, 3.0};
  const std::vector<double> want = {-1.758099340847212, -1.3658143533672527,
                                    -0.388890197478119, 0.0,
                                    0.5253504936777402, 3.1521029620664414};
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    check_op({.op = "selu",
              .inputs = {of(type, {6}, x)},
              .expect = {of(type, {6}, want)},
              .tolerance = type == DType::kFloat32 ? 1e-7 : 1e-15});
  }
  check_op({.op = "selu",
            .inputs = {f64({3}, {-1000, 1000, NAN})},
            .expect = {f64({3}, {-1.7580993408473766, 1050.7009873554805, NAN})},
            .tolerance = 1e-15});
}

TEST(SeluOp, RefusesIntegers) {
  expect_refused("selu", {i32({1}, {1})}, {}, "is not defined for int32");
}

}  // namespace
}  // namespace spillway::testing
