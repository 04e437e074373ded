#include "spillway/graph/soft_maximum.h"

namespace spillway::graph {
namespace {

struct Op {
  static double scale(double sum) { return sum; }
  template <class A>
  static A of(A x, A scale) {
    return std::exp(x) / scale;
  }
};

}  // namespace

extern constexpr OpDef softmax_op{.name = "softmax",
                                  .summary = "Powers of e that add up to 1, along an axis.",
                                  .params = kSoftParams,
                                  .paths = "nn.softmax",
                                  .infer = infer_soft,
                                  .prepare = prepare_soft<Op>};

}  // namespace spillway::graph
