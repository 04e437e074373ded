#include "spillway/pipeline/file_rows.h"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::int64_t kMostRows = 4096;  // a chunk: their offsets take 32 KB
constexpr std::size_t kLeastBytes = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

// By the parameters `compression_type` and `buffer_size`.
Result<std::unique_ptr<ByteStream>> open_stream(const Node& node, FilePtr file,
                                                const AccountPtr& account) {
  SW_ASSIGN(const Compression compression,
            compression_named(node.string_param("compression_type", "")));
  const std::int64_t buffer = node.int_param("buffer_size", 0);
  return ByteStream::open(std::move(file), compression, account, static_cast<std::size_t>(buffer));
}

class FileRowsIterator final : public Iterator {
 public:
  FileRowsIterator(const OpenContext& context, std::vector<std::string> files, ReadRows read,
                   bool resynchronise)
      : Iterator(context.stage(), context.epoch()),
        files_(std::move(files)),
        read_(std::move(read)),
        resynchronise_(resynchronise),
        context_(context) {}

  Next pull(const Demand& demand) override {
    if (!pending_.ok()) return failed(pending_);
    for (;;) {
      if (reader_ == nullptr) {
        if (file_ >= files_.size()) return end_of_data();
        if (Status opened = open(); !opened.ok()) return failed(std::move(opened));
      }
      const std::int64_t rows = std::clamp<std::int64_t>(demand.rows, 1, kMostRows);
      RowBlock out;
      auto more = reader_->read_rows(account(), rows, room_for(rows, demand.bytes), out);
      if (out.count > 0) {
        if (!more.ok() && is_position(more.error())) put_off(std::move(more).status());
        return made(std::move(out));
      }
      if (!more.ok()) return failed(std::move(more).status());
      if (!more.value()) next_file();
    }
  }

  // Where the next record begins: the record of a pending error is read, and fails, again.
  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(file_));
    // Of a pending error, where its record begins: the reader may be on its way to the next.
    out.put(reader_ == nullptr || !pending_.ok() ? position_
                                                 : static_cast<std::int64_t>(reader_->position()));
    out.put(ordinal_);
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t file = 0;
    SW_RETURN_IF_ERROR(in.get_count(file, static_cast<std::int64_t>(files_.size())));
    SW_RETURN_IF_ERROR(in.get_count(position_));
    SW_RETURN_IF_ERROR(in.get_count(ordinal_));
    file_ = static_cast<std::size_t>(file);
    return {};
  }

 private:
  // What is demanded, unless the records so far say that the rows will take less.
  std::size_t room_for(std::int64_t rows, std::size_t demanded) const {
    const std::size_t likely = static_cast<std::size_t>(rows) * (record_bytes_ + record_bytes_ / 8);
    if (record_bytes_ > 0) demanded = std::min(demanded, likely + kLeastBytes);
    return std::clamp(demanded, kLeastBytes, kMostBytes);
  }

  Status open() {
    const std::string& path = files_[file_];
    SW_ASSIGN(FilePtr file, open_file(path));
    SW_ASSIGN(auto stream, open_stream(stage().node(), std::move(file), account()));
    SW_ASSIGN(reader_, read_(std::move(stream)));
    scope_ = context_.source_scope(path);
    if (position_ > 0) SW_RETURN_IF_ERROR(reader_->seek(static_cast<std::uint64_t>(position_)));
    return {};
  }

  void next_file() {
    reader_ = nullptr;
    position_ = 0;
    ++file_;
  }

  Next made(RowBlock out) {
    std::vector<Column> columns;
    columns.reserve(out.columns.size());
    std::size_t bytes = 0;
    for (Tensor& block : out.columns) {
      bytes += block.footprint();
      columns.emplace_back(std::move(block));
    }
    const std::size_t mean = bytes / static_cast<std::size_t>(out.count);
    record_bytes_ = std::max(mean, record_bytes_ - record_bytes_ / 16);
    const Origins origins = Origins::regular(scope_, ordinal_);
    ordinal_ += out.count;
    return std::optional(Chunk(stage().node().structure(), out.count, std::move(columns), origins));
  }

  void put_off(Status error) {
    pending_ = std::move(error);
    if (reader_ != nullptr) position_ = static_cast<std::int64_t>(reader_->position());
  }

  // An error that stands in an element's place is passed with what cannot be read. Where Ctrl-C
  // ends the search for what can, it goes on the next time.
  Status failed(Status error) {
    if (!is_position(error)) return error;
    ErrorInfo& info = error.edit();
    if (info.file.empty()) info.file = files_[file_];
    if (info.index < 0) info.index = ordinal_;
    if (info.origin.empty()) info.origin = context_.source_scope(info.file)->source;
    bool more = false;
    if (resynchronise_ && reader_ != nullptr) {
      if (pending_.ok()) put_off(error);
      auto found = reader_->resynchronise();
      if (!found.ok() && found.error().code() == Code::kCancelled) return std::move(found).status();
      more = found.ok() && found.value();
    }
    ++ordinal_;
    pending_ = Status();
    if (more) return error;
    const bool partly = reader_ != nullptr;
    next_file();
    return partly ? ending_file(std::move(error)) : error;
  }

  const std::vector<std::string> files_;
  const ReadRows read_;
  const bool resynchronise_;
  const OpenContext context_;
  std::size_t file_ = 0;
  std::int64_t position_ = 0;  // in the file, until it is open
  std::int64_t ordinal_ = 0;
  std::size_t record_bytes_ = 0;  // of a record: the largest mean lately
  RowReaderPtr reader_;
  Status pending_;  // of the record behind those handed out
  ScopePtr scope_;
};

}  // namespace

Result<IteratorPtr> open_file_rows(const OpenContext& context, ReadRecords read,
                                   bool resynchronise) {
  const auto rows = [read = std::move(read)](auto stream) -> Result<RowReaderPtr> {
    SW_ASSIGN(RecordReaderPtr reader, read(std::move(stream)));
    return RowReaderPtr(std::move(reader));
  };
  return open_file_rows(context, ReadRows(rows), resynchronise);
}

Result<IteratorPtr> open_file_rows(const OpenContext& context, ReadRows read, bool resynchronise) {
  SW_ASSIGN(auto files, files_param(context.node(), kFilesParam.name));
  return IteratorPtr(std::make_unique<FileRowsIterator>(context, std::move(files), std::move(read),
                                                        resynchronise));
}

Result<std::vector<std::string>> files_param(const Node& node, std::string_view name) {
  const ElementPtr value = node.element_param(name);
  const bool one = value != nullptr && value->values.size() == 1;
  // An empty list has no type of its own.
  if (one && value->values[0].count() == 0) return std::vector<std::string>();
  if (!one || value->values[0].dtype() != DType::kString) {
    Status status = invalid_argument(node.op().name, ": `", name, "` must be a string or several");
    status.edit().type = "TypeError";
    return status;
  }
  const Tensor& names = value->values[0];
  std::vector<std::string> files;
  files.reserve(static_cast<std::size_t>(names.count()));
  for (std::int64_t i = 0; i < names.count(); ++i) files.emplace_back(names.string_at(i));
  return files;
}

Result<Inferred> infer_file_rows(const Node& node) {
  SW_RETURN_IF_ERROR(files_param(node, kFilesParam.name).status());
  SW_RETURN_IF_ERROR(compression_named(node.string_param("compression_type", "")).status());
  if (node.int_param("buffer_size", 0) < 0) {
    return invalid_argument("`buffer_size` must be >= 0 (0 == default): ",
                            node.int_param("buffer_size", 0));
  }
  return Inferred{Structure::tensor(DType::kString, {}), kUnknownCount};
}

}  // namespace spillway
