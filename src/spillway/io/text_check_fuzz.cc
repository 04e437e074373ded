#include <cstdlib>
#include <memory>
#include <string>

#include "spillway/base/utf8.h"
#include "spillway/io/text_check.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as a text, in any pieces: the verdict of reading it character by character.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  if (size == 0) return 0;
  const std::string content(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t good = 0;
  while (good < content.size()) {
    const Utf8Character next = utf8_character(std::string_view(content).substr(good));
    if (!next.good || next.code == 0) break;
    good += next.bytes;
  }
  Budget budget(std::size_t{4} << 20U);
  auto file = std::make_shared<testing::FuzzedFile>(content, std::size_t{1} + data[0]);
  const auto stream =
      ByteStream::open(std::move(file), Compression::kNone, budget.open_account("fuzz"), 4096);
  if (!stream.ok()) std::abort();
  const auto done = check_utf8(*stream.value());
  if (done.ok() != (good == content.size())) std::abort();
  if (!done.ok() && done.error().info().offset != static_cast<std::int64_t>(good)) std::abort();
  return 0;
}
