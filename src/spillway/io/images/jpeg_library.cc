#include "spillway/io/images/jpeg_library.h"

#include <jerror.h>

#include <algorithm>
#include <cstring>

namespace spillway {
namespace {

// Odd, but every pixel is there: bytes between the segments of the header, marks of other versions.
// Behind a scan, bytes before the next mark are coded data that should have been pixels.
bool is_harmless(j_common_ptr cinfo) {
  const int message = cinfo->err->msg_code;
  if (message == JWRN_EXTRANEOUS_DATA && cinfo->is_decompressor != 0) {
    return reinterpret_cast<j_decompress_ptr>(cinfo)->input_scan_number == 0;
  }
  return message == JWRN_JFIF_MAJOR || message == JWRN_ADOBE_XFORM;
}

}  // namespace

JpegErrors::JpegErrors(bool strict) : strict_(strict) {
  jpeg_std_error(&manager_);
  manager_.error_exit = [](j_common_ptr cinfo) { give_up(cinfo); };
  manager_.output_message = [](j_common_ptr) {};
  manager_.emit_message = note;
}

void JpegErrors::give_up(j_common_ptr cinfo) {
  static_assert(JMSG_LENGTH_MAX <= Escape::kMessage);
  auto* const self = static_cast<JpegErrors*>(cinfo->client_data);
  cinfo->err->format_message(cinfo, self->escape_.message.data());
  self->escape_.leave();
}

void JpegErrors::give_up(j_common_ptr cinfo, const char* why) {
  auto* const self = static_cast<JpegErrors*>(cinfo->client_data);
  std::strncpy(self->escape_.message.data(), why, Escape::kMessage - 1);
  self->escape_.leave();
}

void JpegErrors::note(j_common_ptr cinfo, int level) {
  if (level >= 0) return;  // not even a warning
  ++cinfo->err->num_warnings;
  const auto* const self = static_cast<const JpegErrors*>(cinfo->client_data);
  if (self->strict_ && !is_harmless(cinfo)) give_up(cinfo);
}

std::size_t jpeg_working_bytes(const jpeg_component_info* components, int count, std::size_t width,
                               bool whole) {
  constexpr std::size_t kBase = std::size_t{64} << 10U;
  constexpr std::size_t kRows = 64;  // a row of blocks four times over, and what is around it
  std::size_t bytes = kBase + kRows * width * static_cast<std::size_t>(count);
  if (!whole) return bytes;
  const auto rounded = [](JDIMENSION blocks, int to) {
    const auto unit = static_cast<std::size_t>(std::max(to, 1));
    return (blocks + unit - 1) / unit * unit;
  };
  for (int i = 0; i < count; ++i) {
    const jpeg_component_info& part = components[i];
    bytes += rounded(part.width_in_blocks, part.h_samp_factor) *
             rounded(part.height_in_blocks, part.v_samp_factor) * sizeof(JBLOCK);
  }
  return bytes;
}

}  // namespace spillway
