#include "spillway/io/formats/tar.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as a tar archive, plain and compressed: members or an error with its place, within the
// budget; looking for the next header comes to an end. So that more than checksums is tried, the
// second byte may have them corrected.
namespace {

void correct_checksums(std::string& content) {
  for (std::size_t at = 0; at + 512 <= content.size(); at += 512) {
    if (content.compare(at + 257, 5, "ustar") != 0) continue;
    content.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(content[at + i]);
    for (std::size_t i = 6; i-- > 0; sum /= 8) {
      content[at + 148 + i] = static_cast<char>('0' + sum % 8);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  if (size < 2) return 0;
  std::string content(reinterpret_cast<const char*>(data + 2), size - 2);
  if ((data[1] & 1U) != 0) correct_checksums(content);
  Budget budget(std::size_t{4} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  auto stream = ByteStream::open(std::make_shared<testing::FuzzedFile>(std::move(content)),
                                 static_cast<Compression>(data[0] % 3), account);
  if (!stream.ok()) return 0;
  TarReader archive(std::move(stream).value());
  std::uint64_t before = 0;
  for (std::size_t turns = 0; turns <= size + (std::size_t{1} << 20U); ++turns) {
    auto next = archive.next();
    if (next.ok() && !next.value()) return 0;
    if (next.ok() && !next.value()->regular) continue;
    Status error = next.ok() ? Status() : std::move(next).status();
    if (error.ok()) {
      StringRows out(account, 1, 0);
      auto read = archive.read(*next.value(), out);
      if (read.ok() && (!read.value() || out.take().string_at(0).size() != next.value()->size)) {
        std::abort();
      }
      error = std::move(read).status();
    }
    if (error.ok() || error.kind() == ErrorKind::kResource) continue;
    if (error.info().file.empty() || error.info().offset < 0) std::abort();
    const auto more = archive.resynchronise();
    if (!more.ok() || !more.value()) return 0;
    if (archive.position() <= before) std::abort();
    before = archive.position();
  }
  std::abort();
}
