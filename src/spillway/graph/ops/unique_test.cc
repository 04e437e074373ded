#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(UniqueOp, NumbersItemsInTheOrderTheyCome) {
  check_op({.op = "unique",
            .inputs = {i32({4}, {5, 1, 5, 7})},
            .expect = {i32({3}, {5, 1, 7}), i32({4}, {0, 1, 0, 2})}});
  check_op({.op = "unique",
            .inputs = {text({3}, {"b", "a", "b"})},
            .attrs = {{"out_idx", DType::kInt64}},
            .expect = {text({2}, {"b", "a"}), of(DType::kInt64, {3}, {0, 1, 0})}});
}

}  // namespace
}  // namespace spillway::testing
