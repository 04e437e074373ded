#include "spillway/graph/conv.h"
#include "spillway/graph/moves.h"
#include "spillway/graph/window.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(check_convolved(c));
  SW_RETURN_IF_ERROR(check_images(c));
  const Shape& in = c.input(0).shape;
  const Shape& filters = c.input(1).shape;
  if (filters.has_rank() && filters.rank() != 4) {
    return wrong_shape("filter must be 4-dimensional [height, width, channels, outputs]: ",
                       filters.bracketed());
  }
  const bool ranked = filters.has_rank();
  SW_ASSIGN(const Windows w, windows_of(c.attrs(), in, ranked ? filters[0] : kUnknownDim,
                                        ranked ? filters[1] : kUnknownDim));
  if (in.has_rank() && ranked && in[3] != kUnknownDim && filters[2] != kUnknownDim) {
    if (filters[2] == 0) return wrong_shape("filter depth must not be 0: ", filters.bracketed());
    if (in[3] % filters[2] != 0) {
      return wrong_shape("input depth must be evenly divisible by filter depth: ", in[3], " vs ",
                         filters[2]);
    }
    const std::int64_t groups = in[3] / filters[2];
    if (groups == 0) return wrong_shape("input depth must not be 0: ", in.bracketed());
    if (filters[3] != kUnknownDim && filters[3] % groups != 0) {
      return wrong_shape("output depth must be evenly divisible by number of groups: ", filters[3],
                         " vs ", groups);
    }
  }
  c.set(0, c.input(0).dtype,
        shape_of({in.has_rank() ? in[0] : kUnknownDim, w.down.out, w.across.out,
                  ranked ? filters[3] : kUnknownDim}));
  return {};
}

template <class T>
class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(const ConvShape& shape) : conv_(shape) {}
  std::size_t scratch() const override { return conv_.scratch(); }
  std::int64_t parts() const override { return conv_.parts(); }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    conv_.run(items(in[0]), items(in[1]), reinterpret_cast<T*>(out[0]), scratch);
    return {};
  }
  Status run_part(std::int64_t part, const std::byte* const* in, std::byte* const* out,
                  std::byte* scratch) const override {
    conv_.run_part(part, items(in[0]), items(in[1]), reinterpret_cast<T*>(out[0]), scratch);
    return {};
  }

 private:
  static const T* items(const std::byte* from) { return reinterpret_cast<const T*>(from); }
  const Conv<T> conv_;
};

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Shape& filters = p.inputs[1].shape;
  SW_ASSIGN(const Windows w, windows_of(p.attrs, in, filters[0], filters[1]));
  ConvShape s;
  s.batch = in[0];
  s.height = in[1];
  s.width = in[2];
  s.channels = in[3];
  s.kernel_height = w.down.size;
  s.kernel_width = w.across.size;
  s.out_height = w.down.out;
  s.out_width = w.across.out;
  s.out_channels = filters[3];
  s.stride_down = w.down.stride;
  s.stride_across = w.across.stride;
  s.dilation_down = w.down.dilation;
  s.dilation_across = w.across.dilation;
  s.top = w.down.before;
  s.left = w.across.before;
  s.groups = in[3] / filters[2];
  KernelPtr kernel;
  with_type(Types<float, double>(), p.inputs[0].dtype,
            [&]<class T>() { kernel = std::make_unique<ConvKernel<T>>(s); });
  return kernel;
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"filters", ParamKind::kTensor},
                                {"strides", ParamKind::kInts, "(1, 1)"},
                                {"padding", ParamKind::kString, "'VALID'"},
                                {"paddings", ParamKind::kInts, "(0, 0, 0, 0)"},
                                {"dilations", ParamKind::kInts, "(1, 1)"}};

}  // namespace

extern constexpr OpDef conv2d_op{
    .name = "conv2d",
    .summary = "Sums of what a kernel covers, times its items, at each of its places in an image.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare,
    .rows = true};

}  // namespace spillway::graph
