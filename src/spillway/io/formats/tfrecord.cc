#include "spillway/io/formats/tfrecord.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "spillway/io/crc32c.h"

namespace spillway {
namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kFooter = 4;
// From here on a record goes from the file to its place, without a stop in the stream's buffer.
constexpr std::size_t kLarge = 16 * 1024;
constexpr std::size_t kLittle = 4096;
constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;  // of a content whose length is not known

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool good_header(std::span<const std::byte> header) {
  return load<std::uint32_t>(header.data() + 8) == masked_crc32c(header.first(8));
}

class TfRecordReader final : public RecordReader {
 public:
  explicit TfRecordReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  Result<bool> read(StringRows& out) override {
    for (;;) {
      SW_ASSIGN(const std::optional<std::uint64_t> length, next_length());
      if (!length) return false;
      SW_ASSIGN(const bool added,
                *length >= kLarge ? read_large(*length, out) : read_small(*length, out));
      if (!added) return true;
    }
  }

  std::uint64_t position() const override { return position_; }
  Status seek(std::uint64_t position) override {
    SW_RETURN_IF_ERROR(stream_->seek(position));
    position_ = stream_->position();
    return {};
  }

  Result<bool> resynchronise() override {
    // A length with its checksum says where the next record begins; else any byte may.
    const bool framed = ahead_ && good_header(*ahead_);
    const std::uint64_t length = framed ? load<std::uint64_t>(ahead_->data()) : 0;
    ahead_.reset();
    if (length > kMost) return false;  // beyond every content
    position_ += framed ? kHeader + length + kFooter : 1;
    for (;; ++position_) {
      SW_RETURN_IF_ERROR(stream_->seek(position_));
      position_ = stream_->position();  // content that is decompressed does not go back
      SW_ASSIGN(const auto next, stream_->look(kHeader));
      if (next.size() < kHeader) return false;
      std::size_t at = 0;
      while (at + kHeader < next.size() && !good_header(next.subspan(at, kHeader))) ++at;
      position_ += at;
      if (!good_header(next.subspan(at, kHeader))) continue;
      stream_->pass(at);
      SW_ASSIGN(const bool good, good_record());
      if (good) return true;
    }
  }

 private:
  // Of the record at position_, behind its checksum; nothing at the end.
  Result<std::optional<std::uint64_t>> next_length() {
    if (!ahead_) {
      SW_ASSIGN(const auto next, stream_->look(kHeader, kLittle));
      if (next.empty()) return std::optional<std::uint64_t>();
      if (next.size() < kHeader) return truncated(kHeader, next.size());
      ahead_.emplace();
      std::copy_n(next.begin(), kHeader, ahead_->begin());
      stream_->pass(kHeader);
    }
    if (!good_header(*ahead_)) {
      const auto found = load<std::uint32_t>(ahead_->data() + 8);
      return corrupted("the length's checksum", masked_crc32c(std::span(*ahead_).first(8)), found);
    }
    const auto length = load<std::uint64_t>(ahead_->data());
    const std::uint64_t most = stream_->length().value_or(kMost) - stream_->position();
    if (length > most || most - length < kFooter) return truncated(length + kFooter, most);
    return std::optional(length);
  }

  // From the buffer.
  Result<bool> read_small(std::size_t length, StringRows& out) {
    SW_ASSIGN(const auto next, stream_->look(length + kFooter));
    if (next.size() < length + kFooter) return truncated(length + kFooter, next.size());
    const auto record = next.first(length);
    SW_RETURN_IF_ERROR(check(record, next.data() + length));
    SW_ASSIGN(const bool added,
              out.add({reinterpret_cast<const char*>(record.data()), record.size()}));
    if (!added) return false;
    stream_->pass(length + kFooter);
    passed(length);
    return true;
  }

  // Straight to its place, with the next record's header in the same read.
  Result<bool> read_large(std::uint64_t length, StringRows& out) {
    constexpr std::size_t kBehind = kFooter + kHeader;
    auto room = out.room(static_cast<std::size_t>(length) + kBehind);
    if (!room.ok()) return stream_->too_long(std::move(room).status(), 0, length);
    std::byte* const place = room.value();
    if (place == nullptr) return false;
    const std::span to(place, static_cast<std::size_t>(length) + kBehind);
    SW_ASSIGN(const std::size_t got, stream_->read(to));
    const auto size = static_cast<std::size_t>(length);
    if (got < size + kFooter) return truncated(length + kFooter, got);
    SW_RETURN_IF_ERROR(check(to.first(size), place + size));
    out.add(size);
    passed(length);
    if (got == to.size()) {
      ahead_.emplace();
      std::copy_n(place + size + kFooter, kHeader, ahead_->begin());
    } else if (got > size + kFooter) {
      return truncated(kHeader, got - size - kFooter);
    }
    return true;
  }

  // Whether a whole record begins at position_; the stream is there again afterwards.
  Result<bool> good_record() {
    SW_ASSIGN(auto next, stream_->look(kHeader));
    const auto length = load<std::uint64_t>(next.data());
    const std::uint64_t most = stream_->length().value_or(kMost) - stream_->position();
    if (length > most || most - length < kHeader + kFooter) return false;
    const std::size_t whole = kHeader + static_cast<std::size_t>(length) + kFooter;
    SW_ASSIGN(next, stream_->look(whole));
    if (next.size() < whole) return false;
    const auto record = next.subspan(kHeader, static_cast<std::size_t>(length));
    return masked_crc32c(record) == load<std::uint32_t>(record.data() + record.size());
  }

  void passed(std::uint64_t length) {
    position_ += kHeader + length + kFooter;
    ahead_.reset();
  }

  Status check(std::span<const std::byte> record, const std::byte* footer) const {
    const auto found = load<std::uint32_t>(footer);
    const std::uint32_t expected = masked_crc32c(record);
    return found == expected ? Status() : corrupted("the record's checksum", expected, found);
  }
  Status corrupted(std::string_view what, std::uint32_t expected, std::uint32_t found) const {
    return corrupt_file(stream_->file().path(), position_, "corrupted record at ", position_,
                        " in ", stream_->file().path(), ": ", what, ": expected ", expected,
                        ", found ", found);
  }
  Status truncated(std::uint64_t expected, std::uint64_t found) const {
    return corrupt_file(stream_->file().path(), position_, "truncated record at ", position_,
                        " in ", stream_->file().path(), ": expected ", expected,
                        " bytes more, found ", found);
  }

  const std::unique_ptr<ByteStream> stream_;
  std::uint64_t position_ = 0;                           // of the next record
  std::optional<std::array<std::byte, kHeader>> ahead_;  // its header, when it is read already
};

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Result<RecordReaderPtr> read_tfrecords(std::unique_ptr<ByteStream> stream) {
  return RecordReaderPtr(std::make_unique<TfRecordReader>(std::move(stream)));
}

bool is_tfrecord(std::span<const std::byte> first) {
  return first.size() >= kHeader && good_header(first.first(kHeader));
}

std::string framed_tfrecord(std::string_view record) {
  std::string out;
  out.reserve(kHeader + record.size() + kFooter);
  put(out, static_cast<std::uint64_t>(record.size()));
  put(out, masked_crc32c(std::as_bytes(std::span(out))));
  out += record;
  put(out, masked_crc32c(std::as_bytes(std::span(record))));
  return out;
}

}  // namespace spillway
