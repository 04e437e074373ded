#include <vector>

#include "spillway/io/formats/zip_member.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as the deflated content of a member that says it has so many: they come out, or an
// error with its place; what is read again is the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  if (size < 3) return 0;
  ZipMember member;
  member.name = "m";
  member.deflated = (data[0] & 1U) != 0;
  member.stored = size - 3;
  member.size = member.deflated ? data[1] * 256U + data[2] : size - 3;
  member.data = 3;
  const auto file =
      std::make_shared<testing::FuzzedFile>(std::string(reinterpret_cast<const char*>(data), size));
  Budget budget(std::size_t{4} << 20U);
  const auto opened = open_zip_member(file, member, budget.open_account("fuzz"));
  if (!opened.ok()) std::abort();
  std::vector<std::byte> once(100);
  std::vector<std::byte> again(100);
  for (std::uint64_t at = 0; at < member.size; at += 100) {
    const auto got = opened.value()->read(at, once);
    if (!got.ok()) {
      if (got.error().info().file.empty() || got.error().info().offset < 0) std::abort();
      return 0;
    }
    if (at % 1000 != 0) continue;
    const auto more = opened.value()->read(at, again);
    if (more.ok() && (more.value() != got.value() || once != again)) std::abort();
  }
  return 0;
}
