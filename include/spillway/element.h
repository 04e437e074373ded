#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spillway/errors.h"

// What datasets are made of: an `Array` is one n-dimensional value, a `Sample` one element (an
// array, or a tuple or dict of them), a `Spec` what samples look like. All three are handles that
// share what they name: copies are cheap, nothing changes after it was made, and any thread may use
// them. None of their functions throws; what could not be made says so in status().
namespace spillway {

class Structure;
class FrontAccess;
struct ArrayData;

// The types of C++ that an array's items may have.
template <class T>
concept Number =
    (std::integral<T> || std::same_as<T, float> || std::same_as<T, double>) &&
    !std::same_as<T, char> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
    !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && std::same_as<T, std::decay_t<T>>;

// "int64", "float32", "bool" ...: names as NumPy and TensorFlow have them.
template <Number T>
constexpr std::string_view dtype_of() {
  if constexpr (std::same_as<T, bool>) return "bool";
  if constexpr (std::same_as<T, float>) return "float32";
  if constexpr (std::same_as<T, double>) return "float64";
  constexpr std::string_view kNames[] = {"int8",  "int16",  "int32",  "int64",
                                         "uint8", "uint16", "uint32", "uint64"};
  constexpr int kSize = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return kNames[kSize + (std::is_signed_v<T> ? 0 : 4)];
}

class Array {
 public:
  Array() = default;  // no value

  // Scalars.
  template <Number T>
  Array(T value) : Array(copy_of(dtype_of<T>(), {}, &value, 1)) {}
  Array(std::string_view text);
  Array(const char* text) : Array(std::string_view(text)) {}
  Array(const std::string& text) : Array(std::string_view(text)) {}

  // A copy of `values`, in row-major order; without a shape, one dimension.
  template <Number T>
  static Array of(std::span<const T> values, std::span<const std::int64_t> shape) {
    return copy_of(dtype_of<T>(), shape, values.data(), values.size());
  }
  template <Number T>
  static Array of(const std::vector<T>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return of(std::span<const T>(values), {&count, 1});
  }
  template <Number T>
  static Array of(const std::vector<T>& values, const std::vector<std::int64_t>& shape) {
    return of(std::span<const T>(values), std::span<const std::int64_t>(shape));
  }
  static Array of(const std::vector<std::string>& values);

  // Room for `shape`, filled in place by `fill(std::span<T>)` before anyone else sees it. Not
  // called when there is no room.
  template <Number T, std::invocable<std::span<T>> Fill>
  static Array filled(const std::vector<std::int64_t>& shape, Fill&& fill) {
    Array out = room(dtype_of<T>(), shape);
    if (out.status().ok()) {
      fill(std::span<T>(static_cast<T*>(out.bytes()), static_cast<std::size_t>(out.size())));
    }
    return out;
  }

  // Why there is no value; ok when there is one.
  Status status() const;
  std::string_view dtype() const;  // "" without a value
  std::span<const std::int64_t> shape() const;
  std::int64_t size() const;  // items

  // The items in row-major order; an error when they are of another type.
  template <Number T>
  Result<std::span<const T>> values() const {
    if (Status status = check_dtype(dtype_of<T>()); !status.ok()) return status;
    return std::span<const T>(static_cast<const T*>(bytes()), static_cast<std::size_t>(size()));
  }
  template <Number T>
  Result<T> item(std::int64_t i = 0) const {
    if (Status status = check_item(dtype_of<T>(), i); !status.ok()) return status;
    return static_cast<const T*>(bytes())[i];
  }
  Result<std::string_view> text(std::int64_t i = 0) const;  // lives as long as the array

  std::string to_string() const;  // "7", "[1 2 3]", "'a'"

 private:
  friend class FrontAccess;
  explicit Array(std::shared_ptr<const ArrayData> data) : data_(std::move(data)) {}
  static Array copy_of(std::string_view dtype, std::span<const std::int64_t> shape,
                       const void* items, std::size_t count);
  static Array room(std::string_view dtype, std::span<const std::int64_t> shape);
  Status check_dtype(std::string_view wanted) const;
  Status check_item(std::string_view wanted, std::int64_t i) const;
  const void* bytes() const;
  void* bytes();

  std::shared_ptr<const ArrayData> data_;
};

class Spec {
 public:
  Spec() = default;  // not known before the first element

  // -1: a dimension that may vary.
  static Spec tensor(std::string_view dtype, const std::vector<std::int64_t>& shape = {});
  template <Number T>
  static Spec of(const std::vector<std::int64_t>& shape = {}) {
    return tensor(dtype_of<T>(), shape);
  }
  static Spec any_shape(std::string_view dtype);
  static Spec tuple(const std::vector<Spec>& parts);
  static Spec dict(std::vector<std::pair<std::string, Spec>> parts);

  Status status() const { return status_; }
  bool known() const { return structure_ != nullptr; }
  std::size_t components() const;
  std::string to_string() const;
  bool operator==(const Spec& other) const;

 private:
  friend class FrontAccess;
  std::shared_ptr<const Structure> structure_;
  Status status_;
};

class Sample {
 public:
  Sample() = default;
  Sample(Array value);
  static Sample tuple(std::vector<Array> values);
  static Sample dict(std::vector<std::pair<std::string, Array>> values);

  // The arrays, numbered through all nesting; those of a dict in the order of its sorted keys.
  std::size_t size() const { return values_.size(); }
  // One that is not there has no value, and a status that says so.
  const Array& operator[](std::size_t component) const;
  // By key of the dict; deeper ones as "image/pixels", members of tuples by number.
  const Array& operator[](std::string_view path) const;

  // A scalar: its only item.
  template <Number T>
  Result<T> get(std::size_t component = 0) const {
    return (*this)[component].template item<T>();
  }
  template <Number T>
  Result<T> get(std::string_view path) const {
    return (*this)[path].template item<T>();
  }

  Spec spec() const;
  std::string to_string() const;  // "([1 2], 'a')", "{x: 1}"

 private:
  friend class FrontAccess;
  std::vector<Array> values_;
  std::shared_ptr<const Structure> structure_;
};

}  // namespace spillway
