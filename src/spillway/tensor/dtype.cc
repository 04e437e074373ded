#include "spillway/tensor/dtype.h"

namespace spillway {
namespace {

struct Entry {
  std::string_view name;
  std::size_t size;
};
// In the order of the enumeration.
constexpr Entry kEntries[kDTypeCount] = {
    {"float32", 4},
    {"float64", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"bfloat16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"float16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"variant", 0},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},  // one byte an item, as ml_dtypes stores them
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
};

}  // namespace

std::string_view name_of(DType dtype) { return kEntries[static_cast<int>(dtype)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kEntries[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) { return kEntries[static_cast<int>(dtype)].size; }

bool is_integer(DType dtype) {
  const std::string_view name = name_of(dtype);
  return name.starts_with("int") || name.starts_with("uint");
}

bool is_floating(DType dtype) {
  const std::string_view name = name_of(dtype);
  return name.starts_with("float") || name.starts_with("bfloat");
}

}  // namespace spillway
