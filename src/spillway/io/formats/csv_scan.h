#pragma once

#include <bit>
#include <cstring>
#include <string_view>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace spillway {

// Where the bytes stand that mean something in a CSV file: delimiters, quotes and line ends. 64
// bytes are compared at a time and leave a mask of those that matter, so that a byte within a field
// costs next to nothing.
class CsvScan {
 public:
  // `quote` = the delimiter where quotes mean nothing.
  CsvScan(std::string_view text, char delimiter, char quote)
      : text_(text), delimiter_(delimiter), quote_(quote) {
    load();
  }

  // The next place that matters, each once and in order; the end of the text behind the last.
  std::size_t next() {
    while (mask_ == 0) {
      if (text_.size() - block_ <= kBlock) return text_.size();
      block_ += kBlock;
      load();
    }
    const std::size_t found = block_ + static_cast<std::size_t>(std::countr_zero(mask_));
    mask_ &= mask_ - 1;
    return found;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  void load() {
    const std::size_t left = text_.size() - block_;
    if (left >= kBlock) {
      mask_ = compare(text_.data() + block_);
      return;
    }
    char last[kBlock] = {};
    std::memcpy(last, text_.data() + block_, left);
    mask_ = compare(last) & ((std::uint64_t{1} << left) - 1);
  }

#if defined(__SSE2__)
  std::uint64_t compare(const char* at) const {
    const __m128i delimiter = _mm_set1_epi8(delimiter_);
    const __m128i quote = _mm_set1_epi8(quote_);
    const __m128i feed = _mm_set1_epi8('\n');
    const __m128i turn = _mm_set1_epi8('\r');
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
      const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(some, feed), _mm_cmpeq_epi8(some, turn));
      const __m128i cuts =
          _mm_or_si128(_mm_cmpeq_epi8(some, delimiter), _mm_cmpeq_epi8(some, quote));
      const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(ends, cuts)));
      mask |= static_cast<std::uint64_t>(bits) << (16 * i);
    }
    return mask;
  }
#else
  std::uint64_t compare(const char* at) const {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kBlock; ++i) {
      const char c = at[i];
      const bool matters = c == delimiter_ || c == quote_ || c == '\n' || c == '\r';
      mask |= static_cast<std::uint64_t>(matters) << i;
    }
    return mask;
  }
#endif

  const std::string_view text_;
  const char delimiter_;
  const char quote_;
  std::size_t block_ = 0;  // begin of what the mask is of
  std::uint64_t mask_ = 0;
};

}  // namespace spillway
