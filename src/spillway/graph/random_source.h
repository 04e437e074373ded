#pragma once

#include "spillway/graph/moves.h"
#include "spillway/graph/philox.h"

// What the ops that draw random numbers share. Those with `seed` and `seed2` are sources: loops
// without inputs, whose numbers depend on the seeds, an item's place in its row and, with
// `per_row`, on the row and the epoch; so any tile of rows can be computed alone, and again.
namespace spillway::graph {

using RandomIntegers = Types<std::int32_t, std::int64_t>;
using FullIntegers = Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

// The output has the shape and type that the attributes say.
template <class Allowed>
Status infer_random(Infer& c) {
  const DType dtype = c.attrs().get_or("dtype", DType::kFloat32);
  if (!is_one_of(Allowed(), dtype)) return no_kernel(dtype);
  const Shape* shape = c.attrs().get<Shape>("shape");
  if (shape == nullptr) return invalid_argument("needs a shape");
  for (const std::int64_t dim : shape->dims()) {
    if (dim < 0) return invalid_argument("Dimension ", dim, " must be >= 0");
  }
  c.set(0, dtype, *shape);
  return {};
}
// The same, for a seed operand of two integers.
Status check_seed(const Infer& c, int input);
template <class Allowed>
Status infer_stateless(Infer& c) {
  SW_RETURN_IF_ERROR(check_seed(c, 0));
  return infer_random<Allowed>(c);
}

RandomSource source_of(const Attrs& attrs, const Shape& row);
// Where a seed operand begins, scrambled as TensorFlow does.
RandomSource source_of(const std::byte* seed, DType dtype, const Shape& row);
Status empty_range(std::int64_t low, std::int64_t high);

// A source of Distribution<T> for the type of the output.
template <template <class> class Distribution, class Allowed>
Result<Loop> random_loop(const Prepare& p) {
  Loop loop;
  loop.data = std::make_shared<const RandomSource>(source_of(p.attrs, p.outputs[0].shape));
  with_type(Allowed(), p.outputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<RandomBody<Distribution<T>>>::best(); });
  return loop;
}

// A kernel whose first operand is the seed.
template <template <class> class Distribution, class Allowed>
Result<KernelPtr> random_kernel(const Prepare& p) {
  LoopFn fill = nullptr;
  with_type(Allowed(), p.outputs[0].dtype,
            [&]<class T>() { fill = SimdLoop<RandomBody<Distribution<T>>>::best(); });
  const DType seed = p.inputs[0].dtype;
  const Shape shape = p.outputs[0].shape;
  const std::size_t item = size_of(p.outputs[0].dtype);
  return make_kernel([fill, seed, shape, item](const std::byte* const* in, std::byte* const* out,
                                               std::byte*) -> Status {
    const RandomSource source = source_of(in[0], seed, shape);
    const Call call;
    loop_in_stretches(fill, nullptr, 0, out[0], item, shape.count(), &source, &call);
    return {};
  });
}

template <class T>
using FastNormalOf = NormalOf<FastNormal, T>;
template <class T>
using ExactNormalOf = NormalOf<ExactNormal, T>;
template <class T>
using FastTruncatedNormalOf = TruncatedNormalOf<FastNormal, T>;
template <class T>
using ExactTruncatedNormalOf = TruncatedNormalOf<ExactNormal, T>;

inline constexpr ParamDef kRandomParams[] = {
    {"shape", ParamKind::kShape},   {"dtype", ParamKind::kDType, "float32"},
    {"seed", ParamKind::kInt, "0"}, {"seed2", ParamKind::kInt, "0"},
    {"skip", ParamKind::kInt, "0"}, {"per_row", ParamKind::kBool, "False"}};
inline constexpr ParamDef kStatelessParams[] = {{"shape", ParamKind::kShape},
                                                {"seed", ParamKind::kTensor, "", 'n'},
                                                {"dtype", ParamKind::kDType, "float32"}};

}  // namespace spillway::graph
