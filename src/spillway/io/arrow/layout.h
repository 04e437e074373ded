#pragma once

#include <string_view>

#include "spillway/io/arrow/type.h"

// Where values lie in an array. Rows are counted without the array's own offset, as the interface
// counts them for whoever holds the array.
namespace spillway::arrow {

inline bool has_nulls(const Array& array) {
  return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr;
}
inline bool bit_at(const void* bits, std::int64_t i) {
  const auto byte = static_cast<const std::uint8_t*>(bits)[i >> 3];
  return ((byte >> (static_cast<std::uint64_t>(i) & 7U)) & 1U) != 0;
}
inline bool is_null(const Array& array, std::int64_t row) {
  return has_nulls(array) && !bit_at(array.buffers[0], array.offset + row);
}

template <class T>
const T* items(const Array& array) {
  return static_cast<const T*>(array.buffers[1]) + array.offset;
}
// Begin of row `row` of a list or string; also for the row behind the last.
inline std::int64_t offset_at(const Type& type, const Array& array, std::int64_t row) {
  const bool wide = type.kind == Type::Kind::kList64 || type.kind == Type::Kind::kString64;
  if (array.length == 0) return 0;  // there need not be offsets
  return wide ? items<std::int64_t>(array)[row] : items<std::int32_t>(array)[row];
}

inline std::int64_t index_at(const Type& type, const Array& array, std::int64_t row) {
  switch (type.index) {
    case DType::kInt8:
      return items<std::int8_t>(array)[row];
    case DType::kUInt8:
      return items<std::uint8_t>(array)[row];
    case DType::kInt16:
      return items<std::int16_t>(array)[row];
    case DType::kUInt16:
      return items<std::uint16_t>(array)[row];
    case DType::kInt32:
      return items<std::int32_t>(array)[row];
    case DType::kUInt32:
      return items<std::uint32_t>(array)[row];
    default:
      return items<std::int64_t>(array)[row];
  }
}

// A string by its view: up to 12 bytes beside its length, or a place in one of the buffers.
struct View {
  std::int32_t length;
  char head[4];
  std::int32_t buffer;
  std::int32_t offset;
};
static_assert(sizeof(View) == 16);
inline std::string_view string_of(const Array& array, const View& view) {
  const auto length = static_cast<std::size_t>(view.length);
  if (length <= 12) return {view.head, length};
  return {static_cast<const char*>(array.buffers[2 + view.buffer]) + view.offset, length};
}

// The child of a list or struct whose rows `begin`, ... are those of the array's row `row`.
inline std::int64_t child_row(const Type& type, const Array& array, std::int64_t row) {
  if (type.is_list()) return offset_at(type, array, row);
  const std::int64_t at = array.offset + row;
  return type.kind == Type::Kind::kFixedList ? at * type.size : at;
}

}  // namespace spillway::arrow
