#pragma once

#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two above.
#include <jpeglib.h>

#include "spillway/io/images/escape.h"

namespace spillway {

// libjpeg's way to report: errors leave by the escape, nothing is printed. Belongs in `err` and
// `client_data` of a zeroed (de)compress struct, which it must outlive.
class JpegErrors {
 public:
  // `strict`: warnings of missing or invented picture data are errors, too.
  explicit JpegErrors(bool strict);
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  jpeg_error_mgr* manager() { return &manager_; }
  Escape& escape() { return escape_; }
  const char* message() const { return escape_.message.data(); }

  // From a callback of libjpeg's, with what it has to say in `cinfo`.
  [[noreturn]] static void give_up(j_common_ptr cinfo);
  // The same with words of ours.
  [[noreturn]] static void give_up(j_common_ptr cinfo, const char* why);

 private:
  static void note(j_common_ptr cinfo, int level);

  jpeg_error_mgr manager_{};
  Escape escape_;
  const bool strict_;
};

// What libjpeg holds of an image of blocks: all coefficients where it comes in several scans, or
// goes out in them, and some rows otherwise.
std::size_t jpeg_working_bytes(const jpeg_component_info* components, int count, std::size_t width,
                               bool whole);

}  // namespace spillway
