#include <algorithm>

#include "spillway/io/arrow/batch.h"
#include "spillway/io/arrow/layout.h"

namespace spillway::arrow {
namespace {

using Kind = Type::Kind;

template <class... Parts>
Status malformed(const Type& type, const Parts&... parts) {
  return bad_data(Code::kInvalidArgument, "from_arrow: the array of column ",
                  type.path.empty() ? "?" : type.path, " is malformed: ", parts...);
}

Status check_offsets(const Type& type, const Array& array) {
  std::int64_t before = offset_at(type, array, 0);
  if (before < 0) return malformed(type, "offsets must not be negative: ", before);
  for (std::int64_t row = 1; row <= array.length; ++row) {
    const std::int64_t at = offset_at(type, array, row);
    if (at < before) return malformed(type, "offsets must not fall: ", at, " follows ", before);
    before = at;
  }
  return {};
}

Status check_views(const Type& type, const Array& array) {
  const std::int64_t buffers = array.n_buffers - 3;  // without validity, views and sizes
  const auto* sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
  for (std::int64_t row = 0; row < array.length; ++row) {
    if (is_null(array, row)) continue;
    const View& view = items<View>(array)[row];
    if (view.length >= 0 && view.length <= 12) continue;
    if (view.length < 0 || view.buffer < 0 || view.buffer >= buffers || view.offset < 0 ||
        std::int64_t{view.offset} + view.length > sizes[view.buffer]) {
      return malformed(type, "the view of row ", row, " leads out of its buffers");
    }
  }
  return {};
}

Status check_indices(const Type& type, const Array& array) {
  const std::int64_t most = array.dictionary->length;
  for (std::int64_t row = 0; row < array.length; ++row) {
    if (is_null(array, row)) continue;
    const std::int64_t index = index_at(type, array, row);
    if (index < 0 || index >= most) {
      return malformed(type, "index ", index, " in row ", row, " of a dictionary of ", most);
    }
  }
  return {};
}

Status check_children(const Type& type, const Array& array) {
  if (array.n_children != static_cast<std::int64_t>(type.children.size())) {
    return malformed(type, "expected ", type.children.size(), " children, found ",
                     array.n_children);
  }
  const std::int64_t need = child_row(type, array, array.length);
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    const Array& child = *array.children[i];
    if (child.length < need) {
      return malformed(type.children[i], "expected ", need, " rows, found ", child.length);
    }
    SW_RETURN_IF_ERROR(check_array(type.children[i], child));
  }
  return {};
}

std::int64_t buffers_of(const Type& type) {
  if (type.dictionary) return 2;
  switch (type.kind) {
    case Kind::kStruct:
    case Kind::kFixedList:
      return 1;
    case Kind::kString32:
    case Kind::kString64:
    case Kind::kStringView:
      return 3;
    default:
      return 2;
  }
}

}  // namespace

Status check_array(const Type& type, const Array& array) {
  if (array.length < 0 || array.offset < 0) return malformed(type, "a negative length");
  const std::int64_t buffers = buffers_of(type);
  if (array.n_buffers < buffers) {
    return malformed(type, "expected ", buffers, " buffers, found ", array.n_buffers);
  }
  if (buffers > 1 && array.length > 0 && array.buffers[1] == nullptr && type.size == 0) {
    return malformed(type, "it has no values");
  }
  if (type.dictionary) {
    if (array.dictionary == nullptr) return malformed(type, "it has no dictionary");
    Type values = type;
    values.dictionary = false;
    SW_RETURN_IF_ERROR(check_array(values, *array.dictionary));
    return check_indices(type, array);
  }
  if (type.kind == Kind::kStringView) return check_views(type, array);
  if (type.kind == Kind::kString32 || type.kind == Kind::kString64 || type.is_list()) {
    SW_RETURN_IF_ERROR(check_offsets(type, array));
  }
  const bool nested = type.is_list() || type.kind == Kind::kFixedList || type.kind == Kind::kStruct;
  return nested ? check_children(type, array) : Status();
}

std::size_t bytes_of(const Type& type, const Array& array) {
  const auto rows = static_cast<std::size_t>(array.length);
  if (type.dictionary) {
    Type values = type;
    values.dictionary = false;
    return rows * size_of(type.index) + bytes_of(values, *array.dictionary);
  }
  switch (type.kind) {
    case Kind::kPlain:
      return rows * size_of(type.dtype);
    case Kind::kWidened:
      return rows * sizeof(std::int32_t);
    case Kind::kBits:
      return rows / 8 + 1;
    case Kind::kFixedString:
      return rows * static_cast<std::size_t>(type.size);
    case Kind::kStringView: {
      std::size_t bytes = rows * sizeof(View);
      const auto* sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
      for (std::int64_t i = 0; i + 3 < array.n_buffers; ++i) {
        bytes += static_cast<std::size_t>(sizes[i]);
      }
      return bytes;
    }
    case Kind::kString32:
    case Kind::kString64:
      return (rows + 1) * sizeof(std::int64_t) +
             static_cast<std::size_t>(offset_at(type, array, array.length) -
                                      offset_at(type, array, 0));
    default: {
      std::size_t bytes = type.is_list() ? (rows + 1) * sizeof(std::int64_t) : 0;
      for (std::size_t i = 0; i < type.children.size(); ++i) {
        bytes += bytes_of(type.children[i], *array.children[i]);
      }
      return bytes;
    }
  }
}

std::optional<Null> first_null(const Type& type, const Array& array, std::int64_t begin,
                               std::int64_t count) {
  std::optional<Null> found;
  for (std::int64_t row = 0; has_nulls(array) && row < count && !found; ++row) {
    if (is_null(array, begin + row)) found = Null{row, &type};
  }
  if (type.dictionary && has_nulls(*array.dictionary)) {
    for (std::int64_t row = 0; row < (found ? found->row : count); ++row) {
      if (is_null(*array.dictionary, index_at(type, array, begin + row))) return Null{row, &type};
    }
  }
  if (type.dictionary) return found;
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    const std::int64_t rows = found ? found->row : count;
    const std::int64_t from = child_row(type, array, begin);
    const std::int64_t to = child_row(type, array, begin + rows);
    auto inner = first_null(type.children[i], *array.children[i], from, to - from);
    if (!inner) continue;
    std::int64_t row = inner->row;  // that of the list it belongs to
    if (type.kind == Kind::kFixedList) row /= type.size;
    if (type.is_list()) {
      row = 0;
      while (child_row(type, array, begin + row + 1) <= from + inner->row) ++row;
    }
    found = Null{row, type.kind == Kind::kStruct ? inner->column : &type};
  }
  return found;
}

}  // namespace spillway::arrow
