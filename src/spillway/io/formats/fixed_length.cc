#include "spillway/io/formats/fixed_length.h"

#include <algorithm>

namespace spillway {
namespace {

// In TensorFlow's words.
Status no_whole_number(Code code, const std::string& path, const FixedLength& lengths,
                       std::int64_t body) {
  return bad_data(code, "Excluding the header (", lengths.header, " bytes) and footer (",
                  lengths.footer, " bytes), input file \"", path, "\" has body length ", body,
                  " bytes, which is not an exact multiple of the record length (", lengths.record,
                  " bytes).");
}

class FixedLengthReader final : public RecordReader {
 public:
  FixedLengthReader(std::unique_ptr<ByteStream> stream, const FixedLength& lengths)
      : stream_(std::move(stream)), lengths_(lengths) {}

  Result<bool> read(StringRows& out) override {
    const auto record = static_cast<std::size_t>(lengths_.record);
    if (stream_->position() < lengths_.header) SW_RETURN_IF_ERROR(stream_->seek(lengths_.header));
    for (;;) {
      // The footer is no record: what follows a record has to be there before it is one.
      SW_ASSIGN(const bool more, has(lengths_.record + lengths_.footer));
      if (!more) return end();
      auto room = out.room(record);
      if (!room.ok()) return stream_->too_long(std::move(room).status(), 0, record);
      std::byte* const place = room.value();
      if (place == nullptr) return true;
      SW_ASSIGN(const std::size_t got, stream_->read(std::span(place, record)));
      if (got < record) return excess(got);
      out.add(record);
    }
  }

  std::uint64_t position() const override { return stream_->position(); }
  Status seek(std::uint64_t position) override { return stream_->seek(position); }

 private:
  // Whether so many bytes are left.
  Result<bool> has(std::uint64_t bytes) {
    if (const auto length = stream_->length()) return *length - stream_->position() >= bytes;
    SW_ASSIGN(const auto next, stream_->look(static_cast<std::size_t>(bytes)));
    return next.size() >= bytes;
  }

  Result<bool> end() {
    if (stream_->length()) return false;
    SW_ASSIGN(const auto rest, stream_->look(static_cast<std::size_t>(lengths_.footer)));
    if (rest.size() == lengths_.footer) return false;
    return excess(rest.size());
  }
  Status excess(std::uint64_t bytes) const {
    const std::string& path = stream_->file().path();
    const std::uint64_t content = stream_->position() + bytes;
    Status status =
        no_whole_number(Code::kDataLoss, path, lengths_,
                        static_cast<std::int64_t>(content) -
                            static_cast<std::int64_t>(lengths_.header + lengths_.footer));
    status.edit().type = "CorruptFile";
    status.edit().file = path;
    status.edit().offset = static_cast<std::int64_t>(content);
    return status;
  }

  const std::unique_ptr<ByteStream> stream_;
  const FixedLength lengths_;
};

}  // namespace

Result<RecordReaderPtr> read_fixed_length(std::unique_ptr<ByteStream> stream,
                                          const FixedLength& lengths) {
  if (const auto length = stream->length()) {
    const auto body = static_cast<std::int64_t>(*length) -
                      static_cast<std::int64_t>(lengths.header + lengths.footer);
    const std::string& path = stream->file().path();
    if (body < 0 || body % static_cast<std::int64_t>(lengths.record) != 0) {
      Status status = no_whole_number(Code::kInvalidArgument, path, lengths, body);
      status.edit().file = path;
      status.edit().offset = static_cast<std::int64_t>(*length);
      return status;
    }
  }
  return RecordReaderPtr(std::make_unique<FixedLengthReader>(std::move(stream), lengths));
}

}  // namespace spillway
