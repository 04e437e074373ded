#include <cmath>

#include "spillway/graph/moments.h"

namespace spillway::graph {
namespace {

struct Op : MomentsOp {
  template <class Out>
  static Out finish(Moments acc, std::int64_t /*count*/) {
    return static_cast<Out>(static_cast<Wide<Out>>(std::sqrt(acc.variance())));
  }
};

Result<Fold> fold(const Prepare& p) {
  Fold fold;
  with_type(FloatTypes(), p.inputs[0].dtype,
            [&]<class T>() { fold = FoldOf<Op, T, T, Moments>::make(); });
  return fold;
}

}  // namespace

extern constexpr OpDef reduce_std_op{
    .name = "reduce_std",
    .summary = "The standard deviation over the axes; all of them by default.",
    .params = kReductionParams,
    .paths = "math.reduce_std",
    .infer = infer_reduction<FloatTypes>,
    .fold = fold};

}  // namespace spillway::graph
