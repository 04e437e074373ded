#pragma once

namespace spillway::graph {

// Numbers, the same for all items, that clip_by_value keeps items between: its loop's data where
// they are known.
template <class T>
struct Bounds {
  T low;
  T high;
  // What is not a number stays so.
  [[gnu::always_inline]] T between(T x) const {
    const T below = high < x ? high : x;
    return below < low ? low : below;
  }
};

}  // namespace spillway::graph
