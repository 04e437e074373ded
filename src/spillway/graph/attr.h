#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spillway/tensor/tensor.h"

namespace spillway::graph {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

// A parameter of a node that is not a tensor.
using Attr = std::variant<std::monostate, bool, std::int64_t, double, std::string, DType, Shape,
                          std::vector<std::int64_t>, Tensor, GraphPtr, std::shared_ptr<const void>>;

// The parameters of a node by name. A name that is absent reads as not given.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string_view, Attr>> items) : items_(items) {}

  // `name` must outlive the node: names come from an op's definition.
  void set(std::string_view name, Attr value) { items_.emplace_back(name, std::move(value)); }
  bool has(std::string_view name) const {
    const Attr* found = find(name);
    return found != nullptr && found->index() != 0;
  }
  template <class T>
  const T* get(std::string_view name) const {
    const Attr* found = find(name);
    return found == nullptr ? nullptr : std::get_if<T>(found);
  }
  template <class T>
  T get_or(std::string_view name, T fallback) const {
    const T* found = get<T>(name);
    return found == nullptr ? std::move(fallback) : *found;
  }
  const std::vector<std::pair<std::string_view, Attr>>& items() const { return items_; }

 private:
  const Attr* find(std::string_view name) const {
    for (const auto& [key, value] : items_) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  std::vector<std::pair<std::string_view, Attr>> items_;
};

}  // namespace spillway::graph
