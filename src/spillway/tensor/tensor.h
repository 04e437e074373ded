#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/memory/buffer.h"
#include "spillway/tensor/dtype.h"
#include "spillway/tensor/shape.h"

namespace spillway {

// What a variant item holds: a dataset or an Optional. Defined by higher rooms.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::string describe() const = 0;
};
using VariantPtr = std::shared_ptr<const Variant>;

// Strings: offsets (count + 1) into one run of bytes; strings_within() lays them out otherwise.
struct StringData {
  BufferPtr offsets;  // int64. Immutable once shared.
  BufferPtr bytes;
};

// An immutable n-dimensional value. Copies share the bytes; a slice along the leading dimension is
// a view. The bytes may be written only by whoever made the tensor, before sharing it.
class Tensor {
 public:
  Tensor() = default;  // no value
  // Plain data, `first` items into `buffer`.
  Tensor(DType dtype, Shape shape, BufferPtr buffer, std::int64_t first = 0);
  static Tensor of_strings(Shape shape, StringData data, std::int64_t first = 0);
  static Tensor of_variants(Shape shape, std::shared_ptr<const std::vector<VariantPtr>> items,
                            std::int64_t first = 0);

  bool has_value() const {
    return dtype_ == DType::kVariant ? variants_ != nullptr : buffer_ != nullptr;
  }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return count_; }

  // Plain data.
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_of(dtype_); }
  const std::byte* data() const {
    return buffer_->data() + static_cast<std::size_t>(first_) * size_of(dtype_);
  }
  std::byte* mutable_data() {
    return buffer_->data() + static_cast<std::size_t>(first_) * size_of(dtype_);
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  // Strings and variants, item by item in row-major order.
  std::string_view string_at(std::int64_t i) const;
  const VariantPtr& variant_at(std::int64_t i) const {
    return (*variants_)[static_cast<std::size_t>(first_ + i)];
  }

  const BufferPtr& buffer() const { return buffer_; }  // strings: the bytes
  const BufferPtr& string_offsets() const { return offsets_; }
  std::int64_t first() const { return first_; }
  // Whether this tensor is all of its buffer.
  bool owns_whole_buffer() const;
  // Bytes this value occupies, whoever pays for them.
  std::size_t footprint() const;

  Tensor row(std::int64_t i) const;                          // drops the leading dimension
  Tensor slice(std::int64_t begin, std::int64_t end) const;  // along the leading dimension
  Tensor reshaped(Shape shape) const;                        // same count
  bool equals(const Tensor& other) const;                    // dtype, shape and value

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::int64_t count_ = 0;
  std::int64_t first_ = 0;
  BufferPtr buffer_;   // plain data, or the bytes of strings
  BufferPtr offsets_;  // strings
  std::shared_ptr<const std::vector<VariantPtr>> variants_;
};

// Allocates room for a plain tensor; the caller fills mutable_data() and calls touch on its buffer.
Result<Tensor> make_tensor(const AccountPtr& account, DType dtype, const Shape& shape,
                           Buffer::Ask ask = Buffer::Ask::kRequired);
Result<Tensor> make_strings(const AccountPtr& account, const Shape& shape,
                            std::span<const std::string_view> items,
                            Buffer::Ask ask = Buffer::Ask::kRequired);
template <class T>
Result<Tensor> make_scalar(const AccountPtr& account, DType dtype, T value,
                           Buffer::Ask ask = Buffer::Ask::kRequired) {
  SW_ASSIGN(Tensor out, make_tensor(account, dtype, Shape(), ask));
  *reinterpret_cast<T*>(out.mutable_data()) = value;
  return out;
}
Tensor make_variant(VariantPtr item);

// A new tensor [tensors.size(), ...] of equal dtype and shape (checked by the caller).
Result<Tensor> stack(const AccountPtr& account, std::span<const Tensor> tensors,
                     Buffer::Ask ask = Buffer::Ask::kRequired);
// A copy that owns exactly its bytes.
Result<Tensor> compact(const AccountPtr& account, const Tensor& tensor,
                       Buffer::Ask ask = Buffer::Ask::kRequired);
// Concatenates along the leading dimension; equal dtype and row shape (checked by the caller).
Result<Tensor> concat_rows(const AccountPtr& account, std::span<const Tensor> blocks,
                           Buffer::Ask ask = Buffer::Ask::kRequired);
// Rows `indices` of the leading dimension.
Result<Tensor> gather_rows(const AccountPtr& account, const Tensor& block,
                           std::span<const std::int64_t> indices,
                           Buffer::Ask ask = Buffer::Ask::kRequired);

}  // namespace spillway
