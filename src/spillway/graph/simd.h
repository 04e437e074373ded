#pragma once

#include <cstdint>

#include "spillway/graph/op.h"

// Loops over items, compiled for several instruction sets; the machine's best is taken at run time.
// The results are the same on all of them: no contraction, no reordering.
namespace spillway::graph {

enum class Simd : std::uint8_t { kBaseline, kAvx2, kAvx512 };
// What this machine has, at most SPILLWAY_SIMD (baseline, avx2, avx512) where that is set.
Simd simd_level();

// Body has `static std::int64_t run(const LoopArgs&)`, always inlined.
template <class Body>
struct SimdLoop {
  static std::int64_t baseline(const LoopArgs& args) { return Body::run(args); }
#if defined(__x86_64__)
  [[gnu::target("avx2")]] static std::int64_t avx2(const LoopArgs& args) { return Body::run(args); }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static std::int64_t avx512(
      const LoopArgs& args) {
    return Body::run(args);
  }
#endif
  static LoopFn best() {
#if defined(__x86_64__)
    switch (simd_level()) {
      case Simd::kAvx512:
        return avx512;
      case Simd::kAvx2:
        return avx2;
      default:
        break;
    }
#endif
    return baseline;
  }
};

// out[i] = Op::of(in[0][i], ...).
template <class Op, class Out, class... In>
struct MapBody {
  template <std::size_t... I>
  [[gnu::always_inline]] static std::int64_t each(const LoopArgs& args, std::index_sequence<I...>) {
    auto* __restrict out = reinterpret_cast<Out*>(args.out);
    const std::int64_t n = args.n;
    [&](const In* __restrict... in) __attribute__((always_inline)) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Op::of(in[i]...);
    }(reinterpret_cast<const In*>(args.in[I])...);
    return -1;
  }
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    return each(args, std::index_sequence_for<In...>());
  }
};

}  // namespace spillway::graph
