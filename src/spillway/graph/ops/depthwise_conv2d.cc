#include "spillway/graph/depthwise.h"
#include "spillway/graph/moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(check_convolved(c));
  SW_RETURN_IF_ERROR(check_images(c));
  const Shape& in = c.input(0).shape;
  const Shape& filter = c.input(1).shape;
  if (filter.has_rank() && filter.rank() != 4) {
    return wrong_shape("filter must be 4-dimensional [height, width, channels, multiplier]: ",
                       filter.bracketed());
  }
  const bool ranked = filter.has_rank();
  SW_ASSIGN(const Windows w, windows_of(c.attrs(), in, ranked ? filter[0] : kUnknownDim,
                                        ranked ? filter[1] : kUnknownDim));
  std::int64_t channels = in.has_rank() ? in[3] : kUnknownDim;
  if (ranked && channels == kUnknownDim) channels = filter[2];
  if (ranked && filter[2] != kUnknownDim && filter[2] != channels) {
    return wrong_shape("input and filter must have the same depth: ", channels, " vs ", filter[2]);
  }
  const bool known = channels != kUnknownDim && ranked && filter[3] != kUnknownDim;
  c.set(0, c.input(0).dtype,
        shape_of({in.has_rank() ? in[0] : kUnknownDim, w.down.out, w.across.out,
                  known ? saturated_product(channels, filter[3]) : kUnknownDim}));
  return {};
}

template <class T>
class DepthwiseKernel final : public Kernel {
 public:
  explicit DepthwiseKernel(const DepthwiseShape& s)
      : shape_(s),
        shares_(s.batch * s.windows.down.out,
                static_cast<double>(s.batch * s.windows.down.out * s.windows.across.out) *
                    static_cast<double>(s.channels * s.multiplier * s.windows.down.size *
                                        s.windows.across.size)) {}
  std::int64_t parts() const override { return shares_.parts; }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte*) const override {
    run_rows(0, shares_.units, in, out);
    return {};
  }
  Status run_part(std::int64_t part, const std::byte* const* in, std::byte* const* out,
                  std::byte*) const override {
    run_rows(shares_.begin(part), shares_.begin(part + 1), in, out);
    return {};
  }

 private:
  void run_rows(std::int64_t begin, std::int64_t end, const std::byte* const* in,
                std::byte* const* out) const {
    run_({shape_, reinterpret_cast<const T*>(in[0]), reinterpret_cast<const T*>(in[1]),
          reinterpret_cast<T*>(out[0]), begin, end});
  }

  const DepthwiseShape shape_;
  const Shares shares_;
  void (*const run_)(const DepthwiseTask<T>&) = depthwise_rows<T>(shape_, simd_level());
};

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Shape& filter = p.inputs[1].shape;
  SW_ASSIGN(const Windows w, windows_of(p.attrs, in, filter[0], filter[1]));
  const DepthwiseShape shape{in[0], in[1], in[2], in[3], filter[3], w};
  KernelPtr kernel;
  with_type(Types<float, double>(), p.inputs[0].dtype,
            [&]<class T>() { kernel = std::make_unique<DepthwiseKernel<T>>(shape); });
  return kernel;
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"filter", ParamKind::kTensor},
                                {"strides", ParamKind::kInts, "(1, 1)"},
                                {"padding", ParamKind::kString, "'VALID'"},
                                {"paddings", ParamKind::kInts, "(0, 0, 0, 0)"},
                                {"dilations", ParamKind::kInts, "(1, 1)"}};

}  // namespace

extern constexpr OpDef depthwise_conv2d_op{
    .name = "depthwise_conv2d",
    .summary =
        "Sums of what a kernel covers, times its items, each channel with kernels of its own.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare,
    .rows = true};

}  // namespace spillway::graph
