#include "spillway/io/formats/tar_samples.h"

#include <algorithm>

#include "spillway/base/utf8.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

constexpr std::int64_t kMostRows = 4096;
constexpr std::size_t kLeastBytes = 4096;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

// Keys become names of an element's parts.
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character next = utf8_character(text);
    if (!next.good) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

// The parameter `keys` and the key itself, sorted.
Result<std::vector<std::string>> columns_of(const Node& node) {
  SW_ASSIGN(std::vector<std::string> columns, files_param(node, "keys"));
  if (columns.empty()) return invalid_argument("tar_samples: `keys` must name an extension");
  if (!std::ranges::all_of(columns, [](const std::string& key) { return is_utf8(key); })) {
    return invalid_argument("tar_samples: `keys` must be UTF-8");
  }
  columns.emplace_back(kSampleKey);
  std::ranges::sort(columns);
  if (const auto twice = std::ranges::adjacent_find(columns); twice != columns.end()) {
    return invalid_argument("tar_samples: `keys` must be different extensions: ", *twice);
  }
  return columns;
}

Result<Inferred> infer(const Node& node) {
  SW_RETURN_IF_ERROR(infer_file_rows(node).status());
  SW_ASSIGN(std::vector<std::string> columns, columns_of(node));
  std::vector<StructurePtr> strings(columns.size(), Structure::tensor(DType::kString, {}));
  return Inferred{Structure::dict(std::move(columns), std::move(strings)), kUnknownCount};
}

class TarSamplesIterator final : public Iterator {
 public:
  TarSamplesIterator(const OpenContext& context, std::vector<std::string> files,
                     std::vector<std::string> columns)
      : Iterator(context.stage(), context.epoch()),
        files_(std::move(files)),
        columns_(std::move(columns)),
        context_(context) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (reader_ == nullptr) {
        if (file_ >= files_.size()) return end_of_data();
        if (Status opened = open(); !opened.ok()) return failed(std::move(opened));
      }
      auto read = reader_->read(std::clamp<std::int64_t>(demand.rows, 1, kMostRows),
                                std::clamp(demand.bytes, kLeastBytes, kMostBytes));
      if (!read.ok()) return failed(std::move(read).status());
      if (!read.value().empty()) return made(std::move(read).value());
      next_file();
    }
  }

  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(file_));
    out.put(reader_ == nullptr ? position_ : static_cast<std::int64_t>(reader_->position()));
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
  Status open() {
    const std::string& path = files_[file_];
    const Node& node = stage().node();
    Compression compression = tar_compression(path);
    if (!is_none(node.param("compression_type"))) {
      SW_ASSIGN(compression, compression_named(node.string_param("compression_type")));
    }
    SW_ASSIGN(FilePtr file, open_file(path));
    const auto buffer = static_cast<std::size_t>(node.int_param("buffer_size", 0));
    SW_ASSIGN(auto stream, ByteStream::open(std::move(file), compression, account(), buffer));
    reader_ = std::make_unique<TarSamples>(std::move(stream), account(), columns_,
                                           node.bool_param("exact"));
    scope_ = context_.source_scope(path);
    if (position_ > 0) reader_->seek(static_cast<std::uint64_t>(position_));
    return {};
  }

  void next_file() {
    reader_ = nullptr;
    position_ = 0;
    ++file_;
  }

  Next made(std::vector<Tensor> blocks) {
    const std::int64_t rows = blocks[0].count();
    std::vector<Column> columns;
    columns.reserve(blocks.size());
    for (Tensor& block : blocks) columns.emplace_back(std::move(block));
    const Origins origins = Origins::regular(scope_, ordinal_);
    ordinal_ += rows;
    return std::optional(Chunk(stage().node().structure(), rows, std::move(columns), origins));
  }

  // One sample's error is followed by the next sample; that of a damaged archive by the next file,
  // or by what follows the next good header.
  Status failed(Status error) {
    if (!is_position(error)) return error;
    ErrorInfo& info = error.edit();
    if (info.file.empty()) info.file = files_[file_];
    if (info.index < 0) info.index = ordinal_;
    if (info.origin.empty()) info.origin = context_.source_scope(info.file)->source;
    ++ordinal_;
    bool more = reader_ != nullptr && !reader_->broken();
    if (!more && reader_ != nullptr && stage().node().bool_param("resynchronise")) {
      auto found = reader_->resynchronise();
      more = found.ok() && found.value();
    }
    if (more) return error;
    const bool partly = reader_ != nullptr;
    next_file();
    return partly ? ending_file(std::move(error)) : error;
  }

  const std::vector<std::string> files_;
  const std::vector<std::string> columns_;
  const OpenContext context_;
  std::size_t file_ = 0;
  std::int64_t position_ = 0;  // in the file, until it is open
  std::int64_t ordinal_ = 0;
  std::unique_ptr<TarSamples> reader_;
  ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    kFilesParam,
    {"keys", ParamType::kElement, "", "extensions of a sample's members, without the first dot"},
    {"compression_type", ParamType::kString, "None",
     "'' (none), 'ZLIB' or 'GZIP'; None: GZIP for names that end in .gz or .tgz"},
    kBufferParam,
    {"exact", ParamType::kBool, "False", "whether other extensions are an error"},
    {"resynchronise", ParamType::kBool, "False",
     "after damage go on behind the next good header of the file, not with the next file"},
};

}  // namespace

extern constexpr OperatorDef tar_samples_operator{
    .name = "tar_samples",
    .summary = "The samples of tar archives: members that follow each other under one name.",
    .example =
        ">>> import io, tarfile, tempfile\n"
        ">>> path = tempfile.mkdtemp() + '/a.tar'\n"
        ">>> with tarfile.open(path, 'w') as archive:\n"
        "...     member = tarfile.TarInfo('0001.txt')\n"
        "...     member.size = 3\n"
        "...     archive.addfile(member, io.BytesIO(b'one'))\n"
        ">>> list(sw.Dataset.tar_samples(path, keys=['txt']))\n"
        "[{'__key__': b'0001', 'txt': b'one'}]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(auto files, files_param(context.node(), kFilesParam.name));
      SW_ASSIGN(auto columns, columns_of(context.node()));
      return IteratorPtr(
          std::make_unique<TarSamplesIterator>(context, std::move(files), std::move(columns)));
    }};

}  // namespace spillway
