#include <sstream>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (c.input(0).dtype != DType::kBool) return no_kernel(c.input(0).dtype);
  c.set(0, DType::kBool, c.input(0).shape);
  return {};
}

// The first items of a tensor, as TensorFlow summarizes what was asserted.
std::string summary(const Tensor& value, std::int64_t most) {
  std::ostringstream text;
  const std::int64_t shown = std::min(most, value.count());
  for (std::int64_t i = 0; i < shown; ++i) {
    if (i > 0) text << ' ';
    if (value.dtype() == DType::kString) text << value.string_at(i);
    with_type(PlainTypes(), value.dtype(), [&]<class T>() { text << +widen(value.as<T>()[i]); });
  }
  if (shown < value.count()) text << "...";
  return text.str();
}

Status compute(Compute& c) {
  const Tensor& condition = c.inputs[0];
  bool holds = true;
  const bool* const items = condition.as<bool>();
  in_stretches(condition.count(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) holds &= items[i];
  });
  if (holds) {
    c.outputs.push_back(condition);
    return {};
  }
  std::string text = "assertion failed:";
  const auto message = c.attrs.get_or<std::string>("message", "");
  if (!message.empty()) text += " [" + message + "]";
  const std::int64_t most = c.attrs.get_or<std::int64_t>("summarize", 3);
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    text += " [" + summary(c.inputs[i], most < 0 ? c.inputs[i].count() : most) + "]";
  }
  return bad_data(Code::kInvalidArgument, text);
}

constexpr ParamDef kParams[] = {{"condition", ParamKind::kTensor, "", 'b'},
                                {"data", ParamKind::kTensors, "", '*'},
                                {"message", ParamKind::kString, "''"},
                                {"summarize", ParamKind::kInt, "3"}};

}  // namespace

extern constexpr OpDef assert_true_op{.name = "assert_true",
                                      .summary = "The condition, if it holds for every item.",
                                      .params = kParams,
                                      .effect = Effect::kFallible,
                                      .infer = infer,
                                      .compute = compute};

}  // namespace spillway::graph
