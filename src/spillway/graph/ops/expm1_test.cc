#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(Expm1Op, GivesWhatTheFunctionGives) {
  check_op({.op = "expm1",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {-0.632120558829, 0, 6.38905609893})},
            .tolerance = 1e-6});
  check_op({.op = "expm1",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {-0.632120558829, 0, 6.38905609893})},
            .tolerance = 1e-11});
  check_op({.op = "expm1",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-0.632120558829, 0, 6.38905609893})},
            .tolerance = 0.02});
}

TEST(Expm1Op, TakesComplexNumbersAndLosesNothingOfSmallOnes) {
  check_op({.op = "expm1",
            .inputs = {c64({2}, {1, 1, 1e-9, 1e-9})},
            .expect = {c64({2}, {0.468693940, 2.28735529, 1e-9, 1e-9})},
            .tolerance = 1e-6});
}

}  // namespace
}  // namespace spillway::testing
