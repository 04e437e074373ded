#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status compute(Compute& c) {
  return measure_strings<bool>(
      c, DType::kBool, [](std::string_view item) { return item.starts_with("\xFF\xD8\xFF"); });
}

constexpr ParamDef kParams[] = {{"contents", ParamKind::kTensor, "", 's'}};

}  // namespace

extern constexpr OpDef is_jpeg_op{.name = "is_jpeg",
                                  .summary = "Whether strings begin as JPEGs do.",
                                  .params = kParams,
                                  .paths = "io.is_jpeg image.is_jpeg",
                                  .infer = infer_string_test,
                                  .compute = compute,
                                  .per_item = true};

}  // namespace spillway::graph
