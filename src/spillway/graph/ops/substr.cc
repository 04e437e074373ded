#include <algorithm>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const std::string unit = c.attrs().get_or("unit", std::string("BYTE"));
  if (unit != "BYTE" && unit != "UTF8_CHAR") {
    return invalid_argument("Value for attr 'unit' of \"", unit,
                            "\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"");
  }
  const Shape& pos = c.input(1).shape;
  const Shape& len = c.input(2).shape;
  for (const int i : {1, 2}) {
    const DType dtype = c.input(i).dtype;
    if (dtype != DType::kInt32 && dtype != DType::kInt64) return no_kernel(dtype);
  }
  if (!pos.compatible(len)) {
    return invalid_argument("pos and len should have the same shape, got: ", pos.bracketed(),
                            " vs. ", len.bracketed());
  }
  const auto shape = broadcast(c.input(0).shape, pos);
  if (!shape) return incompatible(c.input(0).shape, pos);
  c.set(0, DType::kString, *shape);
  return {};
}

// `n` characters further on from byte `at`; past the end: as far as there are any, and false.
bool forward(std::string_view text, std::int64_t n, std::size_t& at) {
  for (; n > 0 && at < text.size(); --n) {
    do ++at;
    while (at < text.size() && is_trail(text[at]));
  }
  return n <= 0;
}
bool backward(std::string_view text, std::int64_t n, std::size_t& at) {
  for (; n > 0 && at > 0; --n) {
    do --at;
    while (at > 0 && is_trail(text[at]));
  }
  return n <= 0;
}

// The part of `text` that begins at `pos`, counted from the end when negative; false: no such
// place.
bool part_of_bytes(std::string_view text, std::int64_t pos, std::int64_t len,
                   std::string_view& part) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (pos > size || pos < -size) return false;
  const auto begin = static_cast<std::size_t>(pos < 0 ? size + pos : pos);
  // A negative length is a very large one.
  part = text.substr(begin, len < 0 ? std::string_view::npos : static_cast<std::size_t>(len));
  return true;
}
bool part_of_characters(std::string_view text, std::int64_t pos, std::int64_t len,
                        std::string_view& part) {
  std::size_t begin = pos < 0 ? text.size() : 0;
  // The lowest number has no opposite, and no string so many characters.
  if (pos < 0 ? !backward(text, -std::max(pos, -INT64_MAX), begin) : !forward(text, pos, begin)) {
    return false;
  }
  std::size_t end = begin;
  static_cast<void>(forward(text, len, end));
  part = text.substr(begin, end - begin);
  return true;
}

std::int64_t integer_at(const Tensor& tensor, std::int64_t i) {
  return tensor.dtype() == DType::kInt32 ? tensor.as<std::int32_t>()[i]
                                         : tensor.as<std::int64_t>()[i];
}

Status compute(Compute& c) {
  const Tensor& input = c.inputs[0];
  const Tensor& pos = c.inputs[1];
  const Tensor& len = c.inputs[2];
  const bool bytes = c.attrs.get_or("unit", std::string("BYTE")) == "BYTE";
  auto shape = broadcast(input.shape(), pos.shape());
  if (shape) shape = broadcast(*shape, len.shape());
  if (!shape) return incompatible(input.shape(), pos.shape());
  const BroadcastIndex at(input.shape(), *shape);
  const BroadcastIndex at_pos(pos.shape(), *shape);
  const BroadcastIndex at_len(len.shape(), *shape);
  std::vector<std::string_view> parts(static_cast<std::size_t>(shape->count()));
  Looks looks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (looks.abandoned()) return cancelled();
    const auto item = static_cast<std::int64_t>(i);
    const std::string_view text = input.string_at(at(item));
    const std::int64_t from = integer_at(pos, at_pos(item));
    const std::int64_t size = integer_at(len, at_len(item));
    if (bytes ? part_of_bytes(text, from, size, parts[i])
              : part_of_characters(text, from, size, parts[i])) {
      continue;
    }
    return bytes ? bad_data(Code::kInvalidArgument, "pos ", from, " out of range for string b'",
                            text, "' at index ", i)
                 : bad_data(Code::kInvalidArgument, "pos ", from,
                            " out of range for string at index ", i);
  }
  SW_ASSIGN(Tensor out, c.strings(*shape, parts));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"pos", ParamKind::kTensor, "", 'n'},
                                {"len", ParamKind::kTensor, "", 'n'},
                                {"unit", ParamKind::kString, "'BYTE'"}};

}  // namespace

extern constexpr OpDef substr_op{.name = "substr",
                                 .summary = "Parts of strings, by position and length.",
                                 .params = kParams,
                                 .paths = "strings.substr",
                                 .effect = Effect::kFallible,
                                 .infer = infer,
                                 .compute = compute,
                                 .per_item = true};

}  // namespace spillway::graph
