#include "spillway/io/formats/tar_samples.h"
#include "spillway/testing/format_fuzz.h"

// Names and contents in turn, each behind its length, as members of an archive that is then cut:
// samples of the two columns that are expected, or errors with a place; as many with one sample a
// chunk as with many.
namespace {

using namespace spillway;

std::string archive_of(const std::uint8_t* data, std::size_t size) {
  std::string out;
  for (std::size_t at = 0; at < size;) {
    std::string header(512, '\0');
    const std::size_t name = std::min<std::size_t>({data[at] % 16U, 99, size - at - 1});
    header.replace(0, name, reinterpret_cast<const char*>(data + at + 1), name);
    at += 1 + name;
    const std::size_t length = at < size ? data[at] * 97U : 0;
    header.replace(257, 6, std::string("ustar\0", 6));
    header[156] = at < size && data[at] == 255 ? '2' : '0';
    unsigned content = static_cast<unsigned>(length);
    for (std::size_t i = 11; i-- > 0; content /= 8) {
      header[124 + i] = static_cast<char>('0' + content % 8);
    }
    header.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    for (std::size_t i = 6; i-- > 0; sum /= 8) header[148 + i] = static_cast<char>('0' + sum % 8);
    out += header;
    if (header[156] == '0') out.resize(out.size() + (length + 511) / 512 * 512, 'x');
    at += 1;
  }
  return out + std::string(512, '\0');
}

std::size_t events(const std::string& archive, std::int64_t rows, bool exact) {
  Budget budget(std::size_t{4} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  auto stream =
      ByteStream::open(std::make_shared<testing::FuzzedFile>(archive), Compression::kNone, account);
  if (!stream.ok()) return 0;
  TarSamples in(std::move(stream).value(), account, {"__key__", "a", "b"}, exact);
  for (std::size_t count = 0; count <= archive.size();) {
    auto read = in.read(rows, 2000);
    if (read.ok() && read.value().empty()) return count;
    if (read.ok() && read.value().size() != 3) std::abort();
    if (!read.ok() && read.error().info().offset < 0) std::abort();
    if (!read.ok() && in.broken()) return count + 1;
    count += read.ok() ? static_cast<std::size_t>(read.value()[0].count()) : 1;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string archive = archive_of(data + 2, size - 2);
  archive.resize(archive.size() - std::min<std::size_t>(archive.size(), (data[1] >> 1U) * 300U));
  const bool exact = (data[0] & 1U) != 0;
  if (events(archive, 1, exact) != events(archive, 50, exact)) std::abort();
  return 0;
}
