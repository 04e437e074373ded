#include "spillway/graph/random_source.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(check_seed(c, 0));
  const DType dtype = c.input(1).dtype;
  if (!is_one_of(RandomIntegers(), dtype)) return no_kernel(dtype);
  for (const int i : {1, 2}) {
    const Spec& bound = c.input(i);
    if (!bound.shape.compatible(Shape())) {
      return invalid_argument(i == 1 ? "minval" : "maxval", " must be 0-D, got shape ",
                              bound.shape.bracketed());
    }
  }
  const Shape* shape = c.attrs().get<Shape>("shape");
  if (shape == nullptr) return invalid_argument("needs a shape");
  for (const std::int64_t dim : shape->dims()) {
    if (dim < 0) return invalid_argument("Dimension ", dim, " must be >= 0");
  }
  c.set(0, dtype, *shape);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  KernelPtr kernel;
  const DType seed = p.inputs[0].dtype;
  const Shape shape = p.outputs[0].shape;
  with_type(RandomIntegers(), p.outputs[0].dtype, [&]<class T>() {
    const LoopFn fill = SimdLoop<RandomBody<UniformIntegerOf<T>>>::best();
    kernel = make_kernel([fill, seed, shape](const std::byte* const* in, std::byte* const* out,
                                             std::byte*) -> Status {
      const T low = *reinterpret_cast<const T*>(in[1]);
      const T high = *reinterpret_cast<const T*>(in[2]);
      if (low >= high) return empty_range(low, high);
      RandomSource source = source_of(in[0], seed, shape);
      source.low = low;
      source.range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
      const Call call;
      loop_in_stretches(fill, nullptr, 0, out[0], sizeof(T), shape.count(), &source, &call);
      return {};
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"shape", ParamKind::kShape},
                                {"seed", ParamKind::kTensor, "", 'n'},
                                {"minval", ParamKind::kTensor},
                                {"maxval", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef stateless_random_uniform_int_op{
    .name = "stateless_random_uniform_int",
    .summary = "Integers of minval up to, without, maxval that a seed determines.",
    .params = kParams,
    .effect = Effect::kFallible,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
