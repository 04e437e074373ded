#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const Spec& images = c.input(0);
  if (!is_one_of(FloatTypes(), images.dtype)) return no_kernel(images.dtype);
  if (images.shape.has_rank() && images.shape.rank() < 3) {
    return wrong_shape("input must be at least 3-D, got shape ", images.shape.bracketed());
  }
  if (c.input(1).dtype != DType::kFloat32) return no_kernel(c.input(1).dtype);
  if (c.input(1).shape.rank() > 0) {
    return wrong_shape("contrast_factor must be scalar: ", c.input(1).shape.bracketed());
  }
  c.set(0, images.dtype, images.shape);
  return {};
}

// out[i] = in[0][i] + in[1][i]; in place where in[0] is the output.
template <class T, bool in_place>
struct HalvesBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* __restrict first = reinterpret_cast<const T*>(args.in[0]);
    const auto* __restrict second = reinterpret_cast<const T*>(args.in[1]);
    auto* __restrict out = reinterpret_cast<Wide<T>*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) {
      out[i] = widen(second[i]) + (in_place ? out[i] : widen(first[i]));
    }
    return -1;
  }
};

// Away from, or towards, the mean of the pixel's channel.
template <class T>
struct ContrastBody {
  struct Data {
    const Wide<T>* mean;
    std::int64_t channels;
    Wide<T> factor;
  };
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto& data = *static_cast<const Data*>(args.data);
    const auto* __restrict in = reinterpret_cast<const T*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) {
      for (std::int64_t c = 0; c < data.channels; ++c, ++in, ++out) {
        *out = static_cast<T>(data.mean[c] + (widen(*in) - data.mean[c]) * data.factor);
      }
    }
    return -1;
  }
};

// The means are sums of halves, halved until one pixel is left, as in TensorFlow: vectors add whole
// rows of pixels, and the sums are its own to the last bit.
template <class T>
class Contrast final : public Kernel {
 public:
  explicit Contrast(const Shape& shape)
      : channels_(shape[shape.rank() - 1]),
        pixels_(shape[shape.rank() - 3] * shape[shape.rank() - 2]),
        images_(shape.count() == 0 ? 0 : shape.count() / (channels_ * pixels_)) {}

  std::size_t scratch() const override {
    return static_cast<std::size_t>((pixels_ + 1) / 2 * channels_) * sizeof(Wide<T>);
  }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    const auto factor = static_cast<Wide<T>>(*reinterpret_cast<const float*>(in[1]));
    auto* sums = reinterpret_cast<Wide<T>*>(scratch);
    const LoopFn contrast = SimdLoop<ContrastBody<T>>::best();
    for (std::int64_t i = 0; i < images_; ++i) {
      const std::int64_t at = i * pixels_ * channels_;
      const std::byte* image = in[0] + static_cast<std::size_t>(at) * sizeof(T);
      sum(image, sums);
      for (std::int64_t c = 0; c < channels_; ++c) sums[c] *= Wide<T>(1) / Wide<T>(pixels_);
      const typename ContrastBody<T>::Data data{sums, channels_, factor};
      const std::size_t pixel = static_cast<std::size_t>(channels_) * sizeof(T);
      loop_in_stretches(contrast, image, pixel, out[0] + static_cast<std::size_t>(at) * sizeof(T),
                        pixel, pixels_, &data);
      if (given_up()) return {};
    }
    return {};
  }

 private:
  void sum(const std::byte* image, Wide<T>* sums) const {
    std::int64_t left = halve<T, false>(reinterpret_cast<const T*>(image), pixels_, sums);
    while (left > 1) left = halve<Wide<T>, true>(sums, left, sums);
  }
  // Adds the second half to the first; how many pixels are left.
  template <class From, bool in_place>
  std::int64_t halve(const From* from, std::int64_t pixels, Wide<T>* to) const {
    const std::int64_t right = pixels / 2;
    const std::int64_t left = pixels - right;
    const LoopFn add = SimdLoop<HalvesBody<From, in_place>>::best();
    in_stretches(right * channels_, [&](std::int64_t begin, std::int64_t end) {
      const From* second = from + left * channels_ + begin;
      const std::byte* halves[2] = {reinterpret_cast<const std::byte*>(from + begin),
                                    reinterpret_cast<const std::byte*>(second)};
      add({halves, reinterpret_cast<std::byte*>(to + begin), end - begin, 0, nullptr, nullptr});
    });
    for (std::int64_t i = right * channels_; i < left * channels_; ++i) to[i] = widen(from[i]);
    return left;
  }

  std::int64_t channels_;
  std::int64_t pixels_;
  std::int64_t images_;
};

Result<KernelPtr> prepare(const Prepare& p) {
  KernelPtr kernel;
  with_type(FloatTypes(), p.inputs[0].dtype,
            [&]<class T>() { kernel = std::make_unique<Contrast<T>>(p.inputs[0].shape); });
  return kernel;
}

constexpr ParamDef kParams[] = {{"images", ParamKind::kTensor},
                                {"contrast_factor", ParamKind::kTensor, "", 'F'}};

}  // namespace

extern constexpr OpDef adjust_contrast_op{
    .name = "adjust_contrast",
    .summary = "Every item further from the mean of its channel, or nearer to it.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
