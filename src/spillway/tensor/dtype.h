#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

// TensorFlow's types that NumPy or ml_dtypes has, plus strings and variants (datasets, Optionals).
// The engine moves them as bytes; only strings and variants are not plain old data.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kInt32,
  kUInt8,
  kInt16,
  kInt8,
  kString,
  kComplex64,
  kInt64,
  kBool,
  kBFloat16,
  kUInt16,
  kComplex128,
  kFloat16,
  kUInt32,
  kUInt64,
  kVariant,
  kFloat8E5M2,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E4M3B11FNUZ,
  kFloat8E5M2FNUZ,
  kInt4,
  kUInt4,
  kInt2,
  kUInt2,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::kUInt2) + 1;

std::string_view name_of(DType dtype);  // TensorFlow's: "int64", "string", "bfloat16"
std::optional<DType> dtype_from_name(std::string_view name);
std::size_t size_of(DType dtype);  // bytes an item; 0 for strings and variants
inline bool is_plain(DType d) { return d != DType::kString && d != DType::kVariant; }
bool is_integer(DType dtype);
bool is_floating(DType dtype);

}  // namespace spillway
