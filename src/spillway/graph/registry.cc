#include <algorithm>
#include <unordered_map>

#include "spillway/graph/op.h"

namespace spillway::graph {

#define SW_OP(name) extern const OpDef name##_op;
#include "registered_graph_ops.inc"
#undef SW_OP

std::span<const OpDef* const> all_ops() {
#define SW_OP(name) &name##_op,
  static constexpr const OpDef* kAll[] = {
#include "registered_graph_ops.inc"
  };
#undef SW_OP
  return kAll;
}

const OpDef* find_op(std::string_view name) {
  static const auto& by_name = *new std::unordered_map<std::string_view, const OpDef*>([] {
    std::unordered_map<std::string_view, const OpDef*> all;
    for (const OpDef* op : all_ops()) all[op->name] = op;
    return all;
  }());
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace spillway::graph
