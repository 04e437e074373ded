#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spillway/base/status.h"
#include "spillway/tensor/dtype.h"
#include "spillway/tensor/shape.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

class Structure;
using StructurePtr = std::shared_ptr<const Structure>;  // null: not known yet

// What an element looks like: a tree of tuples and dicts whose leaves are specs. Immutable.
// An element's values are kept flat, one *component* a leaf, in the order of the leaves; dict keys
// are sorted, as TensorFlow flattens them. None is a leaf without a component.
class Structure {
 public:
  enum class Kind : std::uint8_t { kTensor, kTuple, kDict, kNamed, kNone, kDataset, kOptional };

  static StructurePtr tensor(DType dtype, Shape shape);
  static StructurePtr tuple(std::vector<StructurePtr> children);
  static StructurePtr dict(std::vector<std::string> keys, std::vector<StructurePtr> children);
  // A namedtuple, dataclass or attrs class; the front finds the class by its name.
  static StructurePtr named(std::string type, std::vector<std::string> fields,
                            std::vector<StructurePtr> children);
  static StructurePtr none();
  static StructurePtr dataset(StructurePtr element, Shape shape = {});
  static StructurePtr optional(StructurePtr element, Shape shape = {});

  Kind kind() const { return kind_; }
  DType dtype() const { return dtype_; }  // kVariant for datasets and Optionals
  const Shape& shape() const { return shape_; }
  const std::vector<std::string>& keys() const { return keys_; }
  const std::string& type() const { return type_; }
  const std::vector<StructurePtr>& children() const { return children_; }  // dataset: its element
  bool is_component() const {
    return kind_ == Kind::kTensor || kind_ == Kind::kDataset || kind_ == Kind::kOptional;
  }

  std::size_t components() const { return components_; }
  // The leaves that have a component, in order.
  std::vector<const Structure*> leaves() const;
  // The same tree with each component leaf replaced; order as leaves().
  StructurePtr map_leaves(const std::function<StructurePtr(const Structure&)>& fn) const;
  // Every leaf has the same dtype and shape.
  bool operator==(const Structure& other) const;
  // Same tree, leaf dtypes equal, shapes accept the other's.
  bool accepts(const Structure& other) const;
  bool same_nest(const Structure& other) const;  // ignoring leaves' dtype and shape
  // Bytes of one element when all shapes are static and plain; -1 otherwise.
  std::int64_t static_bytes() const;
  std::string to_string() const;

 private:
  Structure() = default;
  static StructurePtr finish(Structure structure);
  void collect(std::vector<const Structure*>& out) const;

  Kind kind_ = Kind::kNone;
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::vector<std::string> keys_;
  std::string type_;
  std::vector<StructurePtr> children_;
  std::size_t components_ = 0;
};

// The most specific structure that accepts both; kUser error naming the first difference.
Result<StructurePtr> common_structure(const StructurePtr& a, const StructurePtr& b);
// Whether one element's values fit: counts, dtypes, shapes.
Status check_values(const Structure& structure, std::span<const Tensor> values);
// The structure with every leaf's shape as in `values`.
StructurePtr observed(const Structure& structure, std::span<const Tensor> values);

// A constant element: a structure with its values.
struct Element {
  StructurePtr structure;
  std::vector<Tensor> values;
};
using ElementPtr = std::shared_ptr<const Element>;

}  // namespace spillway
