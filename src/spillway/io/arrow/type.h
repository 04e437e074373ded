#pragma once

#include <string>
#include <vector>

#include "spillway/io/arrow/abi.h"
#include "spillway/tensor/structure.h"

namespace spillway::arrow {

// A field of a schema, and what its values become.
struct Type {
  enum class Kind : std::uint8_t {
    kPlain,        // numbers as they are
    kWidened,      // 32 bits of a date or time, as int64
    kBits,         // bools
    kString32,     // strings and binary by offsets of 32
    kString64,     // or 64 bits
    kStringView,   // or by views
    kFixedString,  // or of one length
    kFixedList,    // an inner dimension
    kList32,       // a tensor a row, of any length
    kList64,
    kStruct,  // a dict
  };
  Kind kind = Kind::kPlain;
  DType dtype = DType::kFloat32;  // of the items, through lists
  Shape inner;                    // of a value; lists have a leading dimension of any length
  std::int64_t size = 0;          // of kFixedString and kFixedList
  std::string path;               // "point.x", for errors
  std::vector<Type> children;     // kStruct: in the schema's order
  std::vector<std::string> names;
  DType index = DType::kInt32;  // of a dictionary's indices
  bool dictionary = false;      // values stand in the dictionary

  bool is_list() const { return kind == Kind::kList32 || kind == Kind::kList64; }
  StructurePtr structure() const;
  // Children of a struct in the order of its keys, which is that of components.
  std::vector<std::size_t> by_name() const;
};

// What a stream's schema means: a struct whose fields are the columns. What has no tensor
// (decimals, maps, unions, lists of lists, ...) is refused with the column's name and its format.
Result<Type> type_of(const Schema& schema);

}  // namespace spillway::arrow
