#include "spillway/io/npy_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/workers.h"
#include "spillway/io/file.h"
#include "spillway/io/regular_file.h"

namespace spillway {
namespace {

constexpr std::size_t kSettle = 16 * kMiB;  // dirty pages count against the container
constexpr std::size_t kPiece = 2 * kMiB;    // for a thread

const char* name_in_numpy(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "|b1";
    case DType::kInt8:
      return "|i1";
    case DType::kUInt8:
      return "|u1";
    case DType::kInt16:
      return "<i2";
    case DType::kInt32:
      return "<i4";
    case DType::kInt64:
      return "<i8";
    case DType::kUInt16:
      return "<u2";
    case DType::kUInt32:
      return "<u4";
    case DType::kUInt64:
      return "<u8";
    case DType::kFloat16:
      return "<f2";
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kComplex64:
      return "<c8";
    case DType::kComplex128:
      return "<c16";
    default:
      return nullptr;
  }
}

std::string header_of(const char* descr, const Shape& shape) {
  std::string dims = "(";
  for (const std::int64_t dim : shape.dims()) dims += std::to_string(dim) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.pop_back();
  const std::string text =
      std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + dims + "), }";
  const std::size_t length = (10 + text.size() + 1 + 63) / 64 * 64 - 10;
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(length & 0xFFU);
  out += static_cast<char>(length >> 8U);
  return out + text + std::string(length - text.size() - 1, ' ') + "\n";
}

Status failed(const std::string& path, int error) {
  Status status = file_error(path, error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) status.edit().type = "DiskFull";
  return status;
}

// 0, or the error's number.
int write_at(int fd, std::span<const std::byte> items, std::uint64_t at) {
  while (!items.empty()) {
    const ssize_t n = pwrite(fd, items.data(), items.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? EIO : errno;
    at += static_cast<std::uint64_t>(n);
    items = items.subspan(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<NpyWriter>> NpyWriter::create(const std::string& path, DType dtype,
                                                     const Shape& shape) {
  const char* descr = name_in_numpy(dtype);
  if (descr == nullptr) {
    return invalid_argument("save_npy: an .npy file cannot hold ", name_of(dtype),
                            ": cast it, for example to float32");
  }
  if (!scheme_of(path).empty()) {
    return invalid_argument("save_npy: writes local files only: ", path);
  }
  SW_RETURN_IF_ERROR(refuse_special(path));  // a rename would put the file in its place
  std::string partial = path + ".part-XXXXXX";
  const int fd = mkostemp(partial.data(), O_CLOEXEC);
  if (fd < 0) return failed(path, errno);
  const mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(fd, 0666 & ~mask);
  const std::string header = header_of(descr, shape);
  const std::uint64_t whole =
      header.size() + static_cast<std::uint64_t>(shape.count()) * size_of(dtype);
  std::unique_ptr<NpyWriter> writer(new NpyWriter(path, std::move(partial), fd, whole));
  // A full disk shows here, before anything is computed.
  if (fallocate(fd, 0, 0, static_cast<off_t>(whole)) != 0 && (errno == ENOSPC || errno == EDQUOT)) {
    return failed(path, errno);
  }
  SW_RETURN_IF_ERROR(writer->append(std::as_bytes(std::span(header))));
  return writer;
}

NpyWriter::~NpyWriter() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(partial_.c_str());
}

Status NpyWriter::append(std::span<const std::byte> items) {
  for (; !items.empty(); items = items.subspan(std::min(kSettle, items.size()))) {
    SW_RETURN_IF_ERROR(append_some(items.first(std::min(kSettle, items.size()))));
    if (written_ - settled_ < kSettle) continue;
    sync_file_range(fd_, static_cast<off_t>(settled_), static_cast<off_t>(written_ - settled_),
                    SYNC_FILE_RANGE_WRITE);
    settled_ = written_;
  }
  return {};
}

// Copying into the page cache is a CPU's work: all of them share in it.
Status NpyWriter::append_some(std::span<const std::byte> items) {
  const auto pieces = static_cast<std::int64_t>((items.size() + kPiece - 1) / kPiece);
  std::atomic<int> error{0};
  parallel_ranges(pieces, [&](std::int64_t piece, int) {
    const std::size_t first = static_cast<std::size_t>(piece) * kPiece;
    const auto some = items.subspan(first, std::min(kPiece, items.size() - first));
    if (const int refused = write_at(fd_, some, written_ + first); refused != 0) error = refused;
  });
  if (error != 0) return failed(path_, error);
  if (given_up()) return cancelled();
  written_ += items.size();
  return {};
}

Status NpyWriter::finish() {
  if (written_ != whole_) {
    return internal_bug("save_npy: ", written_, " of ", whole_, " bytes were written");
  }
  if (fdatasync(fd_) != 0) return failed(path_, errno);
  if (rename(partial_.c_str(), path_.c_str()) != 0) return failed(path_, errno);
  close(fd_);
  fd_ = -1;
  return {};
}

}  // namespace spillway
