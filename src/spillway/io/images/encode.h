#pragma once

#include <string_view>

#include "spillway/io/images/byte_sink.h"
#include "spillway/io/images/image.h"

namespace spillway {

// TensorFlow's arguments and defaults.
struct JpegEncodeOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool density_in_cm = false;
  int x_density = 300;
  int y_density = 300;
  std::string_view xmp_metadata = {};  // NOLINT(readability-redundant-member-init)
};

// 1 or 3 channels of bytes.
Status encode_jpeg(const std::byte* pixels, const PixelExtent& extent,
                   const JpegEncodeOptions& options, Workspace& workspace, ByteSink& out);
// 1 to 4 channels of bytes, or of two bytes each where `wide`. `compression`: 0 to 9, or -1.
Status encode_png(const std::byte* pixels, const PixelExtent& extent, bool wide, int compression,
                  Workspace& workspace, ByteSink& out);

}  // namespace spillway
