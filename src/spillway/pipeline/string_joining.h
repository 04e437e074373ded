#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "spillway/memory/filling.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

// Strings of many tensors on their way into one: each tensor goes when it has been copied, so that
// all of them need the memory of the result and the largest of them. What could not be finished for
// want of memory goes on where it was. One thread.
class StringJoining {
 public:
  // Worth it for so many bytes; fewer are joined at once (concat_rows).
  static bool is_large(const std::vector<Tensor>& pieces);

  // [n, ...] of the pieces one after the other; uses them up. An error is one of memory: then it
  // may be called again with what is left of them.
  Result<Tensor> finish(const AccountPtr& account, std::vector<Tensor>& pieces);

 private:
  Status begin(const AccountPtr& account, const std::vector<Tensor>& pieces);
  void copy(const Tensor& strings);

  Shape shape_;
  std::unique_ptr<Filling> bytes_;
  BufferPtr offsets_;  // int64
  std::int64_t strings_ = 0;
  std::size_t filled_ = 0;
  std::size_t done_ = 0;  // pieces
};

}  // namespace spillway
