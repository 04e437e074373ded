#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spillway/io/images/jpeg_header.h"
#include "spillway/io/images/jpeg_kernels.h"

// Bands of coefficients become rows of a sink. A band is a row of units: 8 or 16 rows of pixels.
namespace spillway::jpeg {

// What of an image is wanted, and how.
struct Plan {
  Header header;
  int across = 1;  // the brightness' factors: how much wider and higher it is than the colors
  int down = 1;
  std::int64_t units_across = 0;
  std::int64_t units_down = 0;
  std::uint32_t unit_blocks = 0;
  std::int64_t bands = 0;  // that must be decoded
  CropWindow window;
  // libjpeg begins at a whole unit, and widens colors as if the image began and ended there.
  std::int64_t left = 0;
  int channels = 0;
  bool colors = false;
  bool accurate = false;
  bool smooth = false;   // colors are widened with triangles, not by repeating
  bool context = false;  // and so need the rows above and below

  std::uint32_t band_blocks() const {
    return static_cast<std::uint32_t>(units_across) * unit_blocks;
  }
  std::int64_t band_rows() const { return 8 * std::int64_t{down}; }
  bool whole() const { return bands == units_down; }
  std::size_t parts() const;  // that restart marks make of the scan
};

// False: not ours.
bool make_plan(ImageBytes bytes, const DecodeOptions& options, Plan& plan);

class Picture {
 public:
  // Bytes that open() needs.
  static std::size_t working_bytes(const Plan& plan);
  // `room` is aligned to 64. The plan, the room and the sink stay until the last row.
  void open(const Plan& plan, std::byte* room, PixelSink& sink, const Kernels& kernels);

  // Where the coefficients of the next band go: cleared, with room for one block more.
  std::int16_t* coefficients() const { return coefficients_; }
  std::uint8_t* last() const { return last_; }

  // The band is there: gives the rows that are complete with it to the sink.
  Status take_band();
  bool complete() const { return band_ == plan_->bands; }

 private:
  // Samples of a component: the band's, and a row above them.
  struct Plane {
    std::uint8_t* room = nullptr;
    std::ptrdiff_t stride = 0;
    std::uint8_t* row(std::int64_t y) const {
      return room + (y + 1) * stride + static_cast<std::ptrdiff_t>(kRowSlack);
    }
  };

  // Places the buffers in `room`, or in nothing; gives their bytes.
  std::size_t lay_out(const Plan& plan, std::byte* room);
  bool band_is_needed() const;
  void transform(std::size_t component);
  void transform_pair(const std::array<std::int64_t, 2>& places,
                      const std::array<std::uint8_t*, 2>& to, std::size_t component) const;
  Status give_rows();
  void make_row(std::int64_t y, std::uint8_t* out);
  const std::uint8_t* color_row(std::size_t component, std::int64_t y);
  void keep_last_rows();

  const Plan* plan_ = nullptr;
  PixelSink* sink_ = nullptr;
  const Kernels* kernels_ = nullptr;
  std::int64_t band_ = 0;
  std::int64_t next_row_ = 0;
  std::int16_t* coefficients_ = nullptr;
  std::uint8_t* last_ = nullptr;
  std::array<Plane, 3> planes_{};
  std::array<std::uint8_t*, 3> wide_{};  // a row of the colors, widened
  std::array<std::int64_t, 3> wide_of_{};
  std::uint16_t* sums_ = nullptr;
  std::uint8_t* rows_ = nullptr;
  std::size_t cleared_ = 0;  // bytes of the room that are cleared before use
  std::array<QuantPair, 3> quants_{};
};

}  // namespace spillway::jpeg
