#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "spillway/testing/jpegs.h"

// The first byte chooses options, the rest is the file: our decoder, with the library behind it,
// and the library alone must end alike, but for coded bytes that are left.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using spillway::testing::by_library;
  using spillway::testing::by_us;
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const spillway::ImageBytes bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  spillway::Budget budget(std::size_t{32} << 20U);
  const spillway::Workspace workspace(budget.open_account("fuzz"),
                                      spillway::Buffer::Ask::kOptional);
  constexpr int kChannels[] = {0, 1, 3, 3};
  spillway::DecodeOptions options{.channels = kChannels[choice & 3U],
                                  .fancy_upscaling = (choice & 4U) == 0,
                                  .accurate_dct = (choice & 8U) != 0,
                                  .try_recover_truncated = (choice & 16U) != 0,
                                  .crop = {}};
  if ((choice & 32U) != 0) options.crop = spillway::CropWindow{choice >> 6U, 3, 9, 7};
  // A forged size would only keep the fuzzer busy.
  spillway::Workspace memory = workspace.sibling();
  const auto info = spillway::read_image_info(bytes, memory);
  if (!info.ok() || info.value().width * info.value().height > 512L * 512) return 0;
  const auto ours = by_us(bytes, options, workspace);
  // Only our decoder sees all coded bytes that are left.
  if (ours.status.message().find("coded bytes are left") != std::string_view::npos) return 0;
  if (!(ours == by_library(bytes, options, workspace))) std::abort();
  return 0;
}
