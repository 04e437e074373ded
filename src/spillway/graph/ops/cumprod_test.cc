#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CumprodOp, MultipliesUpAlongAnAxis) {
  check_op({.op = "cumprod",
            .inputs = {i32({3}, {2, 3, 4})},
            .attrs = {{"exclusive", true}, {"reverse", true}},
            .expect = {i32({3}, {12, 4, 1})}});
  check_op({.op = "cumprod",
            .inputs = {of(DType::kBFloat16, {2}, {2, 3})},
            .expect = {of(DType::kBFloat16, {2}, {2, 6})}});
}

}  // namespace
}  // namespace spillway::testing
