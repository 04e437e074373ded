#include "spillway/io/images/jpeg_picture.h"

#include <algorithm>
#include <cstring>

namespace spillway::jpeg {
namespace {

constexpr std::int64_t kMostItems = std::int64_t{1} << 29U;  // TensorFlow's
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;    // lengths have 32 bits

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Lays buffers out one after the other; without room it only measures.
class Layout {
 public:
  explicit Layout(std::byte* room) : room_(room) {}
  template <class T>
  T* take(std::int64_t items) {
    std::byte* const at = room_ == nullptr ? nullptr : room_ + used_;
    used_ += (static_cast<std::size_t>(items) * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* const room_;
  std::size_t used_ = 0;
};

constexpr auto kSlack = static_cast<std::int64_t>(kRowSlack);

}  // namespace

std::size_t Plan::parts() const {
  if (header.restart_interval == 0) return 1;
  return static_cast<std::size_t>(divide_up(units_across * units_down, header.restart_interval));
}

bool make_plan(ImageBytes bytes, const DecodeOptions& options, Plan& plan) {
  if (options.ratio != 1 || options.channels == 4 || bytes.size() > kMostBytes ||
      !read_header(bytes, plan.header)) {
    return false;
  }
  const Header& h = plan.header;
  if (h.width * h.height * h.count >= kMostItems) return false;
  plan.across = h.components[0].across;
  plan.down = h.components[0].down;
  plan.units_across = divide_up(h.width, 8L * plan.across);
  plan.units_down = divide_up(h.height, 8L * plan.down);
  plan.unit_blocks = h.count == 1 ? 1 : static_cast<std::uint32_t>(plan.across * plan.down) + 2;
  plan.channels = options.channels != 0 ? options.channels : h.count;
  plan.colors = plan.channels == 3 && h.count == 3;
  plan.accurate = options.accurate_dct;
  plan.window = {0, 0, h.height, h.width};
  if (options.crop) {
    const CropWindow& crop = *options.crop;
    if (crop.width <= 0 || crop.height <= 0 || crop.x < 0 || crop.y < 0 ||
        crop.height > h.height - crop.y || crop.width > h.width - crop.x) {
      return false;
    }
    plan.window = crop;
  }
  plan.left = plan.window.x / (8L * plan.across) * (8L * plan.across);
  const std::int64_t samples = divide_up(h.width, plan.across);
  const std::int64_t used = divide_up(plan.window.x + plan.window.width - plan.left, plan.across);
  // libjpeg's own conditions; a window takes over what the image has, unless it is one sample wide.
  plan.smooth =
      plan.colors && plan.across == 2 && options.fancy_upscaling && samples > 2 && used > 1;
  plan.context = plan.smooth && plan.down == 2;
  // One band more than there are rows for: so far libjpeg may have looked for damage.
  const std::int64_t end = plan.window.y + plan.window.height;
  plan.bands = end == h.height ? plan.units_down
                               : std::min(plan.units_down, (end - 1) / plan.band_rows() + 2);
  return true;
}

std::size_t Picture::working_bytes(const Plan& plan) { return Picture().lay_out(plan, nullptr); }

std::size_t Picture::lay_out(const Plan& plan, std::byte* room) {
  Layout layout(room);
  const std::int64_t blocks = plan.band_blocks();
  coefficients_ = layout.take<std::int16_t>((blocks + 1) * kBlockItems);
  last_ = layout.take<std::uint8_t>(blocks);
  const std::int64_t width = plan.units_across * 8 * plan.across;
  // What lies beside the samples is read, though nothing comes of it.
  for (std::size_t i = 0; i < (plan.colors ? 3U : 1U); ++i) {
    Plane& plane = planes_[i];
    plane.stride = (i == 0 ? width : width / plan.across) + 2 * kSlack;
    plane.room = layout.take<std::uint8_t>(plane.stride * (1 + (i == 0 ? plan.band_rows() : 8)));
    wide_[i] = layout.take<std::uint8_t>(width + 2 * kSlack);
  }
  sums_ = layout.take<std::uint16_t>(width + 2 * kSlack);
  cleared_ = layout.used();
  rows_ = layout.take<std::uint8_t>((plan.band_rows() + 1) * plan.window.width * plan.channels);
  return layout.used();
}

void Picture::open(const Plan& plan, std::byte* room, PixelSink& sink, const Kernels& kernels) {
  plan_ = &plan;
  sink_ = &sink;
  kernels_ = &kernels;
  band_ = 0;
  next_row_ = plan.window.y;
  wide_of_.fill(-1);
  lay_out(plan, room);
  std::memset(room, 0, cleared_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.header.count); ++i) {
    const auto& quants = plan.header.quants[plan.header.components[i].quant];
    quants_[i] = plan.accurate ? accurate_quants(quants) : fast_quants(quants);
  }
}

bool Picture::band_is_needed() const {
  const std::int64_t margin = plan_->context ? 1 : 0;
  const std::int64_t first = band_ * plan_->band_rows();
  return first + plan_->band_rows() + margin > plan_->window.y &&
         first < plan_->window.y + plan_->window.height + margin;
}

Status Picture::take_band() {
  if (band_is_needed()) {
    for (std::size_t i = 0; i < (plan_->colors ? 3U : 1U); ++i) transform(i);
    SW_RETURN_IF_ERROR(give_rows());
    if (plan_->context) keep_last_rows();
  }
  std::memset(coefficients_, 0, std::size_t{plan_->band_blocks()} * kBlockItems * 2);
  ++band_;
  return {};
}

// ---- From coefficients to samples
// ---------------------------------------------------------------

void Picture::transform(std::size_t component) {
  const Component& part = plan_->header.components[component];
  const int shrink = component == 0 ? 1 : plan_->across;
  const CropWindow& window = plan_->window;
  const std::int64_t begin = plan_->left / shrink / 8;
  const std::int64_t end = divide_up(divide_up(window.x + window.width, shrink), 8);
  const std::uint32_t before = component == 0
                                   ? 0
                                   : static_cast<std::uint32_t>(plan_->across * plan_->down) +
                                         static_cast<std::uint32_t>(component) - 1;
  for (std::int64_t y = 0; y < part.down; ++y) {
    const auto place = [&](std::int64_t x) {
      return x / part.across * plan_->unit_blocks + before + y * part.across + x % part.across;
    };
    std::uint8_t* const row = planes_[component].row(8 * y);
    for (std::int64_t x = begin; x < end; x += 2) {
      // The last one may be alone.
      const std::int64_t second = std::min(x + 1, end - 1);
      transform_pair({place(x), place(second)}, {row + 8 * x, row + 8 * second}, component);
    }
  }
}

void Picture::transform_pair(const std::array<std::int64_t, 2>& places,
                             const std::array<std::uint8_t*, 2>& to, std::size_t component) const {
  const std::ptrdiff_t stride = planes_[component].stride;
  const std::array<const std::int16_t*, 2> blocks = {coefficients_ + places[0] * kBlockItems,
                                                     coefficients_ + places[1] * kBlockItems};
  if ((last_[places[0]] | last_[places[1]]) != 0) {
    const BlockPair pair{blocks, to, stride};
    (plan_->accurate ? kernels_->accurate_idct : kernels_->fast_idct)(pair, quants_[component]);
    return;
  }
  const int quant = quants_[component][0];
  for (std::size_t i = 0; i < 2; ++i) {
    const int dc = *blocks[i];
    const std::uint8_t mean = plan_->accurate ? accurate_mean(dc, quant) : fast_mean(dc, quant);
    for (std::ptrdiff_t y = 0; y < 8; ++y) std::memset(to[i] + y * stride, mean, 8);
  }
}

// The band below needs the last samples of this one.
void Picture::keep_last_rows() {
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    const Plane& plane = planes_[i];
    const std::int64_t rows = i == 0 ? plan_->band_rows() : 8;
    std::memcpy(plane.row(-1), plane.row(rows - 1),
                static_cast<std::size_t>(plane.stride - kSlack));
  }
}

// ---- From samples to pixels
// ---------------------------------------------------------------------

Status Picture::give_rows() {
  const CropWindow& window = plan_->window;
  const std::int64_t below = (band_ + 1) * plan_->band_rows();
  const std::int64_t there = band_ + 1 == plan_->units_down ? plan_->header.height
                             : plan_->context               ? below - 1
                                                            : below;
  const std::int64_t count = std::min(there, window.y + window.height) - next_row_;
  if (count <= 0) return {};
  const std::int64_t row_bytes = window.width * plan_->channels;
  const std::int64_t first = next_row_;
  next_row_ += count;
  std::byte* const place = sink_->place(count);
  if (place == nullptr && plan_->channels == 1) {
    const Plane& gray = planes_[0];
    const std::uint8_t* const rows = gray.row(first - band_ * plan_->band_rows()) + window.x;
    return sink_->take(reinterpret_cast<const std::byte*>(rows), count, gray.stride);
  }
  auto* const rows = place == nullptr ? rows_ : reinterpret_cast<std::uint8_t*>(place);
  for (std::int64_t i = 0; i < count; ++i) make_row(first + i, rows + i * row_bytes);
  return sink_->take(reinterpret_cast<const std::byte*>(rows), count, row_bytes);
}

void Picture::make_row(std::int64_t y, std::uint8_t* out) {
  const CropWindow& window = plan_->window;
  const std::uint8_t* const bright = planes_[0].row(y - band_ * plan_->band_rows()) + window.x;
  if (plan_->channels == 1) {
    std::memcpy(out, bright, static_cast<std::size_t>(window.width));
  } else if (!plan_->colors) {
    kernels_->gray_to_rgb(bright, window.width, out);
  } else {
    kernels_->to_rgb(bright, color_row(1, y), color_row(2, y), window.width, out);
  }
}

const std::uint8_t* Picture::color_row(std::size_t component, std::int64_t y) {
  const Plan& plan = *plan_;
  const std::int64_t from = y / plan.down;
  const std::int64_t in_band = from - band_ * 8;
  const Plane& plane = planes_[component];
  if (plan.across == 1) return plane.row(in_band) + plan.window.x;
  const std::uint8_t* const near = plane.row(in_band) + plan.left / 2;
  std::uint8_t* const wide = wide_[component];
  const std::uint8_t* const out = wide + (plan.window.x - plan.left);
  const std::int64_t n = divide_up(plan.window.x + plan.window.width - plan.left, 2);
  if (plan.context) {
    const std::int64_t most = divide_up(plan.header.height, 2) - 1;
    const std::int64_t other = std::clamp<std::int64_t>(y % 2 == 0 ? from - 1 : from + 1, 0, most);
    const std::uint8_t* const far = near + (other - from) * plane.stride;
    kernels_->widen_two(near, far, n, sums_, wide);
  } else if (wide_of_[component] != from) {  // two rows may share it
    (plan.smooth ? kernels_->widen_smoothly : kernels_->widen)(near, n, wide);
    wide_of_[component] = from;
  }
  return out;
}

}  // namespace spillway::jpeg
