#include <algorithm>

#include "spillway/graph/strings.h"
#include "spillway/io/glob.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank() && shape.rank() > 1) {
    return invalid_argument("Input patterns tensor must be scalar or vector, but had shape: ",
                            shape.bracketed());
  }
  c.set(0, DType::kString, Shape({kUnknownDim}));
  return {};
}

Status compute(Compute& c) {
  const Tensor& patterns = c.inputs[0];
  std::vector<std::string> files;
  for (std::int64_t i = 0; i < patterns.count(); ++i) {
    SW_RETURN_IF_ERROR(add_matching_files(patterns.string_at(i), files));
  }
  std::ranges::sort(files);
  const std::vector<std::string_view> items(files.begin(), files.end());
  SW_ASSIGN(Tensor out, c.strings(Shape({static_cast<std::int64_t>(items.size())}), items));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"pattern", ParamKind::kTensor, "", 's'}};

}  // namespace

extern constexpr OpDef matching_files_op{
    .name = "matching_files",
    .summary = "The names of the files that match one or several patterns, sorted.",
    .params = kParams,
    .paths = "io.matching_files",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
