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
  template <class A>
  static A join(A a, A b) {
    return take(a, b);
  }
  template <class Out, class A>
  static Out finish(A acc, std::int64_t /*count*/) {
    return acc;
  }
};

// In TensorFlow an InvalidArgumentError or a ValueError, but no TypeError.
Status infer(Infer& c) {
  if (c.input(0).dtype != DType::kBool) {
    return invalid_argument("needs a bool tensor: ", name_of(c.input(0).dtype));
  }
  return infer_reduction<BoolType>(c);
}

Result<Fold> fold(const Prepare& p) {
  Fold fold;
  with_type(BoolType(), p.inputs[0].dtype, [&]<class T>() { fold = FoldOf<Op, T, T, T>::make(); });
  return fold;
}

}  // namespace

extern constexpr OpDef reduce_any_op{
    .name = "reduce_any",
    .summary = "Whether any item holds, over the axes; all of them by default.",
    .params = kReductionParams,
    .paths = "reduce_any math.reduce_any",
    .infer = infer,
    .fold = fold};

}  // namespace spillway::graph
