#include "spillway/io/formats/zip_member.h"

#include <zlib.h>

#include <algorithm>

#include "spillway/base/interrupt.h"
#include "spillway/base/mutex.h"

namespace spillway {
namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kOwn = 48 * 1024;  // what zlib needs itself

Bytef* bytes_of(std::byte* data) { return reinterpret_cast<Bytef*>(data); }
uInt at_most(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::size_t{1} << 30U));
}

// What both kinds share: the checksum of what was read in order.
class Member : public File {
 public:
  std::optional<FileStamp> stamp() const override { return archive_->stamp(); }

 protected:
  Member(FilePtr archive, const ZipMember& member)
      : File(archive->path() + ":" + member.name, member.size),
        archive_(std::move(archive)),
        member_(member) {}

  // Bytes at `offset` came out. With a wrong checksum the last byte is never had.
  Status check(std::uint64_t offset, std::span<const std::byte> bytes) const SW_REQUIRES(mutex_) {
    const std::uint64_t end = offset + bytes.size();
    if (offset <= summed_ && end > summed_) {
      auto rest = bytes.subspan(static_cast<std::size_t>(summed_ - offset));
      for (uInt some = 0; !rest.empty(); rest = rest.subspan(some)) {
        some = at_most(rest.size());
        const auto* const data = reinterpret_cast<const Bytef*>(rest.data());
        crc_ = static_cast<std::uint32_t>(crc32(crc_, data, some));
      }
      summed_ = end;
    }
    if (end < size() || summed_ < size() || crc_ == member_.crc) return {};
    return corrupt_file(path(), size(), path(), ": the checksum of the member: expected ",
                        member_.crc, ", found ", crc_);
  }

  const FilePtr archive_;
  const ZipMember member_;
  mutable Mutex mutex_;
  mutable std::uint64_t summed_ SW_GUARDED_BY(mutex_) = 0;  // of the content, in crc_
  mutable std::uint32_t crc_ SW_GUARDED_BY(mutex_) = 0;
};

class Stored final : public Member {
 public:
  Stored(FilePtr archive, const ZipMember& member) : Member(std::move(archive), member) {}

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto left =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size() - offset));
    SW_ASSIGN(const std::size_t got, archive_->read(member_.data + offset, out.first(left)));
    const MutexLock lock(mutex_);
    SW_RETURN_IF_ERROR(check(offset, out.first(got)));
    return got;
  }
};

class Deflated final : public Member {
 public:
  static Result<FilePtr> make(FilePtr archive, const ZipMember& member, const AccountPtr& account) {
    SW_ASSIGN(Buffer in, Buffer::allocate(account, kPiece + kOwn, Buffer::Ask::kPressing));
    std::shared_ptr<Deflated> made(new Deflated(std::move(archive), member, std::move(in)));
    if (inflateInit2(&made->stream_, -MAX_WBITS) != Z_OK) {
      return out_of_resource(made->path(), ": zlib could not be started");
    }
    return FilePtr(std::move(made));
  }
  ~Deflated() override { inflateEnd(&stream_); }

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const MutexLock lock(mutex_);
    if (offset < made_) {
      inflateReset(&stream_);
      stream_.avail_in = 0;
      made_ = taken_ = 0;
      ended_ = false;
    }
    // What lies between goes where the result will be.
    while (made_ < offset) {
      const std::uint64_t most = std::min<std::uint64_t>(out.size(), offset - made_);
      SW_RETURN_IF_ERROR(inflate_some(out.first(static_cast<std::size_t>(most))).status());
    }
    return inflate_some(out);
  }

 private:
  Deflated(FilePtr archive, const ZipMember& member, Buffer in)
      : Member(std::move(archive), member), in_(std::move(in)) {}

  // At least one byte of the content, at most `out`.
  Result<std::size_t> inflate_some(std::span<std::byte> out) const SW_REQUIRES(mutex_) {
    const uInt wanted =
        at_most(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size() - made_)));
    stream_.next_out = bytes_of(out.data());
    stream_.avail_out = wanted;
    Status stepped;
    while (stepped.ok() && stream_.avail_out > 0 && !ended_) {
      stepped = interrupted() ? cancelled() : step();
    }
    const std::size_t got = wanted - stream_.avail_out;
    const std::uint64_t at = made_;
    made_ += got;  // after an error too: what came before it is passed
    SW_RETURN_IF_ERROR(stepped);
    if (made_ < size() && ended_) {
      return corrupt("the content ends after ", made_, " bytes: expected ", size());
    }
    if (made_ == size()) SW_RETURN_IF_ERROR(check_end());
    SW_RETURN_IF_ERROR(check(at, out.first(got)));
    return got;
  }

  // One call of inflate, with input where it has none.
  Status step() const SW_REQUIRES(mutex_) {
    if (stream_.avail_in == 0) {
      const auto piece =
          static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, member_.stored - taken_));
      if (piece == 0) return corrupt("the data end in the middle");
      SW_ASSIGN(const std::size_t got,
                archive_->read(member_.data + taken_, std::span(in_.data(), piece)));
      if (got < piece) return corrupt("the data end in the middle");
      in_.touch();
      taken_ += got;
      stream_.next_in = bytes_of(in_.data());
      stream_.avail_in = static_cast<uInt>(got);
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      ended_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return corrupt("inflate() failed with error ", code, ": ",
                     stream_.msg == nullptr ? "no valid data" : stream_.msg);
    }
    return {};
  }

  // All of the content is there: nothing more may come.
  Status check_end() const SW_REQUIRES(mutex_) {
    Bytef more = 0;
    stream_.next_out = &more;
    stream_.avail_out = 1;
    while (!ended_ && stream_.avail_out > 0) SW_RETURN_IF_ERROR(step());
    if (stream_.avail_out == 0) return corrupt("expands further than ", size(), " bytes");
    return {};
  }

  template <class... Parts>
  Status corrupt(const Parts&... parts) const SW_REQUIRES(mutex_) {
    return corrupt_file(path(), made_, path(), ": ", parts...);
  }

  mutable Buffer in_ SW_GUARDED_BY(mutex_);
  mutable z_stream stream_ SW_GUARDED_BY(mutex_) = {};
  mutable std::uint64_t taken_ SW_GUARDED_BY(mutex_) = 0;  // of what is stored
  mutable std::uint64_t made_ SW_GUARDED_BY(mutex_) = 0;   // of the content
  mutable bool ended_ SW_GUARDED_BY(mutex_) = false;
};

}  // namespace

Result<FilePtr> open_zip_member(FilePtr archive, const ZipMember& member,
                                const AccountPtr& account) {
  if (member.deflated) return Deflated::make(std::move(archive), member, account);
  return FilePtr(std::make_shared<Stored>(std::move(archive), member));
}

}  // namespace spillway
