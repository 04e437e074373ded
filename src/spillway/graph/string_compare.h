#pragma once

#include "spillway/graph/strings.h"

namespace spillway::graph {

inline Status infer_string_compare(Infer& c) { return infer_string_pair(c, DType::kBool); }

template <bool kEqual>
Status compare_strings(Compute& c) {
  const Tensor& x = c.inputs[0];
  const Tensor& y = c.inputs[1];
  const auto shape = broadcast(x.shape(), y.shape());
  if (!shape) return incompatible(x.shape(), y.shape());
  SW_ASSIGN(Tensor out, c.make(DType::kBool, *shape));
  auto* to = reinterpret_cast<bool*>(out.mutable_data());
  const BroadcastIndex at_x(x.shape(), *shape);
  const BroadcastIndex at_y(y.shape(), *shape);
  Looks looks;
  for (std::int64_t i = 0; i < out.count() && !looks.abandoned(); ++i) {
    to[i] = (x.string_at(at_x(i)) == y.string_at(at_y(i))) == kEqual;
  }
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

}  // namespace spillway::graph
