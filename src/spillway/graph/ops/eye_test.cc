#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(EyeOp, GivesIdentityMatrices) {
  check_op({.op = "eye",
            .inputs = {},
            .attrs = {{"num_rows", std::int64_t{2}}, {"num_columns", std::int64_t{3}}},
            .expect = {f32({2, 3}, {1, 0, 0, 0, 1, 0})}});
  check_op({.op = "eye",
            .inputs = {},
            .attrs = {{"num_rows", std::int64_t{1}},
                      {"batch_shape", std::vector<std::int64_t>{2}},
                      {"dtype", DType::kInt32}},
            .expect = {i32({2, 1, 1}, {1, 1})}});
}

}  // namespace
}  // namespace spillway::testing
