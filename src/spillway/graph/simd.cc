#include "spillway/graph/simd.h"

#include <cstdlib>
#include <string_view>

namespace spillway::graph {
namespace {

Simd detect() {
  Simd best = Simd::kBaseline;
#if defined(__x86_64__)
  // No machine has the one without the other; products of matrices need both.
  const bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (fused) best = Simd::kAvx2;
  if (fused && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    best = Simd::kAvx512;
  }
#endif
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before anything could change it
  if (const char* asked = std::getenv("SPILLWAY_SIMD")) {
    const std::string_view name = asked;
    const Simd most = name == "baseline" ? Simd::kBaseline
                      : name == "avx2"   ? Simd::kAvx2
                                         : Simd::kAvx512;
    if (most < best) best = most;
  }
  return best;
}

}  // namespace

Simd simd_level() {
  static const Simd kLevel = detect();
  return kLevel;
}

}  // namespace spillway::graph
