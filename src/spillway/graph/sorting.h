#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "spillway/base/interrupt.h"
#include "spillway/graph/moves.h"

// What the ops that sort along an axis share.
namespace spillway::graph {

// NaN comes last either way: an order TensorFlow leaves open.
template <class T>
struct Before {
  bool descending;
  bool operator()(const T& a, const T& b) const {
    const Wide<T> x = widen(a);
    const Wide<T> y = widen(b);
    if (not_a_number(x) || not_a_number(y)) return !not_a_number(x);
    return descending ? y < x : x < y;
  }
};

// The places of the first k of n items in order; of equal items, the first comes first.
template <class T>
void places_in_order(const T* items, std::int64_t stride, std::int32_t* places, std::int64_t n,
                     std::int64_t k, bool descending) {
  const Before<T> before{descending};
  std::iota(places, places + n, 0);
  std::partial_sort(places, places + k, places + n, [&](std::int32_t a, std::int32_t b) {
    const T& x = items[a * stride];
    const T& y = items[b * stride];
    if (before(x, y)) return true;
    return !before(y, x) && a < b;
  });
}

inline Result<bool> is_descending(const Attrs& attrs) {
  const std::string direction = attrs.get_or<std::string>("direction", "ASCENDING");
  if (direction == "DESCENDING") return true;
  if (direction == "ASCENDING") return false;
  Status status = invalid_argument("Argument `direction` should be one of ASCENDING, DESCENDING. ",
                                   "Received: direction=", direction);
  status.edit().type = "ValueError";
  return status;
}

// Checks what sort and argsort are given; the output has the input's shape.
inline Status infer_sorted(Infer& c, DType out) {
  if (!is_one_of(RealTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_ASSIGN([[maybe_unused]] const bool descending, is_descending(c.attrs()));
  const Shape& in = c.input(0).shape;
  if (in.has_rank()) {
    SW_ASSIGN([[maybe_unused]] const int axis,
              resolve_axis(c.attrs().get_or<std::int64_t>("axis", -1), in.rank()));
  }
  c.set(0, out, in);
  return {};
}

}  // namespace spillway::graph
