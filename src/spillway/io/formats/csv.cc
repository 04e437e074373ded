#include "spillway/io/formats/csv.h"

#include <algorithm>
#include <array>
#include <functional>

#include "spillway/io/formats/csv_record.h"

namespace spillway {
namespace {

constexpr std::size_t kFirstText = 16;  // bytes of a string, until some were seen

// Line ends in pieces of a text: \n, \r and \r\n.
class LineCount {
 public:
  void add(std::span<const std::byte> piece) {
    for (const std::byte c : piece) {
      if (c == std::byte{'\r'} || (c == std::byte{'\n'} && before_ != std::byte{'\r'})) ++lines_;
      before_ = c;
    }
  }
  std::int64_t lines() const { return lines_; }

 private:
  std::int64_t lines_ = 0;
  std::byte before_{};
};

class CsvReader final : public RowReader {
 public:
  CsvReader(std::unique_ptr<ByteStream> stream, std::shared_ptr<const CsvFormat> format)
      : stream_(std::move(stream)),
        format_(std::move(format)),
        record_(*format_),
        header_(format_->header),
        text_(format_->columns.size(), kFirstText) {}

  Result<bool> read_rows(const AccountPtr& account, std::int64_t rows, std::size_t bytes,
                         RowBlock& out) override {
    if (header_) SW_RETURN_IF_ERROR(pass_header());
    CsvColumns columns(*format_, account);
    SW_RETURN_IF_ERROR(columns.allocate(std::min(rows, most_rows()), bytes, text_));
    auto more = fill(columns);
    columns.drop();
    columns.measure(text_);
    columns.take(out);
    return more;
  }

  std::uint64_t position() const override { return stream_->position(); }

  Status seek(std::uint64_t position) override {
    header_ = false;
    if (stream_->length()) {
      uncounted_ = position;
      return stream_->seek(position);
    }
    LineCount count;
    while (stream_->position() < position) {
      SW_ASSIGN(auto piece, stream_->look(1));
      if (piece.empty()) break;
      piece = piece.first(std::min<std::uint64_t>(piece.size(), position - stream_->position()));
      count.add(piece);
      stream_->pass(piece.size());
    }
    lines_ = count.lines();
    return {};
  }

  Result<bool> resynchronise() override {
    if (bad_bytes_ == 0) return false;
    SW_RETURN_IF_ERROR(stream_->look(bad_bytes_).status());
    stream_->pass(std::exchange(bad_bytes_, 0));
    lines_ += record_.lines();
    header_ = false;
    return true;
  }

 private:
  // No less than there can be in the rest of the file: a field takes a byte with its delimiter.
  std::int64_t most_rows() const {
    const auto length = stream_->length();
    if (!length) return INT64_MAX;
    const std::uint64_t left = *length - std::min(*length, position());
    return static_cast<std::int64_t>(left / std::max<std::size_t>(1, text_.size())) + 1;
  }

  // Shows what comes next to `use` in pieces, until it has enough: it says so, and how much of the
  // piece it has used. What it leaves comes again with more. False: the file ended.
  using Use = std::function<Result<bool>(std::string_view text, bool ended, std::size_t& used)>;
  Result<bool> in_pieces(const Use& use) {
    std::size_t need = 1;
    for (;;) {
      auto next = stream_->look(need);
      if (!next.ok()) return std::move(next).status();
      const std::string_view text(reinterpret_cast<const char*>(next.value().data()),
                                  next.value().size());
      const bool ended = text.size() < need;
      std::size_t used = 0;
      auto enough = use(text, ended, used);
      stream_->pass(used);
      if (!enough.ok() || enough.value()) return enough;
      if (ended) return false;
      const std::size_t left = text.size() - used;
      need = left + left / 2 + 1;  // a long record is cut anew a few times only
    }
  }

  CsvScan scan(std::string_view text) const {
    return {text, format_->delimiter, format_->quotes ? '"' : format_->delimiter};
  }

  Result<bool> fill(CsvColumns& columns) {
    const auto use = [&](std::string_view text, bool ended, std::size_t& used) -> Result<bool> {
      CsvScan places = scan(text);
      while (used < text.size()) {
        if (columns.full()) return true;
        const auto read = record_.read(text, used, ended, places, &columns);
        if (read == CsvRecord::Read::kPart) {
          columns.drop();  // all of it comes again
          return false;
        }
        if (read == CsvRecord::Read::kNoRoom) return true;
        if (read == CsvRecord::Read::kNoMemory) {
          const std::size_t most = text.size() - used;  // the record is no longer
          stream_->pass(std::exchange(used, 0));
          return stream_->too_long(columns.take_error(), 0, most);
        }
        if (!record_.good()) {
          bad_bytes_ = record_.end() - used;
          return wrong(position() + record_.wrong_at(), record_.wrong());
        }
        columns.add();
        lines_ += record_.lines();
        used = record_.end();
      }
      return false;
    };
    return in_pieces(use);
  }

  Status pass_header() {
    std::string why = "the file is empty";
    const auto use = [&](std::string_view text, bool ended, std::size_t& used) -> Result<bool> {
      if (text.empty()) return false;
      CsvScan places = scan(text);
      if (record_.read(text, 0, ended, places, nullptr) == CsvRecord::Read::kPart) return false;
      why = record_.faultless() ? "" : record_.wrong();
      (why.empty() ? used : bad_bytes_) = record_.end();
      return true;
    };
    auto read = in_pieces(use);
    if (!read.ok()) return std::move(read).status();
    if (!why.empty()) return wrong(position(), "Can't read header of file: " + why);
    lines_ += record_.lines();
    header_ = false;
    return {};
  }

  Status wrong(std::uint64_t offset, const std::string& what) {
    SW_RETURN_IF_ERROR(count_lines());
    const std::string& path = stream_->file().path();
    Status status = bad_data(Code::kInvalidArgument, path, ": line ", lines_ + 1, ": ", what);
    status.edit().file = path;
    status.edit().offset = static_cast<std::int64_t>(offset);
    return status;
  }

  // Lines are counted from where the reader began, and those before that when one is asked for.
  Status count_lines() {
    LineCount count;
    std::array<std::byte, 16 * 1024> piece{};
    for (std::uint64_t at = 0; at < uncounted_;) {
      const std::size_t most = std::min<std::uint64_t>(piece.size(), uncounted_ - at);
      SW_ASSIGN(const std::size_t got, stream_->file().read(at, std::span(piece).first(most)));
      if (got == 0) break;
      count.add(std::span(piece).first(got));
      at += got;
    }
    uncounted_ = 0;
    lines_ += count.lines();
    return {};
  }

  const std::unique_ptr<ByteStream> stream_;
  const std::shared_ptr<const CsvFormat> format_;
  CsvRecord record_;
  bool header_;                    // has to be passed
  std::vector<std::size_t> text_;  // bytes of a string, column by column
  std::int64_t lines_ = 0;         // before position(), but for those in the first uncounted_ bytes
  std::uint64_t uncounted_ = 0;
  std::size_t bad_bytes_ = 0;  // of the record at position(), which has an error
};

}  // namespace

Result<RowReaderPtr> read_csv(std::unique_ptr<ByteStream> stream,
                              std::shared_ptr<const CsvFormat> format) {
  return RowReaderPtr(std::make_unique<CsvReader>(std::move(stream), std::move(format)));
}

}  // namespace spillway
