#include "spillway/graph/pixels.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (c.input(0).dtype != DType::kFloat32) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(check_pixels(c, 1));
  std::vector<std::int64_t> dims = dims_of(c.input(0).shape);
  if (!dims.empty()) dims.back() = 1;
  c.set(0, DType::kFloat32, dims.empty() ? c.input(0).shape : shape_of(dims));
  return {};
}

struct GrayBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* __restrict in = reinterpret_cast<const float*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) {
      out[i] = in[3 * i] * 0.2989F + in[3 * i + 1] * 0.587F + in[3 * i + 2] * 0.114F;
    }
    return -1;
  }
};

Result<KernelPtr> prepare(const Prepare& p) {
  const std::int64_t pixels = p.outputs[0].shape.count();
  return make_kernel([=, fn = SimdLoop<GrayBody>::best()](const std::byte* const* in,
                                                          std::byte* const* out, std::byte*) {
    loop_in_stretches(fn, in[0], 3 * sizeof(float), out[0], sizeof(float), pixels);
    return Status();
  });
}

}  // namespace

extern constexpr OpDef rgb_to_grayscale_op{
    .name = "rgb_to_grayscale",
    .summary = "How bright red, green and blue look together.",
    .params = kPixelParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
