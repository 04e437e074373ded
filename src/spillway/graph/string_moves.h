#pragma once

#include "spillway/graph/op.h"

// Ops that move items, for strings: the plain op moves the places of the strings instead.
namespace spillway::graph {

// As `plain` infers for integers; what it moves are strings.
Status infer_moved_strings(Infer& c, const OpDef& plain);
// Runs `plain` on the numbers 0, 1, ... of all string operands' items, then takes the strings.
Status move_strings(Compute& c, const OpDef& plain);

// The op for strings that goes with one on plain bytes. Every output holds moved items.
template <const OpDef& kPlain>
constexpr OpDef string_twin(std::string_view name) {
  return {.name = name,
          .summary = kPlain.summary,
          .params = kPlain.params,
          .outputs = kPlain.outputs,
          .effect = kPlain.effect,
          .infer = [](Infer& c) { return infer_moved_strings(c, kPlain); },
          .compute = [](Compute& c) { return move_strings(c, kPlain); }};
}

}  // namespace spillway::graph
