#include <cmath>
#include <limits>

#include "spillway/graph/elementwise.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spillway::graph {
namespace {

// As TensorFlow converts: floats to integers by truncation (what does not fit becomes the lowest
// value, as the machine's own conversion has it), anything to bool by "is not zero".
template <class To, class From>
struct Convert {
  [[gnu::always_inline]] static To of(From from) {
    if constexpr (std::is_same_v<To, From>) {
      return from;
    } else if constexpr (kSmallFloat<From>) {
      return Convert<To, float>::of(static_cast<float>(from));
    } else if constexpr (kComplex<From>) {
      if constexpr (kComplex<To>)
        return To(from);
      else if constexpr (std::is_same_v<To, bool>)
        return from != From(0);
      else
        return Convert<To, typename From::value_type>::of(from.real());
    } else if constexpr (kSmallFloat<To>) {
      return To(static_cast<float>(from));
    } else if constexpr (kComplex<To>) {
      return To(static_cast<typename To::value_type>(from));
    } else if constexpr (std::is_same_v<To, bool>) {
      return from != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      return to_integer<To>(from);
    } else {
      return static_cast<To>(from);
    }
  }
  template <class I>
  [[gnu::always_inline]] static I to_integer(From from) {
    // The conversions of x86: through int32 (or int64 for wide types), whose lowest value stands
    // for what does not fit.
    using Via = std::conditional_t<(sizeof(I) < 4 || std::is_same_v<I, std::int32_t>), std::int32_t,
                                   std::int64_t>;
    constexpr Via kHalf = std::numeric_limits<Via>::max() / 2 + 1;
    constexpr From kTop = static_cast<From>(kHalf) * From(2);
    if constexpr (std::is_same_v<I, std::uint64_t>) {
      constexpr From kMiddle = From(9223372036854775808.0);
      if (from >= kMiddle && from < kMiddle * 2) {
        return static_cast<I>(static_cast<std::int64_t>(from - kMiddle)) ^ (I(1) << 63U);
      }
    }
    const bool fits = from < kTop && from >= -kTop;
    return static_cast<I>(fits ? static_cast<Via>(from) : std::numeric_limits<Via>::min());
  }
};

#if defined(__x86_64__)
// Floats to halves by the machine's own conversion. The same bits as Half(float): it too rounds to
// nearest even, and what is not a number is made the one that Half knows.
[[gnu::target("avx512f")]] std::int64_t to_halves_avx512(const LoopArgs& args) {
  const auto* in = reinterpret_cast<const float*>(args.in[0]);
  auto* out = reinterpret_cast<Half*>(args.out);
  const __m512i sign = _mm512_set1_epi32(std::numeric_limits<std::int32_t>::min());
  const __m512i quiet = _mm512_set1_epi32(0x7fc00000);
  std::int64_t i = 0;
  for (; i + 16 <= args.n; i += 16) {
    __m512 from = _mm512_loadu_ps(in + i);
    if (const __mmask16 nan = _mm512_cmp_ps_mask(from, from, _CMP_UNORD_Q); nan != 0) [[unlikely]] {
      const __m512i bits = _mm512_castps_si512(from);
      const __m512i known = _mm512_or_si512(_mm512_and_si512(bits, sign), quiet);
      from = _mm512_castsi512_ps(_mm512_mask_mov_epi32(bits, nan, known));
    }
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(out + i),
        _mm512_maskz_cvtps_ph(0xffff, from, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  for (; i < args.n; ++i) out[i] = Half(in[i]);
  return -1;
}

[[gnu::target("avx2,f16c")]] std::int64_t to_halves_avx2(const LoopArgs& args) {
  const auto* in = reinterpret_cast<const float*>(args.in[0]);
  auto* out = reinterpret_cast<Half*>(args.out);
  const __m256 sign = _mm256_castsi256_ps(_mm256_set1_epi32(std::numeric_limits<int>::min()));
  const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
  std::int64_t i = 0;
  for (; i + 8 <= args.n; i += 8) {
    __m256 from = _mm256_loadu_ps(in + i);
    const __m256 nan = _mm256_cmp_ps(from, from, _CMP_UNORD_Q);
    if (_mm256_movemask_ps(nan) != 0) [[unlikely]] {
      from = _mm256_blendv_ps(from, _mm256_or_ps(_mm256_and_ps(from, sign), quiet), nan);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(from, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  for (; i < args.n; ++i) out[i] = Half(in[i]);
  return -1;
}

// Null: this machine has no conversion of its own.
LoopFn to_halves() {
  if (simd_level() == Simd::kAvx512) return to_halves_avx512;
  const bool here = simd_level() == Simd::kAvx2 && __builtin_cpu_supports("f16c");
  return here ? to_halves_avx2 : nullptr;
}
#endif

Status infer(Infer& c) {
  const DType* to = c.attrs().get<DType>("dtype");
  if (to == nullptr) return invalid_argument("needs a dtype");
  for (const DType dtype : {c.input(0).dtype, *to}) {
    if (!is_one_of(PlainTypes(), dtype)) {
      Status status =
          Status::error(ErrorKind::kUser, Code::kUnimplemented, "Cast ", name_of(c.input(0).dtype),
                        " to ", name_of(*to), " is not supported");
      return status;
    }
  }
  c.set(0, *to, c.input(0).shape);
  return {};
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
#if defined(__x86_64__)
  if (p.inputs[0].dtype == DType::kFloat32 && p.outputs[0].dtype == DType::kFloat16) {
    loop.fn = to_halves();
    if (loop.fn != nullptr) return loop;
  }
#endif
  with_type(PlainTypes(), p.inputs[0].dtype, [&]<class From>() {
    with_type(PlainTypes(), p.outputs[0].dtype, [&]<class To>() {
      loop.fn = SimdLoop<MapBody<Convert<To, From>, To, From>>::best();
    });
  });
  return loop;
}

constexpr ParamDef kParams[] = {{"x", ParamKind::kTensor}, {"dtype", ParamKind::kDType}};

}  // namespace

extern constexpr OpDef cast_op{.name = "cast",
                               .summary = "The same items as another dtype.",
                               .params = kParams,
                               .infer = infer,
                               .loop = loop};

}  // namespace spillway::graph
