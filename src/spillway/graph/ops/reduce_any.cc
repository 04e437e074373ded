#include "spillway/graph/reduction.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class A>
  static A start() {
    return false;
  }
  template <class A, class T>
  [[gnu::always_inline]] static A take(A acc, T item) {
    return static_cast<A>(acc || item);
  }
};

// In TensorFlow an InvalidArgumentError or a ValueError, but no TypeError.
Status infer(Infer& c) {
  if (c.input(0).dtype != DType::kBool) {
    return invalid_argument("needs a bool tensor: ", name_of(c.input(0).dtype));
  }
  return infer_reduction<BoolType>(c);
}

}  // namespace

extern constexpr OpDef reduce_any_op{
    .name = "reduce_any",
    .summary = "Whether any item holds, over the axes; all of them by default.",
    .params = kReductionParams,
    .paths = "reduce_any math.reduce_any",
    .infer = infer,
    .fold = keeping_fold<Op, BoolType>};

}  // namespace spillway::graph
