#include "spillway/io/formats/text_lines.h"

#include <algorithm>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace spillway {
namespace {

constexpr std::size_t kBlock = 64;
// Whoever waits for a line that is longer gets those before it first.
constexpr std::size_t kLong = ByteStream::kBuffer;

// A bit for each byte of a block that ends a line, and whether any is a carriage return.
struct Ends {
  std::uint64_t lines = 0;
  bool returns = false;
};

Ends ends_of(const char* block) {
  Ends out;
#if defined(__SSE2__)
  const __m128i line = _mm_set1_epi8('\n');
  const __m128i back = _mm_set1_epi8('\r');
  __m128i returns = _mm_setzero_si128();
  for (unsigned i = 0; i < kBlock; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    const auto here = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line)));
    out.lines |= std::uint64_t{here} << i;
    returns = _mm_or_si128(returns, _mm_cmpeq_epi8(bytes, back));
  }
  out.returns = _mm_movemask_epi8(returns) != 0;
#else
  for (unsigned i = 0; i < kBlock; ++i) {
    out.lines |= std::uint64_t{block[i] == '\n'} << i;
    out.returns |= block[i] == '\r';
  }
#endif
  return out;
}

class TextLineReader final : public RecordReader {
 public:
  explicit TextLineReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  Result<bool> read(StringRows& out) override {
    Line line;
    for (;;) {
      const std::size_t had = line.seen;
      if (had >= kLong && out.count() > 0) return true;
      SW_ASSIGN(const auto next, stream_->look(had + 1));
      const std::string_view text(reinterpret_cast<const char*>(next.data()), next.size());
      auto added = add_lines(text, line, out);
      if (added.ok() && added.value() && text.size() <= had && line.begin < text.size()) {
        added = add(text.substr(line.begin), out);  // without an end of its own
        if (added.ok() && added.value()) line.begin = text.size();
      }
      stream_->pass(line.begin);
      if (!added.ok()) {
        const std::size_t length = text.size() - line.begin;
        return stream_->too_long(std::move(added).status(), length, length);
      }
      if (!added.value()) return true;
      if (text.size() <= had) return false;
      line = {0, text.size() - line.begin, line.returns};
    }
  }

  std::uint64_t position() const override { return stream_->position(); }
  Status seek(std::uint64_t position) override { return stream_->seek(position); }
  // To the line behind one that is too long.
  Result<bool> resynchronise() override {
    for (;;) {
      SW_ASSIGN(const auto next, stream_->look(1));
      if (next.empty()) return false;
      const std::size_t end =
          std::string_view(reinterpret_cast<const char*>(next.data()), next.size()).find('\n');
      stream_->pass(end == std::string_view::npos ? next.size() : end + 1);
      if (end != std::string_view::npos) return true;
    }
  }

 private:
  // The line that is being looked for in what lies in the buffer.
  struct Line {
    std::size_t begin = 0;
    std::size_t seen = 0;  // up to here no end of it was found
    bool returns = false;  // there may be carriage returns in it
  };

  // All lines that end in `text`; false: no room for `line`.
  static Result<bool> add_lines(std::string_view text, Line& line, StringRows& out) {
    while (line.seen + kBlock <= text.size()) {
      const Ends ends = ends_of(text.data() + line.seen);
      line.returns |= ends.returns;
      std::size_t begin = line.begin;
      for (std::uint64_t left = ends.lines; left != 0; left &= left - 1) {
        const std::size_t end = line.seen + static_cast<std::size_t>(std::countr_zero(left));
        const char* const first = text.data() + begin;
        if (line.returns || !out.add_short(first, end - begin, text.size() - begin)) {
          line.begin = begin;
          SW_ASSIGN(const bool added, add({first, end - begin}, out));
          if (!added) return false;
          line.returns = ends.returns;
        }
        begin = end + 1;
      }
      line.begin = begin;
      line.seen += kBlock;
    }
    line.returns = true;  // what is left is too short to be worth a look
    for (;;) {
      const std::size_t end = text.find('\n', line.seen);
      if (end == text.npos) break;
      SW_ASSIGN(const bool added, add(text.substr(line.begin, end - line.begin), out));
      if (!added) return false;
      line.begin = line.seen = end + 1;
    }
    line.seen = text.size();
    return true;
  }

  static Result<bool> add(std::string_view line, StringRows& out) {
    const std::size_t first = line.find('\r');
    if (first == line.npos) return out.add(line);
    SW_ASSIGN(std::byte* const place, out.room(line.size()));
    if (place == nullptr) return false;
    char* to = reinterpret_cast<char*>(place);
    out.add(static_cast<std::size_t>(std::remove_copy(line.begin(), line.end(), to, '\r') - to));
    return true;
  }

  const std::unique_ptr<ByteStream> stream_;
};

}  // namespace

Result<RecordReaderPtr> read_text_lines(std::unique_ptr<ByteStream> stream) {
  return RecordReaderPtr(std::make_unique<TextLineReader>(std::move(stream)));
}

}  // namespace spillway
