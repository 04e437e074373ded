#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status mismatch(const Shape& a, const Shape& b) {
  Status status =
      invalid_argument("Input shapes do not match: ", a.bracketed(), " vs. ", b.bracketed());
  status.edit().type = "ShapeError";
  return status;
}

// Scalars go with anything; the others must agree.
Status infer(Infer& c) {
  Shape shape;
  for (int i = 0; i < c.inputs(); ++i) {
    SW_RETURN_IF_ERROR(need_strings(c, i));
    const Shape& other = c.input(i).shape;
    if (other.has_rank() && other.rank() == 0) continue;
    const bool first = shape.has_rank() && shape.rank() == 0;
    if (!first && !shape.compatible(other)) return mismatch(shape, other);
    if (first || (!shape.has_rank() && other.has_rank())) {
      shape = other;
    } else if (shape.has_rank() && other.has_rank()) {
      std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
      for (int d = 0; d < shape.rank(); ++d) {
        if (dims[static_cast<std::size_t>(d)] < 0) dims[static_cast<std::size_t>(d)] = other[d];
      }
      shape = Shape(std::span<const std::int64_t>(dims));
    }
  }
  c.set(0, DType::kString, std::move(shape));
  return {};
}

Status compute(Compute& c) {
  const std::string separator = c.attrs.get_or("separator", std::string());
  Shape shape;
  for (const Tensor& input : c.inputs) {
    if (input.shape().rank() == 0) continue;
    if (shape.rank() != 0 && !(shape == input.shape())) return mismatch(shape, input.shape());
    shape = input.shape();
  }
  const std::int64_t n = shape.count();
  StringRun run(n);
  Looks looks;
  for (std::int64_t i = 0; i < n && !looks.abandoned(); ++i) {
    for (std::size_t k = 0; k < c.inputs.size(); ++k) {
      if (k > 0) run.text() += separator;
      run.text() += c.inputs[k].string_at(c.inputs[k].shape().rank() == 0 ? 0 : i);
    }
    run.end();
  }
  SW_ASSIGN(Tensor out, run.finish(c, shape));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"inputs", ParamKind::kTensors, "", 's'},
                                {"separator", ParamKind::kString, "''"}};

}  // namespace

extern constexpr OpDef string_join_op{.name = "string_join",
                                      .summary = "Strings of several tensors, one after the other.",
                                      .params = kParams,
                                      .paths = "strings.join",
                                      .infer = infer,
                                      .compute = compute,
                                      .per_item = true};

}  // namespace spillway::graph
