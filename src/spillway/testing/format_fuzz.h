#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "spillway/io/record_reader.h"

namespace spillway::testing {

// A file of these bytes that hands out at most `piece` of them a read.
class FuzzedFile final : public File {
 public:
  explicit FuzzedFile(std::string content, std::size_t piece = SIZE_MAX)
      : File("fuzzed", content.size()), content_(std::move(content)), piece_(piece) {}

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t n = std::min<std::uint64_t>({out.size(), piece_, content_.size() - offset});
    std::copy_n(reinterpret_cast<const std::byte*>(content_.data()) + offset, n, out.begin());
    return n;
  }

 private:
  const std::string content_;
  const std::size_t piece_;
};

// The first byte chooses compression and chunks, the rest is the file. Reads it to its end, errors
// and all, in a budget of 4 MiB, and aborts when that does not come or an error has no place.
template <class Open>
int fuzz_rows(const std::uint8_t* data, std::size_t size, const Open& open) {
  if (size == 0) return 0;
  Budget budget(std::size_t{4} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  const auto compression = static_cast<Compression>(data[0] % 3);
  auto file =
      std::make_shared<FuzzedFile>(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  auto stream = ByteStream::open(file, compression, account, (data[0] & 4U) != 0 ? 300 : 0);
  if (!stream.ok()) return 0;
  auto reader = open(std::move(stream).value());
  if (!reader.ok()) return 0;
  std::uint64_t before = 0;
  for (std::size_t turns = 0; turns <= 2 * size + (std::size_t{1} << 20U); ++turns) {
    RowBlock out;
    const auto read = reader.value()->read_rows(account, 7, 1000, out);
    if (read.ok() && !read.value()) return 0;
    if (read.ok()) continue;
    if (read.error().kind() == ErrorKind::kResource) return 0;
    if (read.error().info().file.empty() || read.error().info().offset < 0) std::abort();
    const auto more = reader.value()->resynchronise();
    if (!more.ok() || !more.value()) return 0;
    if (reader.value()->position() <= before) std::abort();
    before = reader.value()->position();
  }
  std::abort();
}

inline int fuzz_records(
    const std::uint8_t* data, std::size_t size,
    const std::function<Result<RecordReaderPtr>(std::unique_ptr<ByteStream>)>& open) {
  return fuzz_rows(data, size, open);
}

}  // namespace spillway::testing
