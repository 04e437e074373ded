#pragma once

#include <map>
#include <memory>
#include <optional>

#include "spillway/io/arrow/type.h"
#include "spillway/tensor/chunk.h"

namespace spillway::arrow {

// A record batch that somebody made. Columns show its memory where it lies; it is released, on any
// thread, when the last of them is gone. What was reserved for it goes with it.
class Batch {
 public:
  Batch(Owned<Array> array, Reservation charged)
      : array_(std::move(array)), charged_(std::move(charged)) {}
  const Array& array() const { return *array_; }
  std::int64_t rows() const { return array_->length; }

 private:
  const Owned<Array> array_;
  const Reservation charged_;
};
using BatchPtr = std::shared_ptr<const Batch>;

// Whether an array is what its schema says: buffers and children that are there and long enough,
// offsets and views that stay within what can be known of them (the bytes of strings have no length
// in the interface). Before anything else is asked of it.
Status check_array(const Type& type, const Array& array);

// About how many bytes its buffers have.
std::size_t bytes_of(const Type& type, const Array& array);

// The first of some rows that has a null anywhere, and in which column.
struct Null {
  std::int64_t row = 0;  // counted from `begin`
  const Type* column = nullptr;
};
std::optional<Null> first_null(const Type& type, const Array& array, std::int64_t begin,
                               std::int64_t count);

// Rows of a batch as columns, one a component of type.structure(). Numbers, and the bytes of
// strings, are shown where they lie; what has to be made anew is charged to `account`. Nulls become
// NaN, zero, False, an empty string or an empty list.
Result<std::vector<Column>> import_rows(const AccountPtr& account, const Type& type,
                                        const BatchPtr& batch, std::int64_t begin,
                                        std::int64_t count);

}  // namespace spillway::arrow
