#include "spillway/tensor/tensor.h"

#include <cstring>

#include "spillway/tensor/extent.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {

Tensor::Tensor(DType dtype, Shape shape, BufferPtr buffer, std::int64_t first)
    : dtype_(dtype),
      shape_(std::move(shape)),
      count_(shape_.count()),
      first_(first),
      buffer_(std::move(buffer)) {}

Tensor Tensor::of_strings(Shape shape, StringData data, std::int64_t first) {
  Tensor out(DType::kString, std::move(shape), std::move(data.bytes), first);
  out.offsets_ = std::move(data.offsets);
  return out;
}

Tensor Tensor::of_variants(Shape shape, std::shared_ptr<const std::vector<VariantPtr>> items,
                           std::int64_t first) {
  Tensor out;
  out.dtype_ = DType::kVariant;
  out.shape_ = std::move(shape);
  out.count_ = out.shape_.count();
  out.first_ = first;
  out.variants_ = std::move(items);
  return out;
}

std::string_view Tensor::string_at(std::int64_t i) const {
  const auto* offsets = reinterpret_cast<const std::int64_t*>(offsets_->data());
  offsets += offsets[0] == kApart ? 2 * (first_ + i) + 1 : first_ + i;
  return {reinterpret_cast<const char*>(buffer_->data()) + offsets[0],
          static_cast<std::size_t>(offsets[1] - offsets[0])};
}

bool Tensor::owns_whole_buffer() const {
  if (dtype_ == DType::kVariant) return true;
  if (dtype_ == DType::kString) {
    return first_ == 0 && !strings_apart(*this) &&
           offsets_->size() == static_cast<std::size_t>(count_ + 1) * sizeof(std::int64_t);
  }
  return first_ == 0 && bytes() == buffer_->size();
}

std::size_t Tensor::footprint() const {
  if (dtype_ == DType::kVariant) return static_cast<std::size_t>(count_) * sizeof(VariantPtr);
  if (dtype_ != DType::kString) return bytes();
  if (strings_apart(*this)) {
    std::size_t bytes = static_cast<std::size_t>(count_ + 1) * sizeof(std::int64_t);
    for (std::int64_t i = 0; i < count_; ++i) bytes += string_at(i).size();
    return bytes;
  }
  const auto* offsets = reinterpret_cast<const std::int64_t*>(offsets_->data()) + first_;
  return static_cast<std::size_t>(offsets[count_] - offsets[0]) +
         static_cast<std::size_t>(count_ + 1) * sizeof(std::int64_t);
}

Tensor Tensor::row(std::int64_t i) const {
  Tensor out = *this;
  out.shape_ = shape_.without_leading();
  out.count_ = out.shape_.count();
  out.first_ = first_ + i * out.count_;
  return out;
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  Tensor out = *this;
  const Shape inner = shape_.without_leading();
  out.shape_ = inner.with_leading(end - begin);
  out.count_ = out.shape_.count();
  out.first_ = first_ + begin * inner.count();
  return out;
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

bool Tensor::equals(const Tensor& other) const {
  if (dtype_ != other.dtype_ || !(shape_ == other.shape_)) return false;
  if (dtype_ == DType::kVariant) return false;
  if (dtype_ == DType::kString) {
    for (std::int64_t i = 0; i < count_; ++i) {
      if (string_at(i) != other.string_at(i)) return false;
    }
    return true;
  }
  return count_ == 0 || std::memcmp(data(), other.data(), bytes()) == 0;
}

Result<Tensor> make_tensor(const AccountPtr& account, DType dtype, const Shape& shape,
                           Buffer::Ask ask) {
  SW_RETURN_IF_ERROR(check_extent(dtype, shape));
  if (!shape.fully_known()) {
    return invalid_argument("Dimensions must be >= 0, found shape ", shape.bracketed());
  }
  SW_ASSIGN(BufferPtr buffer,
            Buffer::share(account, static_cast<std::size_t>(shape.count()) * size_of(dtype), ask));
  return Tensor(dtype, shape, std::move(buffer));
}

namespace {

// Room for `count` strings of `bytes` in all; offsets are filled by the caller.
Result<StringData> make_string_data(const AccountPtr& account, std::int64_t count,
                                    std::size_t bytes, Buffer::Ask ask) {
  SW_ASSIGN(
      BufferPtr offsets,
      Buffer::share(account, static_cast<std::size_t>(count + 1) * sizeof(std::int64_t), ask));
  SW_ASSIGN(BufferPtr data, Buffer::share(account, bytes, ask));
  return StringData{std::move(offsets), std::move(data)};
}

// Fills string data item by item.
class StringWriter {
 public:
  explicit StringWriter(const StringData& data)
      : offsets_(reinterpret_cast<std::int64_t*>(data.offsets->data())),
        bytes_(reinterpret_cast<char*>(data.bytes->data())) {
    offsets_[0] = 0;
  }
  void add(std::string_view item) {
    if (!item.empty()) std::memcpy(bytes_ + at_, item.data(), item.size());
    at_ += static_cast<std::int64_t>(item.size());
    *++offsets_ = at_;
  }
  // All of `strings`; at once where they lie one after the other.
  void add(const Tensor& strings) {
    if (strings_apart(strings)) {
      for (std::int64_t i = 0; i < strings.count(); ++i) add(strings.string_at(i));
      return;
    }
    const auto* from =
        reinterpret_cast<const std::int64_t*>(strings.string_offsets()->data()) + strings.first();
    const std::int64_t count = strings.count();
    const std::int64_t begin = from[0];
    const std::int64_t size = from[count] - begin;
    const std::int64_t shift = at_ - begin;
    for (std::int64_t i = 1; i <= count; ++i) offsets_[i] = from[i] + shift;
    offsets_ += count;
    if (size > 0) {
      std::memcpy(bytes_ + at_, strings.buffer()->data() + begin, static_cast<std::size_t>(size));
    }
    at_ += size;
  }

 private:
  std::int64_t* offsets_;
  char* bytes_;
  std::int64_t at_ = 0;
};

std::size_t string_bytes(const Tensor& t) {
  return t.footprint() - static_cast<std::size_t>(t.count() + 1) * sizeof(std::int64_t);
}

// Joins the items of `parts` into one tensor of `shape`.
Result<Tensor> join(const AccountPtr& account, const Shape& shape, std::span<const Tensor> parts,
                    DType dtype, Buffer::Ask ask) {
  if (dtype == DType::kVariant) {
    auto items = std::make_shared<std::vector<VariantPtr>>();
    for (const Tensor& part : parts) {
      for (std::int64_t i = 0; i < part.count(); ++i) items->push_back(part.variant_at(i));
    }
    return Tensor::of_variants(shape, std::move(items));
  }
  if (dtype == DType::kString) {
    std::size_t bytes = 0;
    std::int64_t count = 0;
    for (const Tensor& part : parts) {
      bytes += string_bytes(part);
      count += part.count();
    }
    SW_ASSIGN(StringData data, make_string_data(account, count, bytes, ask));
    StringWriter writer(data);
    for (const Tensor& part : parts) writer.add(part);
    data.offsets->touch();
    data.bytes->touch();
    return Tensor::of_strings(shape, std::move(data));
  }
  SW_ASSIGN(Tensor out, make_tensor(account, dtype, shape, ask));
  std::byte* to = out.mutable_data();
  for (const Tensor& part : parts) {
    const std::size_t bytes = part.bytes();
    if (bytes > 0) std::memcpy(to, part.data(), bytes);
    to += bytes;
  }
  out.buffer()->touch();
  return out;
}

}  // namespace

Result<Tensor> make_strings(const AccountPtr& account, const Shape& shape,
                            std::span<const std::string_view> items, Buffer::Ask ask) {
  std::size_t bytes = 0;
  for (const auto item : items) bytes += item.size();
  SW_ASSIGN(StringData data,
            make_string_data(account, static_cast<std::int64_t>(items.size()), bytes, ask));
  StringWriter writer(data);
  for (const auto item : items) writer.add(item);
  data.offsets->touch();
  data.bytes->touch();
  return Tensor::of_strings(shape, std::move(data));
}

Tensor make_variant(VariantPtr item) {
  return Tensor::of_variants(Shape(),
                             std::make_shared<std::vector<VariantPtr>>(1, std::move(item)));
}

Result<Tensor> stack(const AccountPtr& account, std::span<const Tensor> tensors, Buffer::Ask ask) {
  const Shape shape = tensors[0].shape().with_leading(static_cast<std::int64_t>(tensors.size()));
  return join(account, shape, tensors, tensors[0].dtype(), ask);
}

Result<Tensor> compact(const AccountPtr& account, const Tensor& tensor, Buffer::Ask ask) {
  return join(account, tensor.shape(), {&tensor, 1}, tensor.dtype(), ask);
}

Result<Tensor> concat_rows(const AccountPtr& account, std::span<const Tensor> blocks,
                           Buffer::Ask ask) {
  std::int64_t rows = 0;
  for (const Tensor& block : blocks) rows += block.shape()[0];
  const Shape shape = blocks[0].shape().without_leading().with_leading(rows);
  return join(account, shape, blocks, blocks[0].dtype(), ask);
}

Result<Tensor> gather_rows(const AccountPtr& account, const Tensor& block,
                           std::span<const std::int64_t> indices, Buffer::Ask ask) {
  const Shape inner = block.shape().without_leading();
  const Shape shape = inner.with_leading(static_cast<std::int64_t>(indices.size()));
  if (!is_plain(block.dtype())) {
    std::vector<Tensor> rows;
    rows.reserve(indices.size());
    for (const std::int64_t i : indices) rows.push_back(block.row(i));
    return join(account, shape, rows, block.dtype(), ask);
  }
  SW_ASSIGN(Tensor out, make_tensor(account, block.dtype(), shape, ask));
  const std::size_t bytes = static_cast<std::size_t>(inner.count()) * size_of(block.dtype());
  std::byte* to = out.mutable_data();
  const std::byte* from = block.data();
  const auto copy_all = [&](auto fixed) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      std::memcpy(to + k * fixed(), from + static_cast<std::size_t>(indices[k]) * fixed(), fixed());
    }
  };
  // Fixed sizes let the compiler copy a scalar in one instruction.
  switch (bytes) {
    case 1:
      copy_all([] { return std::size_t{1}; });
      break;
    case 4:
      copy_all([] { return std::size_t{4}; });
      break;
    case 8:
      copy_all([] { return std::size_t{8}; });
      break;
    default: {
      constexpr std::size_t kAhead = 8;  // rows: hides the cache miss of a random row
      for (std::size_t k = 0; k < indices.size(); ++k) {
        if (k + kAhead < indices.size()) {
          const std::byte* next = from + static_cast<std::size_t>(indices[k + kAhead]) * bytes;
          for (std::size_t line = 0; line < bytes && line < 1024; line += 64) {
            __builtin_prefetch(next + line);
          }
        }
        std::memcpy(to + k * bytes, from + static_cast<std::size_t>(indices[k]) * bytes, bytes);
      }
    }
  }
  out.buffer()->touch();
  return out;
}

}  // namespace spillway
