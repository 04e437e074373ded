#include "spillway/io/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/base/interrupt.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

constexpr std::size_t kLeast = 256;
constexpr std::size_t kCompressedPiece = 64 * 1024;
// From here on a piece goes from the file to its place: a copy costs more than a system call.
constexpr std::size_t kDirect = 32 * 1024;
// Every read of another store is a request: some tens of milliseconds, whatever its size.
constexpr std::size_t kBufferOfStore = std::size_t{2} << 20U;

}  // namespace

Result<Compression> compression_named(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "GZIP") return Compression::kGzip;
  if (name == "ZLIB") return Compression::kZlib;
  return invalid_argument("Unsupported compression_type: ", name,
                          ". It must be '', 'ZLIB' or 'GZIP'.");
}

// zlib's streams over a file. What it needs itself (about 48 KB) is charged with its input.
class ByteStream::Inflater {
 public:
  static Result<std::unique_ptr<Inflater>> make(const File& file, Compression compression,
                                                const AccountPtr& account) {
    constexpr std::size_t kOwn = 48 * 1024;
    SW_ASSIGN(Buffer in,
              Buffer::allocate(account, kCompressedPiece + kOwn, Buffer::Ask::kRequired));
    auto made = std::unique_ptr<Inflater>(new Inflater(file, std::move(in)));
    const int header = compression == Compression::kGzip ? 16 : 0;
    if (inflateInit2(&made->stream_, MAX_WBITS + header) != Z_OK) {
      return out_of_resource(file.path(), ": zlib could not be started");
    }
    made->members_ = compression == Compression::kGzip;
    return made;
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The content comes again from its beginning.
  void restart() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    file_offset_ = 0;
    between_ = false;
  }

  // 0: the end.
  Result<std::size_t> produce(std::span<std::byte> out) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), UINT32_MAX));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) SW_RETURN_IF_ERROR(fill());
      if (between_) {  // members of a gzip file, or the end
        if (stream_.avail_in == 0 || !members_) return std::size_t{0};
        inflateReset(&stream_);
        between_ = false;
      }
      if (stream_.avail_in == 0) {
        if (file_offset_ == 0) return std::size_t{0};
        return corrupt(Z_BUF_ERROR, "the data end in the middle: the file is truncated");
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return corrupt(code, stream_.msg == nullptr ? "no valid data" : stream_.msg);
      }
    }
    return static_cast<std::size_t>(wanted - stream_.avail_out);
  }

 private:
  Inflater(const File& file, Buffer in) : file_(file), in_(std::move(in)) {}
  Status fill() {
    SW_ASSIGN(const std::size_t got,
              file_.read(file_offset_, std::span(in_.data(), kCompressedPiece)));
    in_.touch();
    file_offset_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return {};
  }
  Status corrupt(int code, std::string_view why) const {
    return corrupt_file(file_.path(), file_offset_ - stream_.avail_in, file_.path(),
                        ": inflate() failed with error ", code, ": ", why);
  }

  const File& file_;
  Buffer in_;
  z_stream stream_{};
  std::uint64_t file_offset_ = 0;
  bool members_ = false;
  bool between_ = false;
};

ByteStream::ByteStream(FilePtr file, AccountPtr account, std::size_t buffer)
    : file_(std::move(file)),
      account_(std::move(account)),
      buffer_size_(buffer),
      direct_(scheme_of(file_->path()).empty() ? kDirect : kBufferOfStore) {}
ByteStream::~ByteStream() = default;

Result<std::unique_ptr<ByteStream>> ByteStream::open(FilePtr file, Compression compression,
                                                     AccountPtr account, std::size_t buffer) {
  const bool plain = compression == Compression::kNone;
  if (buffer == 0) buffer = scheme_of(file->path()).empty() ? kBuffer : kBufferOfStore;
  if (plain) buffer = static_cast<std::size_t>(std::min<std::uint64_t>(buffer, file->size()));
  buffer = std::max(buffer, kLeast);
  auto made =
      std::unique_ptr<ByteStream>(new ByteStream(std::move(file), std::move(account), buffer));
  if (!plain) {
    SW_ASSIGN(made->inflater_, Inflater::make(*made->file_, compression, made->account_));
  }
  return made;
}

std::optional<std::uint64_t> ByteStream::length() const {
  if (inflater_ != nullptr) return std::nullopt;
  return file_->size();
}

Result<std::size_t> ByteStream::produce(std::span<std::byte> out) {
  if (interrupted()) return cancelled();
  std::size_t got = 0;
  if (inflater_ != nullptr) {
    SW_ASSIGN(got, inflater_->produce(out));
  } else {
    SW_ASSIGN(got, file_->read(produced_, out));
  }
  produced_ += got;
  return got;
}

// Behind an interrupted read: to position_ again.
Status ByteStream::catch_up() {
  const std::uint64_t behind = position_ + (end_ - begin_);
  while (produced_ < behind) {
    SW_RETURN_IF_ERROR(make_room(1));
    const std::span free(buffer_->data(), buffer_->size());
    const std::size_t most = std::min<std::uint64_t>(free.size(), behind - produced_);
    SW_ASSIGN(const std::size_t got, produce(free.first(most)));
    if (got == 0) return {};
  }
  return {};
}

// Nothing of what a read has passed since `position` was.
void ByteStream::go_back(std::uint64_t position) {
  begin_ = end_ = 0;
  position_ = position;
  produced_ = inflater_ == nullptr ? position : 0;
  if (inflater_ != nullptr) inflater_->restart();
}

// Twice as large where there is room. One that grew byte by byte would be copied for every byte.
Result<Buffer> ByteStream::larger_buffer(std::size_t bytes) {
  const std::size_t had = buffer_ ? buffer_->size() : 0;
  for (const std::size_t size : {std::max(buffer_size_, 2 * had), had + had / 4}) {
    if (size < bytes) continue;
    auto larger = Buffer::allocate(account_, size, Buffer::Ask::kOptional);
    if (larger.ok()) return larger;
  }
  const std::size_t least = std::max(bytes, had + had / 16);
  auto larger = Buffer::allocate(account_, least, Buffer::Ask::kRequired);
  if (larger.ok()) return larger;
  return too_long(std::move(larger).status(), end_ - begin_, least);
}

// The buffer holds at least `bytes`, and what it has begins at its front.
Status ByteStream::make_room(std::size_t bytes) {
  const std::size_t have = end_ - begin_;
  if (buffer_ && buffer_->size() >= bytes) {
    if (have > 0 && begin_ > 0) std::memmove(buffer_->data(), buffer_->data() + begin_, have);
  } else {
    SW_ASSIGN(Buffer larger, larger_buffer(bytes));
    if (have > 0) std::memcpy(larger.data(), buffer_->data() + begin_, have);
    buffer_ = std::move(larger);
  }
  begin_ = 0;
  end_ = have;
  return {};
}

Result<std::span<const std::byte>> ByteStream::look(std::size_t n, std::size_t ahead) {
  SW_RETURN_IF_ERROR(catch_up());
  while (end_ - begin_ < n) {
    if (!buffer_ || buffer_->size() - begin_ < n) SW_RETURN_IF_ERROR(make_room(n));
    std::span free = std::span(buffer_->data(), buffer_->size()).subspan(end_);
    if (ahead > 0) free = free.first(std::min(free.size(), std::max(n, ahead)));
    SW_ASSIGN(const std::size_t got, produce(free));
    if (got == 0) break;
    buffer_->touch();
    end_ += got;
  }
  if (!buffer_) return std::span<const std::byte>();
  return std::span<const std::byte>(buffer_->data() + begin_, end_ - begin_);
}

void ByteStream::pass(std::size_t n) {
  begin_ += n;
  position_ += n;
  if (begin_ == end_) begin_ = end_ = 0;
}

Result<std::size_t> ByteStream::read(std::span<std::byte> out) {
  const std::uint64_t before = position_;
  auto done = read_on(out);
  if (!done.ok() && done.error().code() == Code::kCancelled) go_back(before);
  return done;
}

Result<std::size_t> ByteStream::read_on(std::span<std::byte> out) {
  SW_RETURN_IF_ERROR(catch_up());
  std::size_t done = std::min(out.size(), end_ - begin_);
  if (done > 0) {
    std::memcpy(out.data(), buffer_->data() + begin_, done);
    pass(done);
  }
  while (done < out.size()) {
    const std::size_t left = out.size() - done;
    if (inflater_ == nullptr && left < std::min(direct_, buffer_size_ / 2)) {
      SW_ASSIGN(const auto next, look(left));
      const std::size_t some = std::min(left, next.size());
      if (some == 0) break;
      std::memcpy(out.data() + done, next.data(), some);
      pass(some);
      done += some;
      continue;
    }
    SW_ASSIGN(const std::size_t got, produce(out.subspan(done)));
    if (got == 0) break;
    position_ += got;
    done += got;
  }
  return done;
}

Status ByteStream::seek(std::uint64_t position) {
  if (position >= position_ && position - position_ <= end_ - begin_) {
    pass(static_cast<std::size_t>(position - position_));
    return {};
  }
  if (inflater_ == nullptr) {
    begin_ = end_ = 0;
    position_ = produced_ = std::min(position, file_->size());
    return {};
  }
  while (position_ < position) {
    SW_ASSIGN(const auto next, look(1));
    if (next.empty()) return {};
    pass(static_cast<std::size_t>(std::min<std::uint64_t>(next.size(), position - position_)));
  }
  return {};
}

Status ByteStream::too_long(Status error, std::size_t so_far, std::size_t wanted) const {
  if (error.kind() != ErrorKind::kResource || !error.info().file.empty()) return error;
  // While bytes are copied both places have to be there; a little is always held elsewhere.
  const std::size_t both = (buffer_ ? buffer_->charged() : 0) + SlabPool::capacity_for(wanted);
  const bool ever = account_->check_possible(both + both / 15).ok();
  ErrorInfo& info = error.edit();
  if (!ever && info.type == "BudgetError") info.type = "ElementTooLarge";
  info.file = file_->path();
  info.offset = static_cast<std::int64_t>(position_);
  const std::string where = file_->path() + ": the element at byte " + std::to_string(position_);
  const std::string read = so_far > 0 ? ", of which " + format_bytes(so_far) + " were read" : "";
  return std::move(error).at(where + read + (ever ? "" : ", is too large"));
}

}  // namespace spillway
