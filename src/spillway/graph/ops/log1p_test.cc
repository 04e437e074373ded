#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(Log1pOp, GivesWhatTheFunctionGives) {
  check_op({.op = "log1p",
            .inputs = {f32({3}, {-0.5, 0, 4})},
            .expect = {f32({3}, {-0.69314718056, 0, 1.60943791243})},
            .tolerance = 1e-6});
  check_op({.op = "log1p",
            .inputs = {f64({3}, {-0.5, 0, 4})},
            .expect = {f64({3}, {-0.69314718056, 0, 1.60943791243})},
            .tolerance = 1e-11});
  check_op({.op = "log1p",
            .inputs = {of(DType::kBFloat16, {3}, {-0.5, 0, 4})},
            .expect = {of(DType::kBFloat16, {3}, {-0.69314718056, 0, 1.60943791243})},
            .tolerance = 0.02});
}

TEST(Log1pOp, TakesComplexNumbersAndLosesNothingOfSmallOnes) {
  check_op({.op = "log1p",
            .inputs = {c64({3}, {1, 1, 1e-9, 1e-9, -2, 0})},
            .expect = {c64({3}, {0.804718956, 0.463647609, 1e-9, 1e-9, 0, 3.14159265})},
            .tolerance = 1e-6});
}

}  // namespace
}  // namespace spillway::testing
