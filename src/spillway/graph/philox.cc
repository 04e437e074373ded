#include "spillway/graph/philox.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// g++ 12 takes the deliberately undefined operands of its own intrinsics for a mistake (its bug
// 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

// Compilers do not see that the product of two 32-bit numbers in 64-bit lanes is one instruction,
// and vectorise the plain loop with several.
namespace spillway::graph {
namespace {

constexpr std::uint32_t kFactor0 = 0xD2511F53U;
constexpr std::uint32_t kFactor1 = 0xCD9E8D57U;
constexpr std::uint32_t kStep0 = 0x9E3779B9U;
constexpr std::uint32_t kStep1 = 0xBB67AE85U;
constexpr int kRounds = 10;

struct Keys {
  std::uint32_t k0[kRounds];
  std::uint32_t k1[kRounds];
  explicit Keys(std::uint64_t key) {
    for (std::uint32_t r = 0; r < kRounds; ++r) {
      k0[r] = static_cast<std::uint32_t>(key) + r * kStep0;
      k1[r] = static_cast<std::uint32_t>(key >> 32U) + r * kStep1;
    }
  }
};

void plain(RandomWords& block, std::uint64_t key, int n) {
  const Keys keys(key);
  for (int i = 0; i < n; ++i) {
    std::uint32_t c[4];
    for (int w = 0; w < 4; ++w) c[w] = block.words[w][i];
    for (int r = 0; r < kRounds; ++r) {
      const std::uint64_t p0 = std::uint64_t{kFactor0} * c[0];
      const std::uint64_t p1 = std::uint64_t{kFactor1} * c[2];
      c[0] = static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ keys.k0[r];
      c[1] = static_cast<std::uint32_t>(p1);
      c[2] = static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ keys.k1[r];
      c[3] = static_cast<std::uint32_t>(p0);
    }
    for (int w = 0; w < 4; ++w) block.words[w][i] = c[w];
  }
}

#if defined(__x86_64__)
// A word of a block in each 64-bit lane. What is in the upper halves does not matter to products,
// and is cut off in the end.
[[gnu::target("avx2")]] void avx2(RandomWords& block, std::uint64_t key, int n) {
  const Keys keys(key);
  const __m256i factor0 = _mm256_set1_epi64x(kFactor0);
  const __m256i factor1 = _mm256_set1_epi64x(kFactor1);
  const __m256i low = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  for (int i = 0; i < n; i += 4) {
    __m256i c[4];
    for (int w = 0; w < 4; ++w) {
      c[w] = _mm256_cvtepu32_epi64(
          _mm_load_si128(reinterpret_cast<const __m128i*>(block.words[w] + i)));
    }
    for (int r = 0; r < kRounds; ++r) {
      const __m256i p0 = _mm256_mul_epu32(c[0], factor0);
      const __m256i p1 = _mm256_mul_epu32(c[2], factor1);
      c[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c[1]),
                              _mm256_set1_epi64x(keys.k0[r]));
      c[1] = p1;
      c[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c[3]),
                              _mm256_set1_epi64x(keys.k1[r]));
      c[3] = p0;
    }
    for (int w = 0; w < 4; ++w) {
      const __m256i packed = _mm256_permutevar8x32_epi32(c[w], low);
      _mm_store_si128(reinterpret_cast<__m128i*>(block.words[w] + i),
                      _mm256_castsi256_si128(packed));
    }
  }
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void avx512(RandomWords& block,
                                                                  std::uint64_t key, int n) {
  const Keys keys(key);
  const __m512i factor0 = _mm512_set1_epi64(kFactor0);
  const __m512i factor1 = _mm512_set1_epi64(kFactor1);
  for (int i = 0; i < n; i += 8) {
    __m512i c[4];
    for (int w = 0; w < 4; ++w) {
      c[w] = _mm512_cvtepu32_epi64(
          _mm256_load_si256(reinterpret_cast<const __m256i*>(block.words[w] + i)));
    }
    for (int r = 0; r < kRounds; ++r) {
      const __m512i p0 = _mm512_mul_epu32(c[0], factor0);
      const __m512i p1 = _mm512_mul_epu32(c[2], factor1);
      c[0] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c[1],
                                       _mm512_set1_epi64(keys.k0[r]), 0x96);  // xor of three
      c[1] = p1;
      c[2] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c[3],
                                       _mm512_set1_epi64(keys.k1[r]), 0x96);
      c[3] = p0;
    }
    for (int w = 0; w < 4; ++w) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(block.words[w] + i),
                         _mm512_cvtepi64_epi32(c[w]));
    }
  }
}
#endif

using PhiloxFn = void (*)(RandomWords&, std::uint64_t, int);
PhiloxFn best() {
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
  return plain;
}

}  // namespace

void philox(RandomWords& block, std::uint64_t key, int n) {
  static const PhiloxFn fn = best();
  fn(block, key, n);
}

}  // namespace spillway::graph
