#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

enum class Mode : std::uint8_t { kConstant, kReflect, kSymmetric };

Result<Mode> mode_of(const Attrs& attrs) {
  std::string mode = attrs.get_or<std::string>("mode", "CONSTANT");
  for (char& letter : mode) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  if (mode == "CONSTANT") return Mode::kConstant;
  if (mode == "REFLECT") return Mode::kReflect;
  if (mode == "SYMMETRIC") return Mode::kSymmetric;
  Status status = invalid_argument("Value of argument `mode` expected to be one of \"CONSTANT\", ",
                                   "\"REFLECT\", or \"SYMMETRIC\". Received `mode` = ", mode);
  status.edit().type = "ValueError";
  return status;
}

Status check_mirror(Mode mode, std::int64_t before, std::int64_t after, std::int64_t dim) {
  const std::int64_t most = std::max(before, after);
  if (mode == Mode::kReflect && most >= dim) {  // also of an empty axis that is not padded
    return invalid_argument("paddings must be less than the dimension size: ", before, ", ", after,
                            " not less than ", dim);
  }
  if (mode == Mode::kSymmetric && most > dim) {
    return invalid_argument("paddings must be no greater than the dimension size: ", before, ", ",
                            after, " greater than ", dim);
  }
  return {};
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  SW_ASSIGN(const Mode mode, mode_of(c.attrs()));
  const Shape& in = c.input(0).shape;
  const Shape& given = c.input(1).shape;
  std::int64_t rank = in.rank();
  if (given.has_rank()) {
    if (given.rank() != 2 || (given[1] >= 0 && given[1] != 2)) {
      return invalid_argument("paddings must be a matrix with 2 columns: ", given.bracketed());
    }
    if (rank >= 0 && given[0] >= 0 && given[0] != rank) {
      return invalid_argument("The first dimension of paddings must be the rank of inputs",
                              given.bracketed(), " ", in.bracketed());
    }
    if (rank < 0) rank = given[0];
  }
  if (c.inputs() > 2 && c.input(2).shape.rank() > 0) {
    return invalid_argument("constant_values must be a scalar: ", c.input(2).shape.bracketed());
  }
  const Tensor* paddings = c.constant(1);
  if (rank < 0 || paddings == nullptr || !in.has_rank()) {
    c.set(0, c.input(0).dtype, unknown_dims(rank));
    return {};
  }
  std::vector<std::int64_t> dims = dims_of(in);
  const std::vector<std::int64_t> by = integers_of(*paddings);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (by[2 * i] < 0 || by[2 * i + 1] < 0) {
      return invalid_argument("Paddings must be non-negative: ", by[2 * i], " ", by[2 * i + 1]);
    }
    if (dims[i] == kUnknownDim) continue;
    SW_RETURN_IF_ERROR(check_mirror(mode, by[2 * i], by[2 * i + 1], dims[i]));
    dims[i] = saturated_sum(dims[i], saturated_sum(by[2 * i], by[2 * i + 1]));
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

// The padding of one axis copies what the earlier steps have put into the output.
struct Mirror {
  Box before;
  Box after;
  std::int64_t before_from;
  std::int64_t after_from;
  std::int64_t after_to;
  std::int64_t before_to;
};

Result<KernelPtr> prepare(const Prepare& p) {
  SW_ASSIGN(const Mode mode, mode_of(p.attrs));
  const Shape& in = p.inputs[0].shape;
  const Shape& out = p.outputs[0].shape;
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::vector<std::int64_t> from = byte_strides(in, item);
  const std::vector<std::int64_t> to = byte_strides(out, item);
  std::vector<std::int64_t> by(static_cast<std::size_t>(2 * in.rank()));
  if (p.constants[1] != nullptr) by = integers_of(*p.constants[1]);
  Box inside(item);
  std::int64_t first = 0;
  for (int i = 0; i < in.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    inside.axis(in[i], from[at], to[at]);
    first += by[2 * at] * to[at];
  }
  // Innermost axis first: what an outer axis mirrors is complete along the inner ones.
  std::vector<Mirror> mirrors;
  for (int i = in.rank() - 1; i >= 0 && mode != Mode::kConstant; --i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t edge = mode == Mode::kReflect ? 1 : 0;
    Mirror mirror{Box(item), Box(item), 0, 0, 0, 0};
    for (int d = 0; d < in.rank(); ++d) {
      const auto k = static_cast<std::size_t>(d);
      const bool outer = d < i;
      for (const bool before : {true, false}) {
        Box& box = before ? mirror.before : mirror.after;
        if (d == i) {
          box.axis(by[2 * at + (before ? 0 : 1)], -to[k], to[k]);
        } else {
          box.axis(outer ? in[d] : out[d], to[k], to[k]);
        }
      }
      const std::int64_t start = outer ? by[2 * k] * to[k] : 0;
      if (d != i) {
        mirror.before_from += start;
        mirror.before_to += start;
        mirror.after_from += start;
        mirror.after_to += start;
      }
    }
    const std::int64_t low = by[2 * at];
    mirror.before_from += (2 * low - 1 + edge) * to[at];
    mirror.after_from += (low + in[i] - 1 - edge) * to[at];
    mirror.after_to += (low + in[i]) * to[at];
    mirrors.push_back(mirror);
  }
  const std::int64_t count = mode == Mode::kConstant && !(in == out) ? out.count() : 0;
  const bool valued = p.inputs.size() > 2;
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    if (valued) {
      fill_items(dst[0], src[2], item, count);
    } else {
      Mover().clear(dst[0], static_cast<std::size_t>(count) * item);
    }
    inside.copy(src[0], dst[0] + first);
    for (const Mirror& mirror : mirrors) {
      mirror.before.copy(dst[0] + mirror.before_from, dst[0] + mirror.before_to);
      mirror.after.copy(dst[0] + mirror.after_from, dst[0] + mirror.after_to);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor},
                                {"paddings", ParamKind::kTensor, "", 'n'},
                                {"mode", ParamKind::kString, "'CONSTANT'"},
                                {"constant_values", ParamKind::kTensor, "0"}};

}  // namespace

extern constexpr OpDef pad_op{.name = "pad",
                              .summary = "The tensor with items before and after along each axis.",
                              .params = kParams,
                              .paths = "pad",
                              .infer = infer,
                              .prepare = prepare};
// Needs its constant_values: there is no zero among strings.
extern constexpr OpDef pad_strings_op = string_twin<pad_op>("pad_strings");

}  // namespace spillway::graph
