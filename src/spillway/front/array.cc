#include <charconv>
#include <cstring>

#include "spillway/front/front_access.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

// Smaller arrays live on the program's own heap: the ledger's lock would cost more than their
// bytes.
constexpr std::size_t kCharged = 4096;

Result<Tensor> make_room(DType dtype, const Shape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.count()) * size_of(dtype);
  if (bytes < kCharged) {
    const std::shared_ptr<std::byte[]> heap(new std::byte[bytes]);
    return Tensor(dtype, shape, std::make_shared<Buffer>(Buffer::adopt(heap.get(), bytes, heap)));
  }
  // In a user function the stage pays, and nobody may wait (R12).
  if (const AccountPtr* stage = UserCodeScope::current()) {
    return make_tensor(*stage, dtype, shape, Buffer::Ask::kOwed);
  }
  static const auto& account = *new AccountPtr(Budget::process().open_account("arrays"));
  return make_tensor(account, dtype, shape, Buffer::Ask::kRequired);
}

Result<Shape> known_shape(std::span<const std::int64_t> dims, std::size_t item) {
  std::int64_t count = 1;
  std::int64_t bytes = 0;
  Shape shape(dims);
  for (const std::int64_t dim : dims) {
    if (dim < 0) return invalid_argument("array: dimensions must be known: ", shape.to_string());
    if (__builtin_mul_overflow(count, dim, &count) ||
        __builtin_mul_overflow(count, static_cast<std::int64_t>(item), &bytes)) {
      return invalid_argument("array: the shape must fit the address space: ", shape.to_string());
    }
  }
  return shape;
}

const AccountPtr& text_account() {
  static const auto& account = *new AccountPtr(Budget::process().open_account("strings"));
  const AccountPtr* stage = UserCodeScope::current();
  return stage != nullptr ? *stage : account;
}

Array text_array(const Shape& shape, std::span<const std::string_view> items) {
  auto made = make_strings(text_account(), shape, items, Buffer::Ask::kOwed);
  if (!made.ok()) return FrontAccess::array(std::move(made).status());
  return FrontAccess::array(std::move(made).value());
}

template <class T>
std::string shortest(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string show_item(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::kString) return "'" + std::string(tensor.string_at(i)) + "'";
  if (tensor.dtype() == DType::kVariant) return "<" + tensor.variant_at(i)->describe() + ">";
  const std::byte* at = tensor.data() + static_cast<std::size_t>(i) * size_of(tensor.dtype());
  switch (tensor.dtype()) {
    case DType::kInt64:
      return shortest<std::int64_t>(at);
    case DType::kInt32:
      return shortest<std::int32_t>(at);
    case DType::kInt16:
      return shortest<std::int16_t>(at);
    case DType::kInt8:
      return shortest<std::int8_t>(at);
    case DType::kUInt64:
      return shortest<std::uint64_t>(at);
    case DType::kUInt32:
      return shortest<std::uint32_t>(at);
    case DType::kUInt16:
      return shortest<std::uint16_t>(at);
    case DType::kUInt8:
      return shortest<std::uint8_t>(at);
    case DType::kFloat32:
      return shortest<float>(at);
    case DType::kFloat64:
      return shortest<double>(at);
    case DType::kBool:
      return *at != std::byte{0} ? "True" : "False";
    default:
      return "?";
  }
}

std::string show(const Tensor& tensor) {
  if (tensor.shape().rank() == 0) return show_item(tensor, 0);
  std::string text = "[";
  for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) {
    text += (i > 0 ? " " : "") + show(tensor.row(i));
  }
  return text + "]";
}

// Arrays that show one buffer may come and go on several threads.
Mutex& exports_mutex() {
  static auto& mutex = *new Mutex;
  return mutex;
}

}  // namespace

ArrayData::~ArrayData() {
  if (!exported_) return;
  const MutexLock lock(exports_mutex());
  tensor.buffer()->note_exported(false);
}

void ArrayData::mark_exported() {
  const MutexLock lock(exports_mutex());
  exported_ = true;
  tensor.buffer()->note_exported(true);
}

Array::Array(std::string_view text) : Array(text_array(Shape(), {&text, 1})) {}

Array Array::of(const std::vector<std::string>& values) {
  const std::vector<std::string_view> items(values.begin(), values.end());
  return text_array(Shape{static_cast<std::int64_t>(items.size())}, items);
}

Array Array::room(std::string_view dtype, std::span<const std::int64_t> shape) {
  const DType type = dtype_from_name(dtype).value_or(DType::kUInt8);
  auto known = known_shape(shape, size_of(type));
  if (!known.ok()) return FrontAccess::array(std::move(known).status());
  auto made = make_room(type, known.value());
  if (!made.ok()) return FrontAccess::array(std::move(made).status());
  made.value().buffer()->touch();
  return FrontAccess::array(std::move(made).value());
}

Array Array::copy_of(std::string_view dtype, std::span<const std::int64_t> shape, const void* items,
                     std::size_t count) {
  Array out = room(dtype, shape);
  if (!out.status().ok()) return out;
  const Tensor& tensor = FrontAccess::tensor(out);
  if (tensor.count() != static_cast<std::int64_t>(count)) {
    return FrontAccess::array(invalid_argument("array: shape ", tensor.shape().to_string(),
                                               " must hold all items: ", count));
  }
  if (count > 0) std::memcpy(out.bytes(), items, tensor.bytes());
  return out;
}

Status Array::status() const {
  if (data_ == nullptr) return invalid_argument("array: has no value");
  return data_->status;
}

std::string_view Array::dtype() const {
  return status().ok() ? name_of(data_->tensor.dtype()) : std::string_view();
}

std::span<const std::int64_t> Array::shape() const {
  if (!status().ok()) return {};
  return data_->tensor.shape().dims();
}

std::int64_t Array::size() const { return status().ok() ? data_->tensor.count() : 0; }

Status Array::check_dtype(std::string_view wanted) const {
  if (Status none = status(); !none.ok()) return none;
  const std::string_view own = name_of(data_->tensor.dtype());
  if (own == wanted) return {};
  return invalid_argument("array: asked for ", wanted, ", its items are ", own);
}

Status Array::check_item(std::string_view wanted, std::int64_t i) const {
  SW_RETURN_IF_ERROR(check_dtype(wanted));
  if (i >= 0 && i < data_->tensor.count()) return {};
  return invalid_argument("array: item must be one of ", data_->tensor.count(), ": ", i);
}

Result<std::string_view> Array::text(std::int64_t i) const {
  SW_RETURN_IF_ERROR(check_item(name_of(DType::kString), i));
  return data_->tensor.string_at(i);
}

std::string Array::to_string() const { return status().ok() ? show(data_->tensor) : "<no value>"; }

const void* Array::bytes() const { return data_->tensor.data(); }

// Only room() and copy_of() write, before they hand the array out.
void* Array::bytes() { return const_cast<std::byte*>(data_->tensor.data()); }

}  // namespace spillway
