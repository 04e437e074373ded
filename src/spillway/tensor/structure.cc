#include "spillway/tensor/structure.h"

#include <algorithm>

#include "spillway/tensor/class_name.h"

namespace spillway {

StructurePtr Structure::finish(Structure structure) {
  structure.components_ = structure.is_component() ? 1 : 0;
  if (!structure.is_component()) {
    for (const auto& child : structure.children_) structure.components_ += child->components_;
  }
  return std::make_shared<const Structure>(std::move(structure));
}

StructurePtr Structure::tensor(DType dtype, Shape shape) {
  Structure s;
  s.kind_ = Kind::kTensor;
  s.dtype_ = dtype;
  s.shape_ = std::move(shape);
  return finish(std::move(s));
}

StructurePtr Structure::tuple(std::vector<StructurePtr> children) {
  Structure s;
  s.kind_ = Kind::kTuple;
  s.children_ = std::move(children);
  return finish(std::move(s));
}

StructurePtr Structure::dict(std::vector<std::string> keys, std::vector<StructurePtr> children) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  Structure s;
  s.kind_ = Kind::kDict;
  for (const std::size_t i : order) {
    s.keys_.push_back(keys[i]);
    s.children_.push_back(children[i]);
  }
  return finish(std::move(s));
}

StructurePtr Structure::named(std::string type, std::vector<std::string> fields,
                              std::vector<StructurePtr> children) {
  Structure s;
  s.kind_ = Kind::kNamed;
  s.type_ = std::move(type);
  s.keys_ = std::move(fields);
  s.children_ = std::move(children);
  return finish(std::move(s));
}

StructurePtr Structure::none() { return finish(Structure()); }

StructurePtr Structure::dataset(StructurePtr element, Shape shape) {
  Structure s;
  s.kind_ = Kind::kDataset;
  s.dtype_ = DType::kVariant;
  s.shape_ = std::move(shape);
  if (element != nullptr) s.children_.push_back(std::move(element));
  return finish(std::move(s));
}

StructurePtr Structure::optional(StructurePtr element, Shape shape) {
  Structure s;
  s.kind_ = Kind::kOptional;
  s.dtype_ = DType::kVariant;
  s.shape_ = std::move(shape);
  if (element != nullptr) s.children_.push_back(std::move(element));
  return finish(std::move(s));
}

void Structure::collect(std::vector<const Structure*>& out) const {
  if (is_component()) {
    out.push_back(this);
    return;
  }
  for (const auto& child : children_) child->collect(out);
}

std::vector<const Structure*> Structure::leaves() const {
  std::vector<const Structure*> out;
  collect(out);
  return out;
}

StructurePtr Structure::map_leaves(const std::function<StructurePtr(const Structure&)>& fn) const {
  if (is_component()) return fn(*this);
  Structure copy = *this;
  for (auto& child : copy.children_) child = child->map_leaves(fn);
  return finish(std::move(copy));
}

bool Structure::same_nest(const Structure& other) const {
  if (is_component() && other.is_component()) return true;
  if (kind_ != other.kind_ || keys_ != other.keys_ || class_of(type_) != class_of(other.type_) ||
      children_.size() != other.children_.size()) {
    return false;
  }
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i]->same_nest(*other.children_[i])) return false;
  }
  return true;
}

bool Structure::operator==(const Structure& other) const {
  if (kind_ != other.kind_ || keys_ != other.keys_ || type_ != other.type_ ||
      children_.size() != other.children_.size()) {
    return false;
  }
  if (is_component() && (dtype_ != other.dtype_ || !(shape_ == other.shape_))) return false;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (!(*children_[i] == *other.children_[i])) return false;
  }
  return true;
}

bool Structure::accepts(const Structure& other) const {
  if (kind_ != other.kind_ || keys_ != other.keys_) return false;
  if (class_of(type_) != class_of(other.type_)) return false;
  if (is_component() && (dtype_ != other.dtype_ || !shape_.accepts(other.shape_))) return false;
  if (children_.empty() || other.children_.empty()) {
    return is_component() || children_.size() == other.children_.size();
  }
  if (children_.size() != other.children_.size()) return false;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i]->accepts(*other.children_[i])) return false;
  }
  return true;
}

std::int64_t Structure::static_bytes() const {
  std::int64_t total = 0;
  for (const Structure* leaf : leaves()) {
    if (!is_plain(leaf->dtype_) || !leaf->shape_.fully_known()) return -1;
    total += leaf->shape_.count() * static_cast<std::int64_t>(size_of(leaf->dtype_));
  }
  return total;
}

std::string Structure::to_string() const {
  const auto list = [this](const char* open, const char* close, const char* between) {
    std::string text = open;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (i > 0) text += ", ";
      if (!keys_.empty()) text += keys_[i] + between;
      text += children_[i]->to_string();
    }
    return text + close;
  };
  switch (kind_) {
    case Kind::kTensor:
      return "TensorSpec(shape=" + shape_.to_string() + ", dtype=" + std::string(name_of(dtype_)) +
             ")";
    case Kind::kTuple:
      return list("(", children_.size() == 1 ? ",)" : ")", "");
    case Kind::kDict:
      return list("{", "}", ": ");
    case Kind::kNamed:
      return std::string(class_of(type_).substr(class_of(type_).find_last_of(".:") + 1)) +
             list("(", ")", "=");
    case Kind::kNone:
      return "None";
    case Kind::kDataset:
      return list("DatasetSpec(", ")", "");
    case Kind::kOptional:
      return list("OptionalSpec(", ")", "");
  }
  return "?";
}

Result<StructurePtr> common_structure(const StructurePtr& a, const StructurePtr& b) {
  if (a == nullptr || b == nullptr) return StructurePtr();
  if (!a->same_nest(*b)) {
    return invalid_argument("elements must have the same structure: ", a->to_string(), " and ",
                            b->to_string());
  }
  const auto theirs = b->leaves();
  std::size_t at = 0;
  Status failed;
  StructurePtr out = a->map_leaves([&](const Structure& mine) -> StructurePtr {
    const Structure& other = *theirs[at++];
    if (mine.kind() != other.kind() || mine.dtype() != other.dtype()) {
      failed = invalid_argument("elements must have compatible types: ", mine.to_string(), " and ",
                                other.to_string());
    }
    const Shape shape = mine.shape().common(other.shape());
    if (mine.kind() == Structure::Kind::kTensor) return Structure::tensor(mine.dtype(), shape);
    StructurePtr inner;
    if (!mine.children().empty() && !other.children().empty()) {
      auto joined = common_structure(mine.children()[0], other.children()[0]);
      if (!joined.ok()) {
        failed = joined.error();
      } else {
        inner = joined.value();
      }
    }
    return mine.kind() == Structure::Kind::kDataset ? Structure::dataset(inner, shape)
                                                    : Structure::optional(inner, shape);
  });
  if (!failed.ok()) return failed;
  return out;
}

Status check_values(const Structure& structure, std::span<const Tensor> values) {
  const auto leaves = structure.leaves();
  if (leaves.size() != values.size()) {
    return invalid_argument("element must have ", leaves.size(), " components: ", values.size());
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i]->dtype() != values[i].dtype()) {
      return invalid_argument("component ", i, " must be of type ", name_of(leaves[i]->dtype()),
                              ": ", name_of(values[i].dtype()));
    }
    if (!leaves[i]->shape().accepts(values[i].shape())) {
      return invalid_argument("component ", i, " must have shape ", leaves[i]->shape().to_string(),
                              ": ", values[i].shape().to_string());
    }
  }
  return {};
}

StructurePtr observed(const Structure& structure, std::span<const Tensor> values) {
  std::size_t at = 0;
  return structure.map_leaves([&](const Structure& leaf) -> StructurePtr {
    const Tensor& value = values[at++];
    const StructurePtr inner = leaf.children().empty() ? nullptr : leaf.children()[0];
    switch (leaf.kind()) {
      case Structure::Kind::kDataset:
        return Structure::dataset(inner, value.shape());
      case Structure::Kind::kOptional:
        return Structure::optional(inner, value.shape());
      default:
        return Structure::tensor(value.dtype(), value.shape());
    }
  });
}

}  // namespace spillway
