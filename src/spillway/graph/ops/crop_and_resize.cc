#include <cmath>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status check_boxes(const Infer& c) {
  const Shape& boxes = c.input(1).shape;
  const Shape& images = c.input(2).shape;
  if (c.input(1).dtype != DType::kFloat32) return no_kernel(c.input(1).dtype);
  if (boxes.has_rank() && boxes.rank() != 2) {
    return wrong_shape("boxes must be 2-D, got: ", boxes.bracketed());
  }
  if (images.has_rank() && images.rank() != 1) {
    return wrong_shape("box_indices must be rank 1 but is shape ", images.bracketed());
  }
  if (boxes.has_rank() && boxes[1] != kUnknownDim && boxes[1] != 4) {
    return wrong_shape("boxes must have 4 columns: ", boxes.bracketed());
  }
  if (boxes.has_rank() && images.has_rank() && boxes[0] >= 0 && images[0] >= 0 &&
      boxes[0] != images[0]) {
    return wrong_shape("box_index has incompatible shape: ", images[0], " for ", boxes[0],
                       " boxes");
  }
  return {};
}

Status infer(Infer& c) {
  const Spec& image = c.input(0);
  if (!is_one_of(RealTypes(), image.dtype)) return no_kernel(image.dtype);
  const std::string method = c.attrs().get_or<std::string>("method", "bilinear");
  if (method != "bilinear" && method != "nearest") {
    return invalid_argument("method must be 'bilinear' or 'nearest': ", method);
  }
  if (image.shape.has_rank() && image.shape.rank() != 4) {
    return wrong_shape("input image must be 4-D: ", image.shape.bracketed());
  }
  if (image.shape.has_rank() && (image.shape[1] == 0 || image.shape[2] == 0)) {
    return invalid_argument("image dimensions must be positive");
  }
  SW_RETURN_IF_ERROR(check_boxes(c));
  const Shape& size = c.input(3).shape;
  if (size.has_rank() && (size.rank() != 1 || (size[0] >= 0 && size[0] != 2))) {
    return wrong_shape("crop_size must have two elements: ", size.bracketed());
  }
  std::vector<std::int64_t> dims(4, kUnknownDim);
  if (c.input(1).shape.has_rank()) dims[0] = c.input(1).shape[0];
  if (dims[0] == kUnknownDim && c.input(2).shape.has_rank()) dims[0] = c.input(2).shape[0];
  if (image.shape.has_rank()) dims[3] = image.shape[3];
  for (int i = 0; i < 2; ++i) {
    std::int64_t& dim = dims[i == 0 ? 1 : 2];
    if (const Tensor* known = c.constant(3)) {
      dim = integer_at(known->dtype(), known->data(), i);
      if (dim <= 0) return invalid_argument("crop dimensions must be positive: ", dim);
    } else if (c.as_shape(3) && c.as_shape(3)->rank() == 2) {
      dim = (*c.as_shape(3))[i];
    }
  }
  c.set(0, DType::kFloat32, shape_of(dims));
  return {};
}

// Where item i of n lies along an axis of the image.
struct Place {
  std::int64_t low = -1;  // -1: outside
  std::int64_t high = 0;
  float by = 0;

  Place() = default;
  Place(std::int64_t i, std::int64_t n, float from, float to, std::int64_t size, bool nearest) {
    const auto last = static_cast<float>(size - 1);
    const float at =
        n > 1
            ? from * last + static_cast<float>(i) * ((to - from) * last / static_cast<float>(n - 1))
            : static_cast<float>(0.5 * static_cast<double>(from + to) * static_cast<double>(last));
    if (!(at >= 0 && at <= last)) return;
    low = static_cast<std::int64_t>(nearest ? std::round(at) : std::floor(at));
    high = nearest ? low : static_cast<std::int64_t>(std::ceil(at));
    by = nearest ? 0 : at - static_cast<float>(low);
  }
};

template <class T>
class Crops final : public Kernel {
 public:
  explicit Crops(const Prepare& p)
      : in_(p.inputs[0].shape),
        out_(p.outputs[0].shape),
        nearest_(p.attrs.get_or<std::string>("method", "bilinear") == "nearest"),
        outside_(static_cast<float>(p.attrs.get_or("extrapolation_value", 0.0))) {}

  std::size_t scratch() const override { return static_cast<std::size_t>(out_[2]) * sizeof(Place); }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    const auto* boxes = reinterpret_cast<const float*>(in[1]);
    const auto* images = reinterpret_cast<const std::int32_t*>(in[2]);
    for (std::int64_t b = 0; b < out_[0]; ++b) {
      if (images[b] < 0 || images[b] >= in_[0]) {
        return bad_data(Code::kOutOfRange,
                        "box_index has values outside [0, batch_size): ", images[b], ", ", in_[0]);
      }
    }
    for (std::int64_t i = 0; i < 4 * out_[0]; ++i) {
      if (!std::isfinite(boxes[i])) {
        return bad_data(Code::kInvalidArgument,
                        "Boxes contains at least one element that is not finite");
      }
    }
    auto* places = reinterpret_cast<Place*>(scratch);
    auto* to = reinterpret_cast<float*>(out[0]);
    Looks looks;
    for (std::int64_t b = 0; b < out_[0]; ++b, boxes += 4) {
      const T* image = reinterpret_cast<const T*>(in[0]) + images[b] * in_[1] * in_[2] * in_[3];
      for (std::int64_t x = 0; x < out_[2]; ++x) {
        places[x] = Place(x, out_[2], boxes[1], boxes[3], in_[2], nearest_);
      }
      for (std::int64_t y = 0; y < out_[1]; ++y, to += out_[2] * out_[3]) {
        if (looks.abandoned(out_[2] * out_[3])) return {};
        row(image, Place(y, out_[1], boxes[0], boxes[2], in_[1], nearest_), places, to);
      }
    }
    return {};
  }

 private:
  void row(const T* image, const Place& y, const Place* places, float* to) const {
    const std::int64_t channels = in_[3];
    const T* top = image + y.low * in_[2] * channels;
    const T* bottom = image + y.high * in_[2] * channels;
    const auto across = [&](const T* line, const Place& x, std::int64_t c) {
      const auto low = static_cast<float>(line[x.low * channels + c]);
      return low + (static_cast<float>(line[x.high * channels + c]) - low) * x.by;
    };
    for (std::int64_t i = 0; i < out_[2]; ++i, to += channels) {
      const Place& x = places[i];
      for (std::int64_t c = 0; c < channels; ++c) {
        if (y.low < 0 || x.low < 0) {
          to[c] = outside_;
        } else if (nearest_) {
          to[c] = static_cast<float>(top[x.low * channels + c]);
        } else {
          const float above = across(top, x, c);
          to[c] = above + (across(bottom, x, c) - above) * y.by;
        }
      }
    }
  }

  Shape in_;
  Shape out_;
  bool nearest_;
  float outside_;
};

Result<KernelPtr> prepare(const Prepare& p) {
  KernelPtr kernel;
  with_type(RealTypes(), p.inputs[0].dtype,
            [&]<class T>() { kernel = std::make_unique<Crops<T>>(p); });
  return kernel;
}

constexpr ParamDef kParams[] = {{"image", ParamKind::kTensor},
                                {"boxes", ParamKind::kTensor, "", 'B'},
                                {"box_indices", ParamKind::kTensor, "", 'i'},
                                {"crop_size", ParamKind::kTensor, "", 'i'},
                                {"method", ParamKind::kString, "'bilinear'"},
                                {"extrapolation_value", ParamKind::kFloat, "0.0"}};

}  // namespace

extern constexpr OpDef crop_and_resize_op{
    .name = "crop_and_resize",
    .summary = "Parts of images, each [top, left, bottom, right] of one, all of one size.",
    .params = kParams,
    .effect = Effect::kFallible,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
