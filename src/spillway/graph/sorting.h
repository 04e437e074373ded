#pragma once

#include <algorithm>
#include <array>
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

// ---- Sorts that look now and then whether the work was abandoned: then the order is any.

// Moves the items for which `first(item)` is true before the others; how many there are. Without a
// branch, since nobody can predict them.
template <class T, class First>
std::int64_t divide(T* items, std::int64_t n, First first) {
  std::int64_t front = 0;
  in_stretches(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T item = items[i];
      items[i] = items[front];
      items[front] = item;
      front += first(item) ? 1 : 0;
    }
  });
  return front;
}

// An item near the middle of their order.
template <class T, class Less>
T some_middle(const T* items, std::int64_t n, Less less) {
  constexpr std::uint64_t kSample = 63;
  std::array<T, kSample> sample{};
  for (std::uint64_t i = 0; i < kSample; ++i) {
    const std::uint64_t scattered = (i + 1) * 0x9E3779B97F4A7C15U;  // a pattern meets none of it
    sample[i] = items[(scattered >> 1U) % static_cast<std::uint64_t>(n)];
  }
  std::nth_element(sample.begin(), sample.begin() + kSample / 2, sample.end(), less);
  return sample[kSample / 2];
}

// The first k of n items come to the front, in order.
template <class T, class Less>
void sort_first(T* items, std::int64_t n, std::int64_t k, Less less) {
  if (n <= Looks::kItems) {
    if (k == n) return std::sort(items, items + n, less);
    return std::partial_sort(items, items + k, items + n, less);
  }
  if (k <= n / 64) {  // few: a heap of the first that were met
    std::make_heap(items, items + k, less);
    in_stretches(n - k, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = k + begin; i < k + end && k > 0; ++i) {
        if (!less(items[i], items[0])) continue;
        std::pop_heap(items, items + k, less);
        std::swap(items[k - 1], items[i]);
        std::push_heap(items, items + k, less);
      }
    });
    return sort_first(items, k, k, less);
  }
  while (k > 0 && n > Looks::kItems) {
    if (abandoned()) return;
    const T middle = some_middle(items, n, less);
    const std::int64_t front = divide(items, n, [&](const T& item) { return less(item, middle); });
    std::int64_t back = front;  // where items begin that come behind `middle`
    if (front < n / 16) {       // many equal ones, or none before it: it would go on for ever
      back += divide(items + front, n - front, [&](const T& x) { return !less(middle, x); });
    }
    // The shorter side first, by a call: so calls nest no deeper than the logarithm of n.
    if (front <= n - back) {
      sort_first(items, front, std::min(front, k), less);
      items += back;
      k -= std::min(k, back);
      n -= back;
    } else {
      if (k > back) sort_first(items + back, n - back, k - back, less);
      k = std::min(k, front);
      n = front;
    }
  }
  if (k > 0 && !given_up()) sort_first(items, n, k, less);
}

// The places of the first k of n items in order; of equal items, the first comes first.
template <class T>
void places_in_order(const T* items, std::int64_t stride, std::int32_t* places, std::int64_t n,
                     std::int64_t k, bool descending) {
  const Before<T> before{descending};
  std::iota(places, places + n, 0);
  const auto less = [items, stride, before](std::int32_t a, std::int32_t b) {
    const T& x = items[a * stride];
    const T& y = items[b * stride];
    if (before(x, y)) return true;
    return !before(y, x) && a < b;
  };
  // The most frequent case, which the compiler sees best here.
  if (k < n && n <= Looks::kItems) return std::partial_sort(places, places + k, places + n, less);
  sort_first(places, n, k, less);
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
