#include "spillway/io/formats/zip.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as a zip archive: refused with a place, or members that lie in the file, each behind
// the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const testing::FuzzedFile file(std::string(reinterpret_cast<const char*>(data), size));
  Budget budget(std::size_t{4} << 20U);
  const auto found = read_zip_directory(file, budget.open_account("fuzz"));
  if (!found.ok()) {
    if (found.error().info().file.empty() || found.error().info().offset < 0) std::abort();
    return 0;
  }
  std::uint64_t stored = 0;
  for (const ZipMember& member : found.value()) {
    stored += member.stored;
    if (member.data > size || member.stored > size - member.data) std::abort();
  }
  if (stored > size) std::abort();
  return 0;
}
