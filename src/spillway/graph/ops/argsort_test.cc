#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ArgsortOp, GivesPlacesInOrderAndIsStable) {
  check_op({.op = "argsort",
            .inputs = {of(DType::kUInt8, {4}, {3, 1, 3, 0})},
            .expect = {i32({4}, {3, 1, 0, 2})}});
  check_op({.op = "argsort",
            .inputs = {f32({2, 2}, {1, 2, 1, 2})},
            .attrs = {{"axis", std::int64_t{0}}, {"direction", std::string("DESCENDING")}},
            .expect = {i32({2, 2}, {0, 0, 1, 1})}});
}

}  // namespace
}  // namespace spillway::testing
