#include <algorithm>
#include <cstring>
#include <optional>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

using Outputs = decltype(FloatTypes{} | ComplexTypes{} | SignedTypes{} |
                         Types<std::uint8_t, std::uint16_t, bool>{});

// Bytes every string is cut or filled up to; not given: they must agree.
std::optional<std::int64_t> fixed_length(const Attrs& attrs) {
  const auto* length = attrs.get<std::int64_t>("fixed_length");
  return length == nullptr ? std::nullopt : std::optional(*length);
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const DType* out = c.attrs().get<DType>("out_type");
  if (out == nullptr) return invalid_argument("needs an out_type");
  if (!is_one_of(Outputs(), *out)) {
    return invalid_argument("Value for attr 'out_type' of ", name_of(*out),
                            " is not in the list of allowed values: half, float, double, int32, "
                            "uint16, uint8, int16, int8, int64, complex64, complex128, bool, "
                            "bfloat16");
  }
  const auto size = static_cast<std::int64_t>(size_of(*out));
  std::int64_t items = kUnknownDim;
  if (const auto length = fixed_length(c.attrs())) {
    if (*length <= 0) {
      return invalid_argument("fixed_length (", *length, ") must be greater than zero.");
    }
    if (*length % size != 0) {
      return invalid_argument("fixed_length (", *length,
                              ") must be a multiple of the size of out_type (", size, ")");
    }
    items = *length / size;
  }
  const Shape& shape = c.input(0).shape;
  if (!shape.has_rank()) {
    c.set(0, *out, Shape::unknown_rank());
    return {};
  }
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.push_back(items);
  c.set(0, *out, Shape(std::span<const std::int64_t>(dims)));
  return {};
}

// The bytes of every `unit` the other way round.
void swap_bytes(std::byte* bytes, std::size_t n, std::size_t unit) {
  for (std::size_t i = 0; i < n; i += unit) std::reverse(bytes + i, bytes + i + unit);
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const DType type = c.attrs.get_or("out_type", DType::kUInt8);
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto fixed = fixed_length(c.attrs);
  std::int64_t length = fixed.value_or(0);
  if (!fixed && in.count() > 0) {
    length = static_cast<std::int64_t>(in.string_at(0).size());
    for (std::int64_t i = 1; i < in.count(); ++i) {
      const auto own = static_cast<std::int64_t>(in.string_at(i).size());
      if (own != length) {
        return bad_data(Code::kInvalidArgument,
                        "DecodeRaw requires input strings to all be the same size, but element ", i,
                        " has size ", length, " != ", own);
      }
    }
    if (length % size != 0) {
      return bad_data(Code::kInvalidArgument, "Input to DecodeRaw has length ", length,
                      " that is not a multiple of ", size, ", the size of ", name_of(type));
    }
  }
  std::vector<std::int64_t> dims(in.shape().dims().begin(), in.shape().dims().end());
  dims.push_back(length / size);
  SW_ASSIGN(Tensor out, c.make(type, Shape(std::span<const std::int64_t>(dims))));
  const bool complex = is_one_of(ComplexTypes(), type);
  const auto unit = static_cast<std::size_t>(complex ? size / 2 : size);
  Looks looks;
  for (std::int64_t i = 0; i < in.count(); ++i) {
    if (looks.abandoned(1 + length / 16)) return cancelled();
    const std::string_view text = in.string_at(i);
    std::byte* to = out.mutable_data() + i * length;
    const auto room = static_cast<std::size_t>(length);
    const std::size_t n = std::min(text.size(), room);
    if (n > 0) std::memcpy(to, text.data(), n);
    if (n < room) std::memset(to + n, 0, room - n);
    if (!c.attrs.get_or("little_endian", true) && unit > 1) swap_bytes(to, room, unit);
    if (type == DType::kBool) {
      std::transform(to, to + room, to, [](std::byte b) { return std::byte(b != std::byte(0)); });
    }
  }
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input_bytes", ParamKind::kTensor, "", 's'},
                                {"out_type", ParamKind::kDType},
                                {"little_endian", ParamKind::kBool, "True"},
                                {"fixed_length", ParamKind::kInt, "None"}};

}  // namespace

extern constexpr OpDef decode_raw_op{.name = "decode_raw",
                                     .summary = "The bytes of strings as numbers.",
                                     .params = kParams,
                                     .paths = "io.decode_raw",
                                     .effect = Effect::kFallible,
                                     .infer = infer,
                                     .compute = compute,
                                     .per_item = true};

}  // namespace spillway::graph
