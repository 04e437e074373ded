#include "spillway/graph/infer_outputs.h"

#include "spillway/tensor/extent.h"

namespace spillway::graph {

Status infer_outputs(const OpDef& op, Infer& infer) {
  SW_RETURN_IF_ERROR(op.infer(infer));
  for (const Spec& spec : infer.outputs()) {
    SW_RETURN_IF_ERROR(check_extent(spec.dtype, spec.shape));
  }
  return {};
}

}  // namespace spillway::graph
