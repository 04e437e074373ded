#pragma once

#include "spillway/graph/reduction.h"

namespace spillway::graph {

// Sums of items and of their squares, both from the first item on, so that a large mean costs no
// digits.
struct Moments {
  double origin = 0;
  double sum = 0;
  double squares = 0;
  double count = 0;

  double variance() const {
    const double mean = sum / count;
    const double found = squares / count - mean * mean;
    return found < 0 ? 0 : found;  // NaN stays: of no items, there is none
  }
};

struct MomentsOp {
  template <class A>
  static A start() {
    return {};
  }
  template <class T>
  [[gnu::always_inline]] static inline Moments take(Moments acc, T item) {
    const auto x = static_cast<double>(widen(item));
    if (acc.count == 0) acc.origin = x;
    const double d = x - acc.origin;
    return {acc.origin, acc.sum + d, acc.squares + d * d, acc.count + 1};
  }
  static Moments join(Moments a, Moments b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const double d = b.origin - a.origin;
    return {a.origin, a.sum + b.sum + b.count * d,
            a.squares + b.squares + 2 * d * b.sum + b.count * d * d, a.count + b.count};
  }
};

}  // namespace spillway::graph
