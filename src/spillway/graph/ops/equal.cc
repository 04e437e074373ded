#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline bool of(T x, T y) {
    return x == y;
  }
};

}  // namespace

extern constexpr OpDef equal_op{.name = "equal",
                                .summary = "x == y, item by item.",
                                .params = kBinaryParams,
                                .infer = infer_predicate<PlainTypes>,
                                .loop = predicate_loop<Op, PlainTypes>};

}  // namespace spillway::graph
