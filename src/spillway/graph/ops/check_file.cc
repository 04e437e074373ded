#include "spillway/graph/strings.h"
#include "spillway/io/file_check.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank() && shape.rank() != 0) {
    return invalid_argument("Input filename tensor must be scalar, but had shape: ",
                            shape.bracketed());
  }
  c.set(0, DType::kString, Shape());
  c.set(1, DType::kInt64, Shape());
  return {};
}

Status compute(Compute& c) {
  const std::string format = c.attrs.get_or("format", std::string());
  const std::string text = c.attrs.get_or("text", std::string());
  SW_ASSIGN(const CheckedFile found,
            check_file(std::string(c.inputs[0].string_at(0)), format, text, {c.account, c.ask}));
  const std::string_view names[] = {found.format};
  SW_ASSIGN(Tensor name, c.strings(Shape(), names));
  SW_ASSIGN(Tensor bytes, c.make(DType::kInt64, Shape()));
  *reinterpret_cast<std::int64_t*>(bytes.mutable_data()) = static_cast<std::int64_t>(found.bytes);
  bytes.buffer()->touch();
  c.outputs.push_back(std::move(name));
  c.outputs.push_back(std::move(bytes));
  return {};
}

constexpr ParamDef kParams[] = {{"filename", ParamKind::kTensor, "", 's'},
                                {"format", ParamKind::kString, "''"},
                                {"text", ParamKind::kString, "''"}};

}  // namespace

extern constexpr OpDef check_file_op{
    .name = "check_file",
    .summary = "Reads and decodes a whole file: its format, empty where it is unknown, and size.",
    .params = kParams,
    .outputs = 2,
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
