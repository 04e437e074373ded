#include "spillway/graph/sorting.h"

namespace spillway::graph {
namespace {

using IndexTypes = Types<std::int16_t, std::int32_t, std::int64_t>;

Status infer(Infer& c) {
  if (!is_one_of(RealTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const DType index = c.attrs().get_or("index_type", DType::kInt32);
  if (!is_one_of(IndexTypes(), index)) return no_kernel(index);
  const Shape& in = c.input(0).shape;
  const std::int64_t k = c.attrs().get_or<std::int64_t>("k", 1);
  if (k < 0) return invalid_argument("Need k >= 0, got ", k);
  if (!in.has_rank()) {
    c.set(0, c.input(0).dtype, in);
    c.set(1, index, in);
    return {};
  }
  if (in.rank() == 0) return wrong_shape("input must be >= 1-D, got shape []");
  std::vector<std::int64_t> dims = dims_of(in);
  if (dims.back() >= 0 && dims.back() < k) {
    return wrong_shape("input must have at least k columns. Had ", dims.back(), ", needed ", k);
  }
  dims.back() = k;
  c.set(0, c.input(0).dtype, shape_of(dims));
  c.set(1, index, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const AxisView view(in, in.rank() - 1);
  const std::int64_t k = p.outputs[0].shape[in.rank() - 1];
  const DType index = p.outputs[1].dtype;
  KernelPtr kernel;
  with_type(RealTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel(
        [=](const std::byte* const* src, std::byte* const* dst, std::byte* scratch) {
          auto* places = reinterpret_cast<std::int32_t*>(scratch);
          T* to = reinterpret_cast<T*>(dst[0]);
          Looks looks;
          for (std::int64_t o = 0; o < view.outer; ++o) {
            if (looks.abandoned(view.axis)) break;
            const T* line = reinterpret_cast<const T*>(src[0]) + o * view.axis;
            places_in_order(line, 1, places, view.axis, k, true);
            if (given_up()) break;
            for (std::int64_t i = 0; i < k; ++i) {
              to[o * k + i] = line[places[i]];
              put_integer(index, dst[1], o * k + i, places[i]);
            }
          }
          return Status();
        },
        static_cast<std::size_t>(view.axis) * sizeof(std::int32_t));
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"k", ParamKind::kInt, "1"},
                                {"sorted", ParamKind::kBool, "True"},
                                {"index_type", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef top_k_op{
    .name = "top_k",
    .summary = "The k largest items of the last axis and their places; the first of equals.",
    .params = kParams,
    .outputs = 2,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
