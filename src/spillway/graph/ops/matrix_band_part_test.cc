#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(MatrixBandPartOp, KeepsABand) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  check_op({.op = "matrix_band_part",
            .inputs = {x},
            .attrs = {{"num_lower", std::int64_t{0}}, {"num_upper", std::int64_t{-1}}},
            .expect = {f32({2, 3}, {1, 2, 3, 0, 5, 6})}});
  check_op({.op = "matrix_band_part",
            .inputs = {x},
            .attrs = {{"num_lower", std::int64_t{-1}}, {"num_upper", std::int64_t{0}}},
            .expect = {f32({2, 3}, {1, 0, 0, 4, 5, 0})}});
}

}  // namespace
}  // namespace spillway::testing
