#include "spillway/graph/string_moves.h"

#include <numeric>

#include "spillway/base/interrupt.h"
#include "spillway/graph/elementwise.h"
#include "spillway/graph/infer_outputs.h"
#include "spillway/graph/run_op.h"

namespace spillway::graph {

namespace {

// The operands that are moved are strings, all of them; the letters of others say integers.
Status check_moved(const Infer& c, const OpDef& plain) {
  int at = 0;
  for (const ParamDef& param : plain.params) {
    const bool listed = param.kind == ParamKind::kTensors;
    const bool operand =
        listed || param.kind == ParamKind::kTensor ||
        (param.kind == ParamKind::kOptional && c.attrs().get_or(param.name, false));
    if (!operand) continue;
    const int end = listed ? c.inputs() : at + 1;
    for (; at < end && at < c.inputs(); ++at) {
      if (param.type == 'T' && c.input(at).dtype != DType::kString) {
        return no_kernel(c.input(at).dtype);
      }
    }
  }
  return {};
}

}  // namespace

Status infer_moved_strings(Infer& c, const OpDef& plain) {
  SW_RETURN_IF_ERROR(check_moved(c, plain));
  std::vector<Spec> specs;
  std::vector<const Tensor*> constants;
  std::vector<std::optional<Shape>> shapes;
  for (int i = 0; i < c.inputs(); ++i) {
    const bool moved = c.input(i).dtype == DType::kString;
    specs.push_back(moved ? Spec{DType::kInt64, c.input(i).shape} : c.input(i));
    constants.push_back(moved ? nullptr : c.constant(i));
    shapes.push_back(moved ? std::nullopt : c.as_shape(i));
  }
  Infer infer(specs, constants, shapes, c.attrs());
  SW_RETURN_IF_ERROR(infer_outputs(plain, infer));
  for (std::size_t i = 0; i < infer.outputs().size(); ++i) {
    c.set(static_cast<int>(i), DType::kString, std::move(infer.outputs()[i].shape));
  }
  return {};
}

Status move_strings(Compute& c, const OpDef& plain) {
  std::vector<Tensor> inputs;
  std::vector<std::string_view> items;
  Looks looks;
  for (const Tensor& input : c.inputs) {
    if (input.dtype() != DType::kString) {
      inputs.push_back(input);
      continue;
    }
    SW_ASSIGN(Tensor places, c.make(DType::kInt64, input.shape()));
    auto* first = reinterpret_cast<std::int64_t*>(places.mutable_data());
    std::iota(first, first + input.count(), static_cast<std::int64_t>(items.size()));
    for (std::int64_t i = 0; i < input.count(); ++i) {
      if (looks.abandoned()) return cancelled();
      items.push_back(input.string_at(i));
    }
    inputs.push_back(std::move(places));
  }
  SW_ASSIGN(const std::vector<Tensor> moved,
            run_op(plain, inputs, c.attrs, c.account, c.ask, c.call));
  for (const Tensor& places : moved) {
    std::vector<std::string_view> taken;
    taken.reserve(static_cast<std::size_t>(places.count()));
    for (std::int64_t i = 0; i < places.count(); ++i) {
      if (looks.abandoned()) return cancelled();
      taken.push_back(items[static_cast<std::size_t>(places.as<std::int64_t>()[i])]);
    }
    SW_ASSIGN(Tensor out, c.strings(places.shape(), taken));
    c.outputs.push_back(std::move(out));
  }
  return {};
}

}  // namespace spillway::graph
