#include "spillway/graph/resize.h"

#include <algorithm>
#include <limits>

#include "spillway/graph/gemm.h"
#include "spillway/graph/moves.h"
#include "spillway/graph/resize_rows.h"

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

// What both kernels are: rows of the result, made one after another by Rows, which is made anew
// for every part and owns nothing but a view of the scratch.
template <class Rows, class Setup>
class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(Setup setup) : setup_(std::move(setup)) {
    const double taps = static_cast<double>(setup_.down.taps.most() + setup_.across.taps.most());
    const auto& size = setup_.size;
    rows_ = size.batch * size.new_height;
    parts_ = std::clamp<std::int64_t>(
        parts_worth(taps * static_cast<double>(rows_ * size.new_width * size.channels)), 1,
        std::max<std::int64_t>(rows_, 1));
  }
  std::size_t scratch() const override { return Rows::scratch(setup_); }
  std::int64_t parts() const override { return parts_; }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    make(0, rows_, in, out, scratch);
    return {};
  }
  Status run_part(std::int64_t part, const std::byte* const* in, std::byte* const* out,
                  std::byte* scratch) const override {
    make(part * rows_ / parts_, (part + 1) * rows_ / parts_, in, out, scratch);
    return {};
  }

 private:
  void make(std::int64_t begin, std::int64_t end, const std::byte* const* in, std::byte* const* out,
            std::byte* scratch) const {
    const Resizing& size = setup_.size;
    const std::size_t row_bytes =
        static_cast<std::size_t>(size.width * size.channels) * size_of(setup_.dtype);
    Rows rows(setup_, row_bytes, scratch);
    auto* to = reinterpret_cast<float*>(out[0]) + begin * size.new_width * size.channels;
    for (std::int64_t row = begin; row < end; ++row, to += size.new_width * size.channels) {
      const std::int64_t y = row % size.new_height;
      if (row == begin || y == 0) {
        const auto image = static_cast<std::size_t>(row / size.new_height);
        rows.begin_image(in[0] + image * static_cast<std::size_t>(size.height) * row_bytes);
      }
      rows.make(y, to);
    }
  }

  Setup setup_;
  std::int64_t rows_ = 0;
  std::int64_t parts_ = 1;
};

struct Setup {
  Resizing size;
  DType dtype;
  Pass across;
  Pass down;
  float scale;
  LoopFn to_float;
  LoopFn across_fn;
  LoopFn down_fn;

  AcrossData across_data() const { return {&across.taps, size.channels, across.start}; }
  DownData down_data(std::int64_t y) const { return {down.taps.of(y), down.start, scale}; }
  // Rows in scratch, each on lines of its own.
  static std::size_t row_room(std::int64_t items) {
    return (static_cast<std::size_t>(items + kPastRow) * sizeof(float) + 63) / 64 * 64;
  }
  std::size_t pointer_room() const {
    return (static_cast<std::size_t>(down.taps.most()) * 2 * sizeof(std::byte*) + 63) / 64 * 64;
  }
};

// As many rows blended across are kept as a row of the result needs: row r in place r modulo that.
class ColumnsFirst {
 public:
  static std::size_t scratch(const Setup& setup) {
    const Resizing& size = setup.size;
    return setup.pointer_room() + Setup::row_room(size.width * size.channels) +
           static_cast<std::size_t>(setup.down.taps.most()) *
               Setup::row_room(size.new_width * size.channels);
  }
  ColumnsFirst(const Setup& setup, std::size_t row_bytes, std::byte* scratch)
      : setup_(setup),
        row_bytes_(row_bytes),
        room_(Setup::row_room(setup.size.new_width * setup.size.channels)),
        across_(setup.across_data()),
        rows_(reinterpret_cast<const std::byte**>(scratch)),
        held_(reinterpret_cast<std::int64_t*>(rows_ + setup.down.taps.most())),
        floats_(scratch + setup.pointer_room()),
        blended_(floats_ + Setup::row_room(setup.size.width * setup.size.channels)) {}

  void begin_image(const std::byte* image) {
    image_ = image;
    std::fill_n(held_, setup_.down.taps.most(), -1);
  }
  void make(std::int64_t y, float* to) {
    const DownData down = setup_.down_data(y);
    for (std::size_t t = 0; t < down.taps.size(); ++t) rows_[t] = blended(down.taps[t].at);
    setup_.down_fn({rows_, reinterpret_cast<std::byte*>(to),
                    setup_.size.new_width * setup_.size.channels, 0, &down, nullptr});
  }

 private:
  const std::byte* blended(std::int64_t row) {
    const std::int64_t place = row % setup_.down.taps.most();
    std::byte* to = blended_ + static_cast<std::size_t>(place) * room_;
    if (held_[place] == row) return to;
    held_[place] = row;
    const std::byte* from = image_ + static_cast<std::size_t>(row) * row_bytes_;
    setup_.to_float(
        {&from, floats_, setup_.size.width * setup_.size.channels, 0, nullptr, nullptr});
    from = floats_;
    setup_.across_fn({&from, to, setup_.size.new_width, 0, &across_, nullptr});
    return to;
  }

  const Setup& setup_;
  std::size_t row_bytes_;
  std::size_t room_;
  AcrossData across_;
  const std::byte** rows_;
  std::int64_t* held_;
  std::byte* floats_;
  std::byte* blended_;
  const std::byte* image_ = nullptr;
};

class RowsFirst {
 public:
  static std::size_t scratch(const Setup& setup) {
    return setup.pointer_room() + Setup::row_room(setup.size.width * setup.size.channels);
  }
  RowsFirst(const Setup& setup, std::size_t row_bytes, std::byte* scratch)
      : setup_(setup),
        row_bytes_(row_bytes),
        across_(setup.across_data()),
        rows_(reinterpret_cast<const std::byte**>(scratch)),
        sums_(scratch + setup.pointer_room()) {}

  void begin_image(const std::byte* image) { image_ = image; }
  void make(std::int64_t y, float* to) {
    const DownData down = setup_.down_data(y);
    for (std::size_t t = 0; t < down.taps.size(); ++t) {
      rows_[t] = image_ + static_cast<std::size_t>(down.taps[t].at) * row_bytes_;
    }
    setup_.down_fn({rows_, sums_, setup_.size.width * setup_.size.channels, 0, &down, nullptr});
    const std::byte* from = sums_;
    setup_.across_fn(
        {&from, reinterpret_cast<std::byte*>(to), setup_.size.new_width, 0, &across_, nullptr});
  }

 private:
  const Setup& setup_;
  std::size_t row_bytes_;
  AcrossData across_;
  const std::byte** rows_;
  std::byte* sums_;
  const std::byte* image_ = nullptr;
};

Status row_fits(const Resizing& size) {
  const std::int64_t most = std::max(size.width, size.new_width);
  if (size.channels <= std::numeric_limits<std::int32_t>::max() / most) return {};
  return invalid_argument("a row of an image must have less than 2^31 items: ", most, " pixels of ",
                          size.channels);
}

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

Result<KernelPtr> resize_columns_first(const Resizing& size, DType dtype, Blend blend, Pass across,
                                       Pass down, float scale) {
  SW_RETURN_IF_ERROR(row_fits(size));
  across.taps.in_items(size.channels);
  const bool lerp = blend == Blend::kLerp;
  return KernelPtr(std::make_unique<ResizeKernel<ColumnsFirst, Setup>>(
      Setup{size, dtype, std::move(across), std::move(down), scale, float_fn(dtype),
            lerp ? across_fn<LerpOfTaps>(size.channels) : across_fn<SumOfTaps>(size.channels),
            lerp ? SimdLoop<LerpDownBody>::best() : SimdLoop<SumDownBody<float>>::best()}));
}

Result<KernelPtr> resize_rows_first(const Resizing& size, DType dtype, Pass across, Pass down) {
  SW_RETURN_IF_ERROR(row_fits(size));
  across.taps.in_items(size.channels);
  return KernelPtr(std::make_unique<ResizeKernel<RowsFirst, Setup>>(
      Setup{size, dtype, std::move(across), std::move(down), 1, nullptr,
            across_fn<SumOfTaps>(size.channels), sum_down_fn(dtype)}));
}

}  // namespace spillway::graph
