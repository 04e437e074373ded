#include "spillway/graph/resize.h"

#include <algorithm>
#include <limits>

#include "spillway/graph/gemm.h"
#include "spillway/graph/moves.h"
#include "spillway/graph/resize_kernel.h"

namespace spillway::graph {
namespace {

template <class Blending>
LoopFn across_fn(std::int64_t channels) {
  switch (kind_of(channels)) {
    case Channels::kOne:
      return SimdLoop<AcrossBody<Blending, Channels::kOne>>::best();
    case Channels::kFew:
      return SimdLoop<AcrossBody<Blending, Channels::kFew>>::best();
    default:
      return SimdLoop<AcrossBody<Blending, Channels::kMany>>::best();
  }
}

LoopFn float_fn(DType dtype) {
  LoopFn fn = nullptr;
  with_type(RealTypes(), dtype,
            [&]<class T>() { fn = SimdLoop<MapBody<ToFloat, float, T>>::best(); });
  return fn;
}

LoopFn sum_down_fn(DType dtype) {
  LoopFn fn = nullptr;
  with_type(RealTypes(), dtype, [&]<class T>() { fn = SimdLoop<SumDownBody<T>>::best(); });
  return fn;
}

Status row_fits(const Resizing& size) {
  const std::int64_t most = std::max(size.width, size.new_width);
  if (size.channels <= std::numeric_limits<std::int32_t>::max() / most) return {};
  return invalid_argument("a row of an image must have less than 2^31 items: ", most, " pixels of ",
                          size.channels);
}

class SameSize final : public RowKernel {
 public:
  SameSize(const Resizing& size, DType dtype)
      : items_(size.batch * size.height * size.width * size.channels),
        row_items_(size.width * size.channels),
        channels_(size.channels),
        in_bytes_(size_of(dtype)),
        to_float_(float_fn(dtype)) {}
  Status run(const std::byte* const* in, std::byte* const* out,
             std::byte* /*scratch*/) const override {
    loop_in_stretches(to_float_, in[0], in_bytes_, out[0], sizeof(float), items_);
    return {};
  }
  void mirror(bool image, bool result) override { turned_ = image != result; }
  std::size_t stream_scratch() const override { return ResizeSetup::row_room(row_items_); }
  std::unique_ptr<RowStream> stream(std::byte* scratch) const override {
    return std::make_unique<Stream>(*this, reinterpret_cast<float*>(scratch));
  }

 private:
  class Stream final : public RowStream {
   public:
    Stream(const SameSize& kernel, float* row) : kernel_(kernel), row_(row) {}
    void take(const std::byte* row) override {
      auto* const to = reinterpret_cast<std::byte*>(row_);
      kernel_.to_float_({&row, to, kernel_.row_items_, 0, nullptr, nullptr});
      taken_ = true;
    }
    bool make(std::byte* to) override {
      if (!std::exchange(taken_, false)) return false;
      const std::size_t pixel = static_cast<std::size_t>(kernel_.channels_) * sizeof(float);
      if (!kernel_.turned_) {
        std::memcpy(to, row_, static_cast<std::size_t>(kernel_.row_items_) * sizeof(float));
        return true;
      }
      for (const float* from = row_ + kernel_.row_items_; from != row_; to += pixel) {
        from -= kernel_.channels_;
        std::memcpy(to, from, pixel);
      }
      return true;
    }

   private:
    const SameSize& kernel_;
    float* const row_;
    bool taken_ = false;
  };

  const std::int64_t items_;
  const std::int64_t row_items_;
  const std::int64_t channels_;
  const std::size_t in_bytes_;  // of an item
  const LoopFn to_float_;
  bool turned_ = false;
};

}  // namespace

Resizing::Resizing(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Shape& out = p.outputs[0].shape;
  const int rank = in.rank();
  batch = rank == 4 ? in[0] : 1;
  height = in[rank - 3];
  width = in[rank - 2];
  channels = in[rank - 1];
  new_height = out[rank - 3];
  new_width = out[rank - 2];
}

Status infer_resize(Infer& c, std::optional<DType> out) {
  const Spec& images = c.input(0);
  if (!is_one_of(RealTypes(), images.dtype)) return no_kernel(images.dtype);
  const Shape& size = c.input(1).shape;
  if (size.has_rank() && (size.rank() != 1 || (size[0] >= 0 && size[0] != 2))) {
    return wrong_shape("'size' must be a 1-D Tensor of 2 elements: new_height, new_width: ",
                       size.bracketed());
  }
  std::int64_t sizes[2] = {kUnknownDim, kUnknownDim};
  if (const Tensor* known = c.constant(1)) {
    for (int i = 0; i < 2; ++i) {
      sizes[i] = integer_at(known->dtype(), known->data(), i);
      if (sizes[i] <= 0) {
        return invalid_argument("output dimensions must be positive: ", sizes[i]);
      }
    }
  } else if (c.as_shape(1) && c.as_shape(1)->rank() == 2) {
    for (int i = 0; i < 2; ++i) sizes[i] = (*c.as_shape(1))[i];
  }
  const int rank = images.shape.rank();
  if (!images.shape.has_rank()) {
    c.set(0, out.value_or(images.dtype), Shape::unknown_rank());
    return {};
  }
  if (rank != 3 && rank != 4) {
    return wrong_shape("'images' must have either 3 or 4 dimensions: ", images.shape.bracketed());
  }
  std::vector<std::int64_t> dims = dims_of(images.shape);
  const auto inner = static_cast<std::size_t>(rank - 3);
  if (dims[inner + 2] == 0) return invalid_argument("image must have at least one channel");
  if (dims[inner] == 0 || dims[inner + 1] == 0) {
    return invalid_argument("input image must be of non-zero size");
  }
  dims[inner] = sizes[0];
  dims[inner + 1] = sizes[1];
  c.set(0, out.value_or(images.dtype), shape_of(dims));
  return {};
}

void Taps::end_place() {
  const auto end = static_cast<std::int64_t>(taps_.size());
  most_ = std::max(most_, end - begin_.back());
  begin_.push_back(end);
}

void Taps::in_items(std::int64_t channels) {
  for (Tap& tap : taps_) tap.at *= static_cast<std::int32_t>(channels);
}

void Taps::turn() {
  std::vector<Tap> taps;
  taps.reserve(taps_.size());
  std::vector<std::int64_t> begin = {0};
  begin.reserve(begin_.size());
  for (std::size_t i = begin_.size() - 1; i > 0; --i) {
    taps.insert(taps.end(), taps_.begin() + begin_[i - 1], taps_.begin() + begin_[i]);
    begin.push_back(static_cast<std::int64_t>(taps.size()));
  }
  taps_ = std::move(taps);
  begin_ = std::move(begin);
}

void Taps::turn_image(std::int64_t last) {
  for (Tap& tap : taps_) tap.at = static_cast<std::int32_t>(last) - tap.at;
}

std::int64_t Taps::span() const {
  std::int64_t most = 1;
  for (std::size_t i = 0; i + 1 < begin_.size(); ++i) {
    const auto taps = of(static_cast<std::int64_t>(i));
    if (!taps.empty()) most = std::max<std::int64_t>(most, taps.back().at - taps.front().at + 1);
  }
  return most;
}

Result<KernelPtr> resize_columns_first(const Resizing& size, DType dtype, Blend blend, Pass across,
                                       Pass down, float scale) {
  SW_RETURN_IF_ERROR(row_fits(size));
  across.taps.in_items(size.channels);
  const bool lerp = blend == Blend::kLerp;
  return KernelPtr(std::make_unique<ResizeKernel<ColumnsFirst>>(
      ResizeSetup{size, dtype, std::move(across), std::move(down), scale, float_fn(dtype),
                  lerp ? across_fn<LerpOfTaps>(size.channels) : across_fn<SumOfTaps>(size.channels),
                  lerp ? SimdLoop<LerpDownBody>::best() : SimdLoop<SumDownBody<float>>::best()}));
}

KernelPtr resize_to_same(const Resizing& size, DType dtype) {
  return std::make_unique<SameSize>(size, dtype);
}

Result<KernelPtr> resize_rows_first(const Resizing& size, DType dtype, Pass across, Pass down) {
  SW_RETURN_IF_ERROR(row_fits(size));
  across.taps.in_items(size.channels);
  return KernelPtr(std::make_unique<ResizeKernel<RowsFirst>>(
      ResizeSetup{size, dtype, std::move(across), std::move(down), 1, nullptr,
                  across_fn<SumOfTaps>(size.channels), sum_down_fn(dtype)}));
}

}  // namespace spillway::graph
