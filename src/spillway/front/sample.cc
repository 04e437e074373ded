#include <algorithm>
#include <charconv>

#include "spillway/front/front_access.h"

namespace spillway {
namespace {

StructurePtr structure_of(const Array& value) {
  if (!value.status().ok()) return Structure::none();
  const Tensor& tensor = FrontAccess::tensor(value);
  return Structure::tensor(tensor.dtype(), tensor.shape());
}

// Dicts are flattened in the order of their sorted keys.
template <class T>
void sort_by_key(std::vector<std::pair<std::string, T>>& parts) {
  std::ranges::sort(parts, {}, [](const auto& part) -> const std::string& { return part.first; });
}

// The child that one step of a path names: a key, or a number in a tuple.
const Structure* child(const Structure& parent, std::string_view step, std::size_t& before) {
  std::size_t number = parent.children().size();
  if (parent.keys().empty()) {
    const auto end = std::from_chars(step.data(), step.data() + step.size(), number);
    if (end.ec != std::errc() || end.ptr != step.data() + step.size()) return nullptr;
  } else {
    number =
        static_cast<std::size_t>(std::ranges::find(parent.keys(), step) - parent.keys().begin());
  }
  if (parent.is_component() || number >= parent.children().size()) return nullptr;
  for (std::size_t i = 0; i < number; ++i) before += parent.children()[i]->components();
  return parent.children()[number].get();
}

std::string show(const Structure& structure, const Sample& sample, std::size_t& at) {
  if (structure.is_component()) return sample[at++].to_string();
  if (structure.kind() == Structure::Kind::kNone) return "None";
  const bool dict = structure.kind() == Structure::Kind::kDict;
  std::string text = dict ? "{" : "(";
  for (std::size_t i = 0; i < structure.children().size(); ++i) {
    if (i > 0) text += ", ";
    if (!structure.keys().empty()) text += structure.keys()[i] + ": ";
    text += show(*structure.children()[i], sample, at);
  }
  return text + (dict ? "}" : ")");
}

// A reference to say it with; the last miss of this thread.
template <class Asked>
const Array& missing(const Sample& sample, const Asked& asked) {
  thread_local Array none;
  none = FrontAccess::array(
      invalid_argument("sample ", sample.spec().to_string(), " must have a component: ", asked));
  return none;
}

}  // namespace

Spec Spec::tensor(std::string_view dtype, const std::vector<std::int64_t>& shape) {
  Spec out;
  if (const auto type = dtype_from_name(dtype)) {
    out.structure_ = Structure::tensor(*type, Shape(std::span<const std::int64_t>(shape)));
  } else {
    out.status_ = invalid_argument("spec: dtype must be one of the engine's: ", dtype);
  }
  return out;
}

Spec Spec::any_shape(std::string_view dtype) {
  Spec out = tensor(dtype);
  if (out.known())
    out.structure_ = Structure::tensor(out.structure_->dtype(), Shape::unknown_rank());
  return out;
}

namespace {

Status first_fault(const Spec& part) {
  if (!part.status().ok()) return part.status();
  return part.known() ? Status() : invalid_argument("spec: parts must be known");
}

}  // namespace

Spec Spec::tuple(const std::vector<Spec>& parts) {
  Spec out;
  std::vector<StructurePtr> children;
  for (const Spec& part : parts) {
    if (out.status_.ok()) out.status_ = first_fault(part);
    children.push_back(part.structure_);
  }
  if (out.status_.ok()) out.structure_ = Structure::tuple(std::move(children));
  return out;
}

Spec Spec::dict(std::vector<std::pair<std::string, Spec>> parts) {
  sort_by_key(parts);
  Spec out;
  std::vector<std::string> keys;
  std::vector<StructurePtr> children;
  for (auto& [key, part] : parts) {
    if (out.status_.ok()) out.status_ = first_fault(part);
    keys.push_back(std::move(key));
    children.push_back(part.structure_);
  }
  if (out.status_.ok()) out.structure_ = Structure::dict(std::move(keys), std::move(children));
  return out;
}

std::size_t Spec::components() const { return known() ? structure_->components() : 0; }

std::string Spec::to_string() const { return known() ? structure_->to_string() : "unknown"; }

bool Spec::operator==(const Spec& other) const {
  if (!known() || !other.known()) return known() == other.known();
  return *structure_ == *other.structure_;
}

Sample::Sample(Array value) : structure_(structure_of(value)) {
  values_.push_back(std::move(value));
}

Sample Sample::tuple(std::vector<Array> values) {
  std::vector<StructurePtr> children;
  children.reserve(values.size());
  for (const Array& value : values) children.push_back(structure_of(value));
  return FrontAccess::sample(Structure::tuple(std::move(children)), std::move(values));
}

Sample Sample::dict(std::vector<std::pair<std::string, Array>> values) {
  sort_by_key(values);
  std::vector<std::string> keys;
  std::vector<StructurePtr> children;
  std::vector<Array> arrays;
  for (auto& [key, value] : values) {
    keys.push_back(std::move(key));
    children.push_back(structure_of(value));
    arrays.push_back(std::move(value));
  }
  return FrontAccess::sample(Structure::dict(std::move(keys), std::move(children)),
                             std::move(arrays));
}

const Array& Sample::operator[](std::size_t component) const {
  return component < values_.size() ? values_[component] : missing(*this, component);
}

const Array& Sample::operator[](std::string_view path) const {
  const Structure* at = structure_.get();
  std::size_t component = 0;
  for (std::string_view rest = path; at != nullptr;) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    at = child(*at, rest.substr(0, slash), component);
    if (slash == rest.size()) break;
    rest.remove_prefix(slash + 1);
  }
  if (at == nullptr || !at->is_component()) return missing(*this, path);
  return (*this)[component];
}

Spec Sample::spec() const { return FrontAccess::spec(structure_); }

std::string Sample::to_string() const {
  std::size_t at = 0;
  return structure_ == nullptr ? "()" : show(*structure_, *this, at);
}

Result<std::vector<Tensor>> FrontAccess::tensors(const Sample& sample) {
  std::vector<Tensor> out;
  out.reserve(sample.size());
  for (const Array& value : sample.values_) {
    SW_RETURN_IF_ERROR(value.status());
    out.push_back(tensor(value));
  }
  return out;
}

}  // namespace spillway
