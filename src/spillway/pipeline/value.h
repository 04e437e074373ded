#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spillway/pipeline/function.h"

namespace spillway {

// Something of the front's that the engine only carries: a generator, its arguments.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string describe() const = 0;
};
using ObjectPtr = std::shared_ptr<Object>;

struct ValueList;

// A parameter of an operator.
using Value = std::variant<std::monostate,  // None
                           bool, std::int64_t, double, std::string,
                           StructurePtr,  // a nest of specs
                           ElementPtr,    // a nest of tensors
                           FunctionPtr, ObjectPtr, std::shared_ptr<const ValueList>>;
struct ValueList {
  std::vector<Value> items;
};
inline bool is_none(const Value& value) { return value.index() == 0; }

enum class ParamType : std::uint8_t {
  kInt,  // also from an integer tensor
  kFloat,
  kBool,
  kString,
  kElement,    // nest of arrays -> ElementPtr
  kSlices,     // the same, lists become tensors (from_tensor_slices)
  kSignature,  // nest of specs -> StructurePtr
  kFunction,
  kDataset,   // becomes an input, not a parameter
  kDatasets,  // a list (or nest) of datasets, all of them inputs
  kInts,      // an int or a list of ints -> ValueList
  kShapes,    // nest of shapes (None: unknown) -> StructurePtr with dtype ignored
  kObject,
};
std::string_view to_string(ParamType type);

// One parameter in an operator's definition: the front's signature, the docs, the hash and the
// CLI are derived from it.
struct ParamDef {
  std::string_view name;
  ParamType type;
  std::string_view fallback;  // default as Python writes it: "None", "1", "False"; empty: required
  std::string_view doc;
  bool tuning = false;  // changes speed or safety, never results: left out of the hash
};

}  // namespace spillway
