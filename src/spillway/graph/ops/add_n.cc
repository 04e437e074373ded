#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (c.inputs() == 0) return invalid_argument("needs at least one tensor");
  if (!is_one_of(NumberTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  Shape shape = c.input(0).shape;
  for (int i = 1; i < c.inputs(); ++i) {
    const auto both = merge(shape, c.input(i).shape);
    if (!both) {
      return wrong_shape("Inputs to operation AddN must have the same size and shape.  Input 0: ",
                         c.input(0).shape.bracketed(), " != input ", i, ": ",
                         c.input(i).shape.bracketed());
    }
    shape = *both;
  }
  c.set(0, c.input(0).dtype, shape);
  return {};
}

// A kernel, not a loop: a loop takes few operands.
Result<KernelPtr> prepare(const Prepare& p) {
  const std::int64_t count = p.outputs[0].shape.count();
  const std::size_t inputs = p.inputs.size();
  KernelPtr kernel;
  with_type(NumberTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
      T* to = reinterpret_cast<T*>(out[0]);
      in_stretches(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          using Sum = Wrapping<Wide<T>>;
          Sum sum(0);
          for (std::size_t k = 0; k < inputs; ++k) {
            sum += static_cast<Sum>(widen(reinterpret_cast<const T*>(in[k])[i]));
          }
          to[i] = static_cast<T>(sum);
        }
      });
      return Status();
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"inputs", ParamKind::kTensors}};

}  // namespace

extern constexpr OpDef add_n_op{.name = "add_n",
                                .summary = "The sum of tensors of one shape.",
                                .params = kParams,
                                .paths = "add_n math.add_n",
                                .infer = infer,
                                .prepare = prepare};

}  // namespace spillway::graph
