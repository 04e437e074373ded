#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "spillway/base/bytes.h"
#include "spillway/io/regular_file.h"
#include "spillway/pipeline/cache_store.h"
#include "spillway/pipeline/disk_failure.h"
#include "spillway/pipeline/row_file.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

constexpr RowFileMagic kMagic = {'S', 'P', 'W', 'C', 'A', 'C', 'H', 'E', 1};
constexpr RowFileReader::Kind kKind = {kMagic, "cache file",
                                       ": delete the file to fill the cache again"};
constexpr std::size_t kBuffer = 256 * kKiB;
constexpr std::string_view kOurLock = "spillway ";

std::string finished_name(const std::string& path) { return path + ".cache"; }
std::string partial_name(const std::string& path) { return path + "_0.partial"; }
std::string lock_name(const std::string& path) { return path + "_0.lockfile"; }

Status file_error(const std::string& file, const char* doing) {
  return write_failure(std::string("cache: ") + doing, file, errno);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<std::size_t> read_at(const Descriptor& fd, const std::string& file, std::int64_t offset,
                            std::byte* to, std::size_t bytes) {
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = pread(fd.get(), to + got, bytes - got, offset + static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(file, "cannot read");
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

// ---- Reading

class FileSource final : public CacheSource {
 public:
  FileSource(std::unique_ptr<RowFileReader> reader, const OpenContext& context,
             const std::string& file)
      : reader_(std::move(reader)), stage_(context.stage()), scope_(context.source_scope(file)) {}

  Next read(std::int64_t row, const Demand& demand) override {
    if (row < reader_->row()) SW_RETURN_IF_ERROR(reader_->rewind());
    if (over_) return end_of_data();
    std::vector<Row> rows;
    std::size_t bytes = 0;
    while (static_cast<std::int64_t>(rows.size()) < demand.rows &&
           (rows.empty() || bytes < demand.bytes)) {
      const std::int64_t at = reader_->row();
      auto next = reader_->next(at >= row);
      if (!next.ok()) {
        // Rows before a bad one come first; it is met again.
        if (!rows.empty()) break;
        // Where the next row begins is not known any more.
        over_ = is_position(next.error());
        return over_ ? ending_source(std::move(next).status()) : std::move(next).status();
      }
      if (!next.value()) break;
      if (at < row) continue;
      rows.push_back({std::move(*next.value()), {scope_, at, 1}});
      bytes += rows.back().footprint();
    }
    if (rows.empty()) return end_of_data();
    const StructurePtr& structure = stage_->node().structure();
    return std::optional<Chunk>(Chunk::from_rows(
        structure != nullptr ? structure : described(rows.front()), std::move(rows)));
  }

 private:
  static StructurePtr described(const Row& row) {
    std::vector<StructurePtr> leaves;
    leaves.reserve(row.values.size());
    for (const Tensor& value : row.values) {
      leaves.push_back(Structure::tensor(value.dtype(), value.shape()));
    }
    return leaves.size() == 1 ? leaves[0] : Structure::tuple(std::move(leaves));
  }

  const std::unique_ptr<RowFileReader> reader_;
  const StagePtr stage_;
  const ScopePtr scope_;
  bool over_ = false;  // after damage
};

// ---- Writing

Status held_by_another(const std::string& lock, std::string_view contents) {
  return Status::error(ErrorKind::kUser, Code::kAlreadyExists,
                       "There appears to be a concurrent caching iterator running - cache lockfile "
                       "already exists ('",
                       lock,
                       "'). If nothing else uses this cache, delete the lockfile and start "
                       "again. Lockfile contents: ",
                       contents);
}

// The lock file with its lock. One left behind by a process that was killed is taken over: the
// kernel has let go of its lock.
Result<Descriptor> take_lock(const std::string& path) {
  const std::string name = lock_name(path);
  Descriptor fd(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() < 0) {
    if (errno != EEXIST) return file_error(name, "cannot create");
    SW_RETURN_IF_ERROR(refuse_special(name));
    auto opened = open_regular(name, O_RDWR);
    if (!opened.ok()) return held_by_another(name, "");
    fd = Descriptor(opened.value());
    std::byte text[256];
    SW_ASSIGN(const std::size_t got, read_at(fd, name, 0, text, sizeof text));
    const std::string_view contents(reinterpret_cast<const char*>(text), got);
    if (!contents.starts_with(kOurLock) || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      return held_by_another(name, contents);
    }
    struct stat mine{};
    struct stat named{};
    if (fstat(fd.get(), &mine) != 0 || stat(name.c_str(), &named) != 0 ||
        mine.st_ino != named.st_ino) {
      return held_by_another(name, contents);
    }
  } else if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return held_by_another(name, "");
  }
  const std::string contents =
      std::string(kOurLock) + std::to_string(getpid()) + " created at " + std::to_string(time({}));
  if (ftruncate(fd.get(), 0) != 0 || pwrite(fd.get(), contents.data(), contents.size(), 0) !=
                                         static_cast<ssize_t>(contents.size())) {
    Status failed = file_error(name, "cannot write");
    unlink(name.c_str());
    return failed;
  }
  return fd;
}

class FileSink final : public CacheSink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)) {}
  ~FileSink() override {
    if (lock_.get() < 0 || finished_) return;
    unlink(partial_name(path_).c_str());
    unlink(lock_name(path_).c_str());
  }

  Status begin() override {
    if (fd_.get() >= 0) return {};
    if (access(finished_name(path_).c_str(), F_OK) == 0) {
      return Status::error(ErrorKind::kUser, Code::kAlreadyExists,
                           "Existing cache files found: ", finished_name(path_),
                           ": another iterator finished them meanwhile, start again to read them");
    }
    if (lock_.get() < 0) {
      SW_ASSIGN(lock_, take_lock(path_));
    }
    const std::string name = partial_name(path_);
    SW_RETURN_IF_ERROR(refuse_special(name));
    auto fd = open_regular(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!fd.ok()) return file_error(name, "cannot create");
    fd_ = Descriptor(fd.value());
    append(std::as_bytes(std::span(kMagic)));
    return {};
  }

  Status put(const Chunk& rows, std::int64_t row) override {
    row_bytes_.clear();
    SW_RETURN_IF_ERROR(append_row_bytes(rows.row(row).values, row_bytes_));
    SW_RETURN_IF_ERROR(record(row_bytes_.size(), row_bytes_));
    ++rows_;
    if (row_bytes_.capacity() > 4 * kBuffer) row_bytes_ = {};
    return {};
  }

  Status finish() override {
    SW_RETURN_IF_ERROR(record(kRowsEnd, std::as_bytes(std::span(&rows_, 1))));
    SW_RETURN_IF_ERROR(flush());
    if (fdatasync(fd_.get()) != 0) return file_error(partial_name(path_), "cannot write");
    if (rename(partial_name(path_).c_str(), finished_name(path_).c_str()) != 0) {
      return file_error(finished_name(path_), "cannot create");
    }
    unlink(lock_name(path_).c_str());
    finished_ = true;
    return {};
  }

 private:
  void append(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  Status record(std::uint64_t length, std::span<const std::byte> bytes) {
    const RowHead head{length, row_checksum(length, bytes)};
    append(std::as_bytes(std::span(&head, 1)));
    append(bytes);
    return buffer_.size() >= kBuffer ? flush() : Status();
  }
  Status flush() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t n = write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int why = errno;
        buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(done));
        Status failed = write_failure("cache: cannot write", partial_name(path_), why);
        failed.edit().message += ", after " + format_bytes(written_ + done);
        return failed;
      }
      done += static_cast<std::size_t>(n);
    }
    written_ += done;
    buffer_.clear();
    if (buffer_.capacity() > 4 * kBuffer) buffer_ = {};
    return {};
  }

  const std::string path_;
  Descriptor lock_;
  Descriptor fd_;
  bool finished_ = false;
  std::uint64_t rows_ = 0;
  std::size_t written_ = 0;
  std::vector<std::byte> row_bytes_;
  std::vector<std::byte> buffer_;
};

class FileCache final : public CacheStore {
 public:
  explicit FileCache(std::string path) : path_(std::move(path)) {}

  Result<std::unique_ptr<CacheSource>> source(const OpenContext& context) override {
    const std::string name = finished_name(path_);
    // Replaced by rename only: an open file is a finished one.
    auto file = open_file(name);
    if (!file.ok()) {
      if (file.error().code() == Code::kNotFound) return std::unique_ptr<CacheSource>();
      return std::move(file).status();
    }
    const AccountPtr& account = context.stage()->account();
    SW_ASSIGN(auto bytes, ByteStream::open(std::move(file).value(), Compression::kNone, account));
    auto reader = std::make_unique<RowFileReader>(std::move(bytes), kKind,
                                                  context.node().structure(), account);
    SW_RETURN_IF_ERROR(reader->open());
    return std::unique_ptr<CacheSource>(
        std::make_unique<FileSource>(std::move(reader), context, name));
  }
  Result<std::unique_ptr<CacheSink>> sink(const OpenContext&, std::string) override {
    return std::unique_ptr<CacheSink>(std::make_unique<FileSink>(path_));
  }
  bool finishes_by_count() const override { return false; }

 private:
  const std::string path_;
};

}  // namespace

std::shared_ptr<CacheStore> file_cache(std::string path) {
  return std::make_shared<FileCache>(std::move(path));
}

}  // namespace spillway
