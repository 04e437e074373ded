#include "spillway/io/formats/text_lines.h"

#include <algorithm>

namespace spillway {
namespace {

class TextLineReader final : public RecordReader {
 public:
  explicit TextLineReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  Result<bool> read(StringRows& out) override {
    std::size_t seen = 0;  // bytes of the next line that were searched before
    for (;;) {
      SW_ASSIGN(const auto next, stream_->look(seen + 1));
      const std::string_view text(reinterpret_cast<const char*>(next.data()), next.size());
      const bool ended = text.size() <= seen;
      std::size_t begin = 0;
      for (std::size_t end = text.find('\n', seen); begin < text.size();
           end = text.find('\n', begin)) {
        if (end == text.npos && !ended) break;
        const std::size_t length = std::min(end, text.size()) - begin;
        auto added = add(text.substr(begin, length), out);
        if (!added.ok() || !added.value()) {
          stream_->pass(begin);
          return added.ok() ? Result<bool>(true) : std::move(added);
        }
        begin = std::min(begin + length + 1, text.size());
      }
      stream_->pass(begin);
      if (ended) return false;
      seen = text.size() - begin;
    }
  }

  std::uint64_t position() const override { return stream_->position(); }
  Status seek(std::uint64_t position) override { return stream_->seek(position); }

 private:
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
