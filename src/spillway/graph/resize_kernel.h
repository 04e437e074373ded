#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "spillway/base/interrupt.h"
#include "spillway/graph/gemm.h"
#include "spillway/graph/resize_rows.h"
#include "spillway/graph/row_kernel.h"

// The two ways to go over an image one axis at a time, and the kernel both become.
namespace spillway::graph {

struct ResizeSetup {
  Resizing size;
  DType dtype;
  Pass across;  // in items
  Pass down;
  float scale;
  LoopFn to_float;
  LoopFn across_fn;
  LoopFn down_fn;
  std::int64_t span = down.taps.span();  // rows of the image in a row of the result

  AcrossData across_data() const { return {&across.taps, size.channels, across.start}; }
  DownData down_data(std::int64_t y) const { return {down.taps.of(y), down.start, scale}; }
  std::int64_t image_row_items() const { return size.width * size.channels; }
  std::int64_t row_items() const { return size.new_width * size.channels; }
  std::size_t image_row_bytes() const {
    return static_cast<std::size_t>(image_row_items()) * size_of(dtype);
  }
  // Rows in scratch, each on lines of its own.
  static std::size_t row_room(std::int64_t items) {
    return (static_cast<std::size_t>(items + kPastRow) * sizeof(float) + 63) / 64 * 64;
  }
  std::size_t pointer_room() const {
    return (static_cast<std::size_t>(down.taps.most() + span) * sizeof(std::byte*) + 63) / 64 * 64;
  }
};

// As many rows blended across are kept as a row of the result needs: row r in place r modulo that.
class ColumnsFirst {
 public:
  static std::size_t scratch(const ResizeSetup& setup) {
    return setup.pointer_room() + ResizeSetup::row_room(setup.image_row_items()) +
           static_cast<std::size_t>(setup.span) * ResizeSetup::row_room(setup.row_items());
  }
  static std::size_t stream_scratch(const ResizeSetup& setup) { return scratch(setup); }
  ColumnsFirst(const ResizeSetup& setup, std::byte* scratch)
      : setup_(setup),
        room_(ResizeSetup::row_room(setup.row_items())),
        across_(setup.across_data()),
        rows_(reinterpret_cast<const std::byte**>(scratch)),
        held_(reinterpret_cast<std::int64_t*>(rows_ + setup.down.taps.most())),
        floats_(scratch + setup.pointer_room()),
        blended_(floats_ + ResizeSetup::row_room(setup.image_row_items())) {
    begin_image(nullptr);
  }

  // Null: its rows are handed over by keep().
  void begin_image(const std::byte* image) {
    image_ = image;
    std::fill_n(held_, setup_.span, -1);
  }
  void keep(std::int64_t row, const std::byte* from) {
    const std::int64_t place = row % setup_.span;
    held_[place] = row;
    setup_.to_float({&from, floats_, setup_.image_row_items(), 0, nullptr, nullptr});
    from = floats_;
    setup_.across_fn({&from, at(place), setup_.size.new_width, 0, &across_, nullptr});
  }
  void make(std::int64_t y, float* to) {
    const DownData down = setup_.down_data(y);
    for (std::size_t t = 0; t < down.taps.size(); ++t) rows_[t] = blended(down.taps[t].at);
    setup_.down_fn(
        {rows_, reinterpret_cast<std::byte*>(to), setup_.row_items(), 0, &down, nullptr});
  }

 private:
  std::byte* at(std::int64_t place) { return blended_ + static_cast<std::size_t>(place) * room_; }
  const std::byte* blended(std::int64_t row) {
    const std::int64_t place = row % setup_.span;
    if (held_[place] != row) {
      keep(row, image_ + static_cast<std::size_t>(row) * setup_.image_row_bytes());
    }
    return at(place);
  }

  const ResizeSetup& setup_;
  std::size_t room_;
  AcrossData across_;
  const std::byte** rows_;
  std::int64_t* held_;
  std::byte* floats_;
  std::byte* blended_;
  const std::byte* image_ = nullptr;
};

// Of an image that comes row by row, as many are kept as they are.
class RowsFirst {
 public:
  static std::size_t scratch(const ResizeSetup& setup) {
    return setup.pointer_room() + ResizeSetup::row_room(setup.image_row_items());
  }
  static std::size_t stream_scratch(const ResizeSetup& setup) {
    return scratch(setup) + static_cast<std::size_t>(setup.span) * setup.image_row_bytes();
  }
  RowsFirst(const ResizeSetup& setup, std::byte* scratch)
      : setup_(setup),
        across_(setup.across_data()),
        rows_(reinterpret_cast<const std::byte**>(scratch)),
        sums_(scratch + setup.pointer_room()),
        kept_(sums_ + ResizeSetup::row_room(setup.image_row_items())) {}

  void begin_image(const std::byte* image) { image_ = image; }
  void keep(std::int64_t row, const std::byte* from) {
    const std::size_t bytes = setup_.image_row_bytes();
    std::memcpy(kept_ + static_cast<std::size_t>(row % setup_.span) * bytes, from, bytes);
  }
  void make(std::int64_t y, float* to) {
    const DownData down = setup_.down_data(y);
    const std::size_t bytes = setup_.image_row_bytes();
    for (std::size_t t = 0; t < down.taps.size(); ++t) {
      const std::int64_t row = down.taps[t].at;
      rows_[t] = image_ != nullptr ? image_ + static_cast<std::size_t>(row) * bytes
                                   : kept_ + static_cast<std::size_t>(row % setup_.span) * bytes;
    }
    setup_.down_fn({rows_, sums_, setup_.image_row_items(), 0, &down, nullptr});
    const std::byte* from = sums_;
    setup_.across_fn(
        {&from, reinterpret_cast<std::byte*>(to), setup_.size.new_width, 0, &across_, nullptr});
  }

 private:
  const ResizeSetup& setup_;
  AcrossData across_;
  const std::byte** rows_;
  std::byte* sums_;
  std::byte* kept_;
  const std::byte* image_ = nullptr;
};

template <class Rows>
class ResizeStream final : public RowStream {
 public:
  ResizeStream(const ResizeSetup& setup, std::byte* scratch)
      : setup_(setup), rows_(setup, scratch) {}
  void take(const std::byte* row) override {
    if (is_needed(taken_)) rows_.keep(taken_, row);
    ++taken_;
  }
  bool make(std::byte* to) override {
    if (y_ == setup_.size.new_height) return false;
    const auto taps = setup_.down.taps.of(y_);
    if (!taps.empty() && taps.back().at >= taken_) return false;
    rows_.make(y_++, reinterpret_cast<float*>(to));
    return true;
  }

 private:
  // Making an image much smaller leaves out rows.
  bool is_needed(std::int64_t row) const {
    for (std::int64_t y = y_; y < setup_.size.new_height; ++y) {
      const auto taps = setup_.down.taps.of(y);
      if (!taps.empty() && taps.front().at > row) return false;
      for (const Tap& tap : taps) {
        if (tap.at == row) return true;
      }
    }
    return false;
  }

  const ResizeSetup& setup_;
  Rows rows_;
  std::int64_t y_ = 0;
  std::int64_t taken_ = 0;
};

// Rows of the result, made one after another by Rows, which is made anew for every part and owns
// nothing but a view of the scratch.
template <class Rows>
class ResizeKernel final : public RowKernel {
 public:
  explicit ResizeKernel(ResizeSetup setup) : setup_(std::move(setup)) {
    const double taps = static_cast<double>(setup_.down.taps.most() + setup_.across.taps.most());
    rows_ = setup_.size.batch * setup_.size.new_height;
    parts_ = std::clamp<std::int64_t>(
        parts_worth(taps * static_cast<double>(rows_ * setup_.row_items())), 1,
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

  void mirror(bool image, bool result) override {
    if (image) setup_.across.taps.turn_image((setup_.size.width - 1) * setup_.size.channels);
    if (result) setup_.across.taps.turn();
  }
  std::size_t stream_scratch() const override { return Rows::stream_scratch(setup_); }
  std::unique_ptr<RowStream> stream(std::byte* scratch) const override {
    return std::make_unique<ResizeStream<Rows>>(setup_, scratch);
  }

 private:
  void make(std::int64_t begin, std::int64_t end, const std::byte* const* in, std::byte* const* out,
            std::byte* scratch) const {
    const Resizing& size = setup_.size;
    Rows rows(setup_, scratch);
    auto* to = reinterpret_cast<float*>(out[0]) + begin * setup_.row_items();
    Looks looks;
    for (std::int64_t row = begin; row < end; ++row, to += setup_.row_items()) {
      if (looks.abandoned(setup_.row_items())) return;
      const std::int64_t y = row % size.new_height;
      if (row == begin || y == 0) {
        const auto image = static_cast<std::size_t>(row / size.new_height);
        rows.begin_image(in[0] +
                         image * static_cast<std::size_t>(size.height) * setup_.image_row_bytes());
      }
      rows.make(y, to);
    }
  }

  ResizeSetup setup_;
  std::int64_t rows_ = 0;
  std::int64_t parts_ = 1;
};

}  // namespace spillway::graph
