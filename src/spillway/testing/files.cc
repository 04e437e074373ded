#include "spillway/testing/files.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace spillway::testing {
namespace {

class InMemory final : public File {
 public:
  explicit InMemory(MemoryFile file)
      : File("memory.file", file.content.size()), file_(std::move(file)) {}

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset >= file_.fails_at) {
      return file_error(path(), EIO, static_cast<std::int64_t>(offset));
    }
    const std::uint64_t end =
        std::min<std::uint64_t>({file_.content.size(), file_.ends_at, file_.fails_at});
    if (offset >= end) return std::size_t{0};
    const std::size_t n = std::min<std::uint64_t>({out.size(), file_.piece, end - offset});
    std::copy_n(reinterpret_cast<const std::byte*>(file_.content.data()) + offset, n, out.begin());
    return n;
  }

 private:
  const MemoryFile file_;
};

AccountPtr account() {
  static const AccountPtr& all = *new AccountPtr(Budget::process().open_account("test files"));
  return all;
}

std::string code_of(const Status& error) { return "!" + std::string(to_string(error.code())); }

void check_prefix(const std::vector<std::string>& got, const std::vector<std::string>& expect,
                  const std::string& what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].starts_with('!')) continue;
    ASSERT_LT(i, expect.size()) << what;
    EXPECT_EQ(got[i], expect[i]) << what << ", record " << i;
  }
}

}  // namespace

FilePtr file_of(MemoryFile file) { return std::make_shared<InMemory>(std::move(file)); }

TemporaryFolder::TemporaryFolder() {
  std::string name = ::testing::TempDir() + "spillway_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
std::string TemporaryFolder::write(const std::string& name, std::string_view content) const {
  std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string compressed(std::string_view content, Packed how) {
  z_stream stream{};
  const int header = how == Packed::kGzip ? 16 : 0;
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + header, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::unique_ptr<ByteStream> stream_of(MemoryFile file, Compression compression,
                                      std::size_t buffer) {
  return ByteStream::open(file_of(std::move(file)), compression, account(), buffer).value();
}

std::vector<std::string> records_of(const OpenReader& open, MemoryFile file,
                                    Compression compression, std::int64_t rows, std::size_t bytes) {
  auto reader = open(stream_of(std::move(file), compression, 256));
  if (!reader.ok()) return {code_of(reader.error())};
  std::vector<std::string> out;
  for (bool more = true; more;) {
    StringRows some(account(), rows, bytes);
    auto read = reader.value()->read(some);
    if (some.count() > 0) {
      const Tensor strings = some.take();
      for (std::int64_t i = 0; i < strings.count(); ++i) out.emplace_back(strings.string_at(i));
    }
    if (!read.ok()) {
      out.push_back(code_of(read.error()));
      EXPECT_EQ(read.error().info().file, "memory.file") << read.error().message();
      EXPECT_GE(read.error().info().offset, 0) << read.error().message();
    }
    more = read.ok() && read.value();
  }
  return out;
}

void check_format(const OpenReader& open, const std::string& content,
                  const std::vector<std::string>& expect) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    for (const std::int64_t rows : {1, 3, 1000}) {
      EXPECT_EQ(records_of(open, {content, piece}, Compression::kNone, rows), expect);
    }
  }
  const std::string gzip = compressed(content, Packed::kGzip);
  EXPECT_EQ(records_of(open, {gzip, 5}, Compression::kGzip), expect);
  EXPECT_EQ(records_of(open, {compressed(content, Packed::kZlib)}, Compression::kZlib), expect);
  // From every position a new reader goes on.
  auto first = open(stream_of({content})).value();
  for (std::size_t done = 0; done < expect.size(); ++done) {
    StringRows one(account(), 1, 0);
    ASSERT_TRUE(first->read(one).ok());
    auto again = open(stream_of({content})).value();
    ASSERT_TRUE(again->seek(first->position()).ok());
    StringRows next(account(), 1, 0);
    ASSERT_TRUE(again->read(next).ok());
    ASSERT_EQ(next.count(), done + 1 < expect.size() ? 1 : 0);
    if (next.count() == 1) {
      EXPECT_EQ(next.take().string_at(0), expect[done + 1]);
    }
  }
  for (std::uint64_t end = 0; end < content.size(); ++end) {
    check_prefix(records_of(open, {content, SIZE_MAX, end}), expect, "fails");
    const auto shorter = records_of(open, {content, SIZE_MAX, UINT64_MAX, end});
    check_prefix(shorter, expect, "became shorter");
    EXPECT_EQ(shorter.back(), "!DATA_LOSS") << "became shorter at " << end;
  }
  for (std::size_t end = 1; end < gzip.size(); ++end) {
    const auto cut = records_of(open, {gzip.substr(0, end)}, Compression::kGzip);
    check_prefix(cut, expect, "truncated gzip");
    EXPECT_EQ(cut.back(), "!DATA_LOSS") << "truncated gzip at " << end;
  }
}

}  // namespace spillway::testing
