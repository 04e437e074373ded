#include "spillway/graph/soft_maximum.h"

namespace spillway::graph {
namespace {

struct Op {
  static double scale(double sum) { return std::log(sum); }
  template <class A>
  static A of(A x, A scale) {
    return x - scale;
  }
};

}  // namespace

extern constexpr OpDef log_softmax_op{.name = "log_softmax",
                                      .summary = "The logarithms of softmax, along an axis.",
                                      .params = kSoftParams,
                                      .paths = "nn.log_softmax",
                                      .infer = infer_soft,
                                      .prepare = prepare_soft<Op>};

}  // namespace spillway::graph
