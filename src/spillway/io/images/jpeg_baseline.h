#pragma once

#include <span>

#include "spillway/io/images/image.h"

namespace spillway {

// An image to decode into a sink. After decode_jpegs():
// done, status ok: the sink has all rows. done, not ok: the sink or the budget refused, or coded
// bytes are left, which the library would not always see.
// Not done: not an image of ours, or damaged. The sink may have been begun and have taken rows that
// mean nothing: decode it by the library, which begins it again.
struct JpegJob {
  ImageBytes bytes;
  PixelSink* sink = nullptr;
  std::optional<CropWindow> crop = {};  // NOLINT(readability-redundant-member-init): its own window
  Status status = {};                   // NOLINT(readability-redundant-member-init)
  bool done = false;
};

// Images that one thread decodes at a time. By turns, two take 0.8 of the time they take one after
// the other; three or four gain nothing more (jpeg_bench on Zen 3).
inline constexpr int kJpegsAtOnce = 2;

// Decodes baseline JPEG files with our own decoder, several by turns, which is faster than one
// after the other; the pixels are libjpeg-turbo's, bit for bit. Any number of jobs. The working
// memory is charged as the workspace's, and given back.
void decode_jpegs(std::span<JpegJob> jobs, const DecodeOptions& options, Workspace& workspace,
                  int at_once = kJpegsAtOnce);

// One image of any kind by libjpeg-turbo.
Status decode_jpeg_by_library(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
                              PixelSink& sink);

}  // namespace spillway
