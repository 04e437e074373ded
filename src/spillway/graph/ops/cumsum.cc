#include "spillway/graph/scan.h"

namespace spillway::graph {
namespace {

struct Op {
  static constexpr int kStart = 0;
  template <class T>
  [[gnu::always_inline]] static T of(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};

}  // namespace

extern constexpr OpDef cumsum_op{.name = "cumsum",
                                 .summary = "Sums of the items so far, along an axis.",
                                 .params = kScanParams,
                                 .paths = "cumsum math.cumsum",
                                 .infer = infer_scan,
                                 .prepare = prepare_scan<Op>};

}  // namespace spillway::graph
