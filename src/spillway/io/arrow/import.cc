#include <algorithm>
#include <cstring>
#include <limits>

#include "spillway/io/arrow/batch.h"
#include "spillway/io/arrow/layout.h"

namespace spillway::arrow {
namespace {

using Kind = Type::Kind;

// Which of some rows are null, here or in what they are part of; empty: none.
using Missing = std::vector<bool>;

Missing missing_in(const Array& array, std::int64_t begin, std::int64_t count,
                   const Missing& above) {
  if (!has_nulls(array)) return above;
  Missing out = above;
  bool any = !out.empty();
  out.resize(static_cast<std::size_t>(count));
  for (std::int64_t row = 0; row < count; ++row) {
    if (!is_null(array, begin + row)) continue;
    out[static_cast<std::size_t>(row)] = true;
    any = true;
  }
  return any ? out : Missing();
}

// A value for a null, in every item of a row.
void write_missing(DType dtype, std::byte* to, std::size_t bytes) {
  std::memset(to, 0, bytes);
  const auto fill = [&]<class T>(T nan) {
    for (std::size_t at = 0; at < bytes; at += sizeof nan) std::memcpy(to + at, &nan, sizeof nan);
  };
  if (dtype == DType::kFloat16) fill(std::uint16_t{0x7e00});
  if (dtype == DType::kFloat32) fill(std::numeric_limits<float>::quiet_NaN());
  if (dtype == DType::kFloat64) fill(std::numeric_limits<double>::quiet_NaN());
}

class Importer {
 public:
  Importer(const AccountPtr& account, const BatchPtr& batch) : account_(account), batch_(batch) {}

  // Columns of rows [begin, begin + count) of an array, in the order of components.
  Status add(const Type& type, const Array& array, std::int64_t begin, std::int64_t count,
             const Missing& above, std::vector<Column>& out) {
    const Missing missing = missing_in(array, begin, count, above);
    if (type.kind == Kind::kStruct) {
      const std::int64_t from = child_row(type, array, begin);
      for (const std::size_t i : type.by_name()) {
        SW_RETURN_IF_ERROR(add(type.children[i], *array.children[i], from, count, missing, out));
      }
      return {};
    }
    if (type.is_list()) {
      SW_ASSIGN(auto rows, lists(type, array, begin, count, missing));
      out.emplace_back(std::move(rows));
      return {};
    }
    SW_ASSIGN(Tensor made, block(type, array, begin, count, missing));
    out.emplace_back(std::move(made));
    return {};
  }

 private:
  // One tensor a row, all of them slices of one.
  Result<std::vector<Tensor>> lists(const Type& type, const Array& array, std::int64_t begin,
                                    std::int64_t count, const Missing& missing) {
    const std::int64_t first = offset_at(type, array, begin);
    const std::int64_t last = offset_at(type, array, begin + count);
    const Type& item = type.children[0];
    const Array& items = *array.children[0];
    SW_ASSIGN(const Tensor all,
              block(item, items, first, last - first, missing_in(items, first, last - first, {})));
    std::vector<Tensor> rows;
    rows.reserve(static_cast<std::size_t>(count));
    for (std::int64_t row = 0; row < count; ++row) {
      const bool null = !missing.empty() && missing[static_cast<std::size_t>(row)];
      const std::int64_t from = offset_at(type, array, begin + row) - first;
      const std::int64_t to = offset_at(type, array, begin + row + 1) - first;
      rows.push_back(all.slice(from, null ? from : to));
    }
    return rows;
  }

  Result<Tensor> block(const Type& type, const Array& array, std::int64_t begin, std::int64_t count,
                       const Missing& missing) {
    if (type.dtype == DType::kString && type.kind != Kind::kFixedList) {
      return strings(type, array, begin, count, missing);
    }
    if (type.kind == Kind::kFixedList) return fixed_lists(type, array, begin, count, missing);
    if (type.dictionary) return looked_up(type, array, begin, count, missing);
    if (type.kind == Kind::kPlain && missing.empty()) {
      if (auto shown = show(type.dtype, array, begin, count)) return *std::move(shown);
    }
    SW_ASSIGN(Tensor out, make_tensor(account_, type.dtype, Shape{count}));
    copy(type, array, begin, count, out.mutable_data());
    return filled(std::move(out), missing);
  }

  // The numbers where they lie, if they are aligned.
  std::optional<Tensor> show(DType dtype, const Array& array, std::int64_t begin,
                             std::int64_t count) const {
    const std::size_t size = size_of(dtype);
    const auto* bytes = static_cast<const std::byte*>(array.buffers[1]);
    const auto* data = bytes + static_cast<std::size_t>(array.offset + begin) * size;
    if (bytes == nullptr || reinterpret_cast<std::uintptr_t>(data) % size != 0) return std::nullopt;
    return Tensor(dtype, Shape{count}, adopted(data, static_cast<std::size_t>(count) * size));
  }
  BufferPtr adopted(const void* data, std::size_t bytes) const {
    auto* begin = static_cast<std::byte*>(const_cast<void*>(data));  // nobody writes to it
    return std::make_shared<Buffer>(
        Buffer::adopt(begin, bytes, std::const_pointer_cast<Batch>(batch_)));
  }

  static void copy(const Type& type, const Array& array, std::int64_t begin, std::int64_t count,
                   std::byte* to) {
    if (count == 0) return;
    if (type.kind == Kind::kBits) {
      for (std::int64_t row = 0; row < count; ++row) {
        const bool set = bit_at(array.buffers[1], array.offset + begin + row);
        to[row] = static_cast<std::byte>(set);
      }
    } else if (type.kind == Kind::kWidened) {
      std::copy_n(items<std::int32_t>(array) + begin, count, reinterpret_cast<std::int64_t*>(to));
    } else {
      const std::size_t size = size_of(type.dtype);
      std::memcpy(to,
                  static_cast<const std::byte*>(array.buffers[1]) +
                      static_cast<std::size_t>(array.offset + begin) * size,
                  static_cast<std::size_t>(count) * size);
    }
  }

  static Tensor filled(Tensor block, const Missing& missing) {
    const std::size_t each =
        missing.empty() ? 0 : block.bytes() / std::max<std::size_t>(1, missing.size());
    for (std::size_t row = 0; row < missing.size(); ++row) {
      if (missing[row]) write_missing(block.dtype(), block.mutable_data() + row * each, each);
    }
    if (!block.buffer()->adopted()) block.buffer()->touch();
    return block;
  }

  Result<Tensor> fixed_lists(const Type& type, const Array& array, std::int64_t begin,
                             std::int64_t count, const Missing& missing) {
    const Type& item = type.children[0];
    const Array& values = *array.children[0];
    const std::int64_t from = child_row(type, array, begin);
    const std::int64_t all = count * type.size;
    SW_ASSIGN(Tensor inner, block(item, values, from, all, missing_in(values, from, all, {})));
    Tensor out = inner.reshaped(type.inner.with_leading(count));
    if (missing.empty()) return out;
    if (type.dtype == DType::kString) {
      return bad_data(Code::kInvalidArgument, "from_arrow: column ", type.path,
                      ": a list of strings of fixed size that is null cannot be filled");
    }
    SW_ASSIGN(Tensor own, compact(account_, out));
    return filled(std::move(own), missing);
  }

  Result<Tensor> looked_up(const Type& type, const Array& array, std::int64_t begin,
                           std::int64_t count, const Missing& missing) {
    Type values = type;
    values.dictionary = false;
    const Array& dictionary = *array.dictionary;
    SW_ASSIGN(const Tensor all, block(values, dictionary, 0, dictionary.length,
                                      missing_in(dictionary, 0, dictionary.length, {})));
    const std::size_t each = size_of(type.dtype) * static_cast<std::size_t>(type.inner.count());
    SW_ASSIGN(Tensor out, make_tensor(account_, type.dtype, type.inner.with_leading(count)));
    for (std::int64_t row = 0; row < count; ++row) {
      if (is_null(array, begin + row)) continue;
      const auto index = static_cast<std::size_t>(index_at(type, array, begin + row));
      std::memcpy(out.mutable_data() + static_cast<std::size_t>(row) * each,
                  all.data() + index * each, each);
    }
    return filled(std::move(out), missing);
  }

  Result<Tensor> strings(const Type& type, const Array& array, std::int64_t begin,
                         std::int64_t count, const Missing& missing) {
    const bool by_offsets = type.kind == Kind::kString32 || type.kind == Kind::kString64;
    if (by_offsets && !type.dictionary && missing.empty()) {
      return shown_strings(type, array, begin, count);
    }
    std::vector<std::string_view> found(static_cast<std::size_t>(count));
    for (std::int64_t row = 0; row < count; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (missing.empty() || !missing[at]) found[at] = string_at(type, array, begin + row);
    }
    return make_strings(account_, Shape{count}, found);
  }

  static std::string_view string_at(const Type& type, const Array& array, std::int64_t row) {
    if (type.dictionary) {
      const std::int64_t index = index_at(type, array, row);
      if (is_null(*array.dictionary, index)) return {};
      Type values = type;
      values.dictionary = false;
      return string_at(values, *array.dictionary, index);
    }
    if (type.kind == Kind::kStringView) return string_of(array, items<View>(array)[row]);
    if (type.kind == Kind::kFixedString) {
      const auto size = static_cast<std::size_t>(type.size);
      const auto* all = static_cast<const char*>(array.buffers[1]);
      return {all + static_cast<std::size_t>(array.offset + row) * size, size};
    }
    const std::int64_t from = offset_at(type, array, row);
    const auto size = static_cast<std::size_t>(offset_at(type, array, row + 1) - from);
    return {static_cast<const char*>(array.buffers[2]) + from, size};
  }

  // Their bytes where they lie, with offsets of ours.
  Result<Tensor> shown_strings(const Type& type, const Array& array, std::int64_t begin,
                               std::int64_t count) {
    SW_ASSIGN(const BufferPtr offsets,
              Buffer::share(account_, static_cast<std::size_t>(count + 1) * sizeof(std::int64_t),
                            Buffer::Ask::kRequired));
    auto* to = reinterpret_cast<std::int64_t*>(offsets->data());
    const std::int64_t first = count == 0 ? 0 : offset_at(type, array, begin);
    for (std::int64_t row = 0; row <= count; ++row) {
      to[row] = count == 0 ? 0 : offset_at(type, array, begin + row) - first;
    }
    offsets->touch();
    static const char kNothing = 0;
    const auto* bytes = static_cast<const char*>(array.buffers[2]);
    const void* data = bytes == nullptr ? &kNothing : bytes + first;
    return Tensor::of_strings(Shape{count},
                              {offsets, adopted(data, static_cast<std::size_t>(to[count]))});
  }

  const AccountPtr& account_;
  const BatchPtr& batch_;
};

}  // namespace

Result<std::vector<Column>> import_rows(const AccountPtr& account, const Type& type,
                                        const BatchPtr& batch, std::int64_t begin,
                                        std::int64_t count) {
  std::vector<Column> columns;
  SW_RETURN_IF_ERROR(Importer(account, batch).add(type, batch->array(), begin, count, {}, columns));
  return columns;
}

}  // namespace spillway::arrow
