#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "spillway/base/status.h"
#include "spillway/tensor/dtype.h"
#include "spillway/tensor/shape.h"

namespace spillway {

// Writes an .npy file (version 1, C order) a piece at a time. It has its name only when it is
// whole: until finish() the bytes are under another one beside it, and gone if nobody finishes. One
// thread.
class NpyWriter {
 public:
  // kResource (DiskFull) where the disk has no room for all of it; kUser for types that NumPy has
  // no name for, and for paths of other stores.
  static Result<std::unique_ptr<NpyWriter>> create(const std::string& path, DType dtype,
                                                   const Shape& shape);
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  Status append(std::span<const std::byte> items);
  // Everything was appended: on disk, under its name.
  Status finish();

 private:
  NpyWriter(std::string path, std::string partial, int fd, std::uint64_t whole)
      : path_(std::move(path)), partial_(std::move(partial)), fd_(fd), whole_(whole) {}
  Status append_some(std::span<const std::byte> items);

  const std::string path_;
  const std::string partial_;
  int fd_;  // -1: finished
  const std::uint64_t whole_;
  std::uint64_t written_ = 0;
  std::uint64_t settled_ = 0;  // handed to the disk
};

}  // namespace spillway
