#include "spillway/pipeline/shard_writer.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "spillway/base/bytes.h"
#include "spillway/io/regular_file.h"
#include "spillway/pipeline/disk_failure.h"
#include "spillway/tensor/row_bytes.h"

namespace spillway {
namespace {

constexpr std::size_t kPiece = 256 * kKiB;  // what a shard gathers before it is written
constexpr std::size_t kListed = 64;  // shards at a time; each takes about 1 KiB, with its JSON

Status write_error(const std::string& path) {
  const int why = errno;
  Status status = write_failure("cannot write", path, why);
  return is_disk_failure(status) ? status : file_error(path, why);
}

// A file that is open for writing at its end.
class Output {
 public:
  explicit Output(std::string path) : path_(std::move(path)) {
    auto fd = open_regular(path_, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd.ok()) fd_ = fd.value();
    opened_ = std::move(fd).status();
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) ::close(fd_);
  }
  const Status& opened() const { return opened_; }
  Status write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return write_error(path_);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return {};
  }
  Status sync() const { return ::fsync(fd_) == 0 ? Status() : write_error(path_); }

 private:
  const std::string path_;
  int fd_ = -1;
  Status opened_;
};

Status sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return write_error(path);
  const bool synced = ::fsync(fd) == 0;
  const Status status = synced ? Status() : write_error(path);
  ::close(fd);
  return status;
}

std::string random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid()) << 32U ^ static_cast<std::uint64_t>(::clock());
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name(16, '0');
  for (char& c : name) {
    c = kDigits[number & 15U];
    number >>= 4U;
  }
  return name;
}

Status no_folder(const std::string& path) {
  Status status =
      Status::error(ErrorKind::kUser, Code::kFailedPrecondition, path, " is not a directory");
  status.edit().file = path;
  return status;
}

Status folder_error(const std::string& path, int why) {
  Status status = write_failure("cannot make the folder", path, why);
  return is_disk_failure(status) ? status : file_error(path, why);
}

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  if (!error || std::filesystem::is_directory(path, ignored)) return {};
  return error.value() == ENOTDIR || error.value() == EEXIST ? no_folder(path)
                                                             : folder_error(path, error.value());
}

// Only what such a run consists of: nothing of the user's is lost where a folder is shared.
void remove_run(const SavedDataset& saved) {
  for (const SavedShard& shard : saved.shards) {
    ::unlink(shard_path(saved.folder, saved.run, shard.id).c_str());
  }
  ::unlink((saved.folder + "/" + saved.run + "/metadata").c_str());
  ::rmdir((saved.folder + "/" + saved.run).c_str());
}

}  // namespace

ShardWriter::ShardWriter(std::string folder, Compression compression, AccountPtr account)
    : account_(std::move(account)) {
  saved_.folder = std::move(folder);
  saved_.compression = compression;
}

ShardWriter::~ShardWriter() {
  if (!made_ || finished_) return;
  saved_.shards.clear();
  for (const auto& [id, shard] : shards_) saved_.shards.push_back(shard.facts);
  remove_run(saved_);
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::begin(const std::string& folder,
                                                        Compression compression,
                                                        const AccountPtr& account) {
  auto writer = std::unique_ptr<ShardWriter>(new ShardWriter(folder, compression, account));
  SW_RETURN_IF_ERROR(writer->prepare());
  return writer;
}

Status ShardWriter::prepare() {
  const std::string& folder = saved_.folder;
  if (!scheme_of(folder).empty()) {
    return Status::error(ErrorKind::kUser, Code::kUnimplemented,
                         "a dataset can be saved in local folders only: ", folder);
  }
  std::error_code ignored;
  if (file_exists(folder) && !std::filesystem::is_directory(folder, ignored)) {
    return no_folder(folder);
  }
  if (file_exists(folder + "/dataset_spec.pb")) {
    Status status = Status::error(ErrorKind::kUser, Code::kFailedPrecondition, folder,
                                  " holds what TensorFlow saved (it has dataset_spec.pb): save to "
                                  "another folder, or remove it first");
    status.edit().file = folder;
    return status;
  }
  // Vectors have up to twice the room they need.
  SW_ASSIGN(buffers_, account_->reserve(2 * kBuffered));
  if (saved_.compression == Compression::kGzip) {
    SW_ASSIGN(gzip_, GzipWriter::make(account_));
  }
  SW_RETURN_IF_ERROR(make_folder(folder));
  do {
    saved_.run = random_name();
    made_ = ::mkdir((folder + "/" + saved_.run).c_str(), 0777) == 0;
  } while (!made_ && errno == EEXIST);
  return made_ ? Status() : write_error(folder);
}

Result<ShardWriter::Shard*> ShardWriter::shard_of(std::uint64_t id) {
  const auto found = shards_.find(id);
  if (found != shards_.end()) return &found->second;
  if (shards_.size() == kMostShards) {
    return invalid_argument("`shard_func` must name at most ", kMostShards, " shards: one more is ",
                            id);
  }
  if (shards_.size() % kListed == 0) {
    SW_ASSIGN(Reservation room, account_->reserve(kListed * kKiB));
    lists_.push_back(std::move(room));
  }
  Shard& made = shards_[id];
  made.facts.id = id;
  append(made, std::as_bytes(std::span(kSavedMagic)));
  return &made;
}

void ShardWriter::append(Shard& shard, std::span<const std::byte> bytes) {
  shard.pending.insert(shard.pending.end(), bytes.begin(), bytes.end());
  buffered_ += bytes.size();
}

Status ShardWriter::put(std::int64_t id, std::span<const Tensor> values) {
  std::uint64_t length = 0;
  SW_RETURN_IF_ERROR(visit_row_bytes(values, [&](auto piece) { length += piece.size(); }));
  std::uint32_t checksum = row_checksum(length, {});
  SW_RETURN_IF_ERROR(
      visit_row_bytes(values, [&](auto piece) { checksum = crc32c(piece, checksum); }));
  const RowHead head{length, checksum};
  SW_ASSIGN(Shard* const shard, shard_of(static_cast<std::uint64_t>(id)));
  append(*shard, std::as_bytes(std::span(&head, 1)));
  if (length < kPiece) {
    SW_RETURN_IF_ERROR(visit_row_bytes(values, [&](auto piece) { append(*shard, piece); }));
    if (shard->pending.size() >= kPiece) SW_RETURN_IF_ERROR(flush(*shard));
  } else {
    SW_RETURN_IF_ERROR(flush(*shard));
    const Output out(shard_path(saved_.folder, saved_.run, shard->facts.id));
    SW_RETURN_IF_ERROR(out.opened());
    Status status;
    const auto write = [&](std::span<const std::byte> bytes) {
      shard->facts.bytes += bytes.size();
      return out.write(bytes);
    };
    const auto each = [&](std::span<const std::byte> piece) {
      if (status.ok()) status = gzip_ == nullptr ? write(piece) : gzip_->add(piece, false, write);
    };
    SW_RETURN_IF_ERROR(visit_row_bytes(values, each));
    if (status.ok() && gzip_ != nullptr) status = gzip_->add({}, true, write);
    SW_RETURN_IF_ERROR(status);
  }
  ++shard->facts.rows;
  if (buffered_ <= kBuffered) return {};
  for (auto& [other, waiting] : shards_) SW_RETURN_IF_ERROR(flush(waiting));
  return {};
}

Status ShardWriter::flush(Shard& shard) {
  if (shard.pending.empty()) return {};
  const Output out(shard_path(saved_.folder, saved_.run, shard.facts.id));
  SW_RETURN_IF_ERROR(out.opened());
  const auto write = [&](std::span<const std::byte> bytes) {
    shard.facts.bytes += bytes.size();
    return out.write(bytes);
  };
  SW_RETURN_IF_ERROR(gzip_ == nullptr ? write(shard.pending)
                                      : gzip_->add(shard.pending, true, write));
  buffered_ -= shard.pending.size();
  shard.pending = {};
  return {};
}

Status ShardWriter::end_shard(Shard& shard) {
  const auto rows = static_cast<std::uint64_t>(shard.facts.rows);
  const auto bytes = std::as_bytes(std::span(&rows, 1));
  const RowHead head{kRowsEnd, row_checksum(kRowsEnd, bytes)};
  append(shard, std::as_bytes(std::span(&head, 1)));
  append(shard, bytes);
  SW_RETURN_IF_ERROR(flush(shard));
  const Output out(shard_path(saved_.folder, saved_.run, shard.facts.id));
  SW_RETURN_IF_ERROR(out.opened());
  return out.sync();
}

Status ShardWriter::write_metadata() {
  const std::string run = saved_.folder + "/" + saved_.run;
  const std::string text = metadata_text(saved_);
  {
    const Output out(run + "/metadata");
    SW_RETURN_IF_ERROR(out.opened());
    SW_RETURN_IF_ERROR(out.write(std::as_bytes(std::span(text))));
    SW_RETURN_IF_ERROR(out.sync());
  }
  SW_RETURN_IF_ERROR(sync_folder(run));
  const std::string path = metadata_path(saved_.folder);
  if (::rename((run + "/metadata").c_str(), path.c_str()) != 0) return write_error(path);
  return {};
}

Status ShardWriter::finish(StructurePtr structure, bool replace) {
  saved_.structure = std::move(structure);
  for (auto& [id, shard] : shards_) {
    SW_RETURN_IF_ERROR(end_shard(shard));
    saved_.shards.push_back(shard.facts);
    saved_.rows += shard.facts.rows;
  }
  const auto before = read_saved(saved_.folder);
  SW_RETURN_IF_ERROR(write_metadata());
  finished_ = true;
  if (replace && before.ok()) remove_run(before.value());
  return sync_folder(saved_.folder);
}

}  // namespace spillway
