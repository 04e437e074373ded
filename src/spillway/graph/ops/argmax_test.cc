#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ArgmaxOp, GivesTheFirstOfTheLargest) {
  check_op({.op = "argmax",
            .inputs = {f32({2, 3}, {1, 5, 5, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {of(DType::kInt64, {2}, {1, 2})}});
  check_op({.op = "argmax",
            .inputs = {i32({2, 3}, {1, 5, 5, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"output_type", DType::kInt32}},
            .expect = {i32({3}, {1, 0, 1})}});
}

}  // namespace
}  // namespace spillway::testing
