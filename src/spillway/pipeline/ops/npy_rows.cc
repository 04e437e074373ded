#include <algorithm>
#include <optional>

#include "spillway/io/formats/npz.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

struct NpyFile {
  std::string path;
  std::string member;  // of an archive; empty: the file itself
  NpyHeader header;
  std::int64_t first = 0;          // index of its first row
  std::optional<FileStamp> stamp;  // when its header was read

  std::string name() const { return member.empty() ? path : path + ":" + member; }
};

// One whose header cannot be read, of so many rows as nobody knows: an error before row `first`.
struct BadFile {
  std::string path;
  std::int64_t first = 0;
  Status why;
};

// The headers of all files, read once when the dataset is built.
struct NpyFiles {
  std::vector<NpyFile> files;
  std::vector<BadFile> bad;
  std::int64_t rows = 0;

  // The file that holds row `index`.
  const NpyFile& of(std::int64_t index) const {
    const auto behind = std::ranges::upper_bound(files, index, {}, &NpyFile::first);
    return *(behind - 1);
  }
};

// The array of a file, or of an archive's member.
Result<NpyArray> open_array(const std::string& path, const std::string& member,
                            const AccountPtr& account) {
  SW_ASSIGN(FilePtr file, open_file(path));
  if (!member.empty()) return open_npz(std::move(file), member, account);
  SW_ASSIGN(NpyHeader header, read_npy_header(*file));
  return NpyArray{std::move(file), std::move(header)};
}

// The array of `from`, as it was when the dataset was built.
Result<FilePtr> open_again(const NpyFile& from, const AccountPtr& account) {
  SW_ASSIGN(NpyArray array, open_array(from.path, from.member, account));
  const auto changed = [&](const auto&... what) {
    const std::string& path = array.file->path();
    return corrupt_file(path, 0, path,
                        ": the file was changed since the dataset was built: ", what...,
                        "; build the dataset again");
  };
  if (array.header != from.header) {
    return changed("expected ", name_of(from.header.dtype), " ", from.header.shape.to_string(),
                   ", found ", name_of(array.header.dtype), " ", array.header.shape.to_string());
  }
  const auto now = array.file->stamp();
  const std::string what = now && from.stamp ? what_changed(*from.stamp, *now) : std::string();
  if (!what.empty()) return changed(what);
  return std::move(array.file);
}

Status differs(const NpyFile& file, const NpyFile& first) {
  const auto words = [](const NpyFile& f) {
    return f.name() + " has " + std::string(name_of(f.header.dtype)) + " " +
           f.header.row().to_string();
  };
  Status status =
      bad_data(Code::kInvalidArgument, file.member.empty() ? "from_npy" : "from_npz",
               ": the rows of all files must be alike: ", words(file), ", ", words(first));
  status.edit().type = "ShapeError";
  status.edit().file = file.path;
  return status;
}

// Whether the rows of a file are those of the others, which are like `first`.
Status read_header(NpyFile& file, const std::optional<NpyFile>& first, const AccountPtr& account) {
  SW_ASSIGN(NpyArray array, open_array(file.path, file.member, account));
  file.header = std::move(array.header);
  file.stamp = array.file->stamp();
  const bool alike = !first || (file.header.dtype == first->header.dtype &&
                                file.header.row() == first->header.row());
  return alike ? Status() : differs(file, *first);
}

// `rows`: of each file, where its own header cannot be read; -1: nobody knows. Empty: one that
// cannot be read is an error of the dataset.
Result<std::shared_ptr<const NpyFiles>> read_headers(const std::vector<std::string>& paths,
                                                     const std::string& member,
                                                     std::span<const std::int64_t> rows) {
  auto out = std::make_shared<NpyFiles>();
  const AccountPtr account = Budget::process().open_account("npy_rows");
  std::optional<NpyFile> first;  // that is good
  std::vector<std::pair<NpyFile, Status>> all;
  for (const std::string& path : paths) {
    NpyFile file{path, member, {}, 0, {}};
    Status read = read_header(file, first, account);
    if (!read.ok() && (rows.empty() || !is_position(read))) return read;
    if (read.ok() && !first) first = file;
    all.emplace_back(std::move(file), std::move(read));
  }
  if (all.empty()) return invalid_argument("from_npy: at least one file must be named");
  if (!first) return all.front().second;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& [file, read] = all[i];
    if (!read.ok() && rows[i] < 0) {
      out->bad.push_back({file.path, out->rows, std::move(read)});
      continue;
    }
    if (!read.ok()) {
      file.header = first->header;
      file.header.shape = first->header.row().with_leading(rows[i]);
      file.stamp = std::nullopt;
    }
    file.first = out->rows;
    out->rows += file.header.rows();
    out->files.push_back(std::move(file));
  }
  return std::shared_ptr<const NpyFiles>(std::move(out));
}

struct Headers {
  Result<std::shared_ptr<const NpyFiles>> found;
};
Result<std::shared_ptr<const NpyFiles>> headers_of(const Node& node) {
  SW_ASSIGN(const std::vector<std::string> paths, files_param(node, kFilesParam.name));
  std::span<const std::int64_t> rows;
  if (const ElementPtr given = node.element_param("rows"); given != nullptr) {
    const bool fits = given->values.size() == 1 && given->values[0].dtype() == DType::kInt64 &&
                      std::cmp_equal(given->values[0].count(), paths.size());
    if (!fits) return invalid_argument("npy_rows: `rows` must be a number for each file");
    rows = {reinterpret_cast<const std::int64_t*>(given->values[0].data()), paths.size()};
  }
  return node
      .shared<Headers>([&] {
        const std::string member = node.string_param("member");
        return std::make_shared<Headers>(Headers{read_headers(paths, member, rows)});
      })
      ->found;
}

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const auto files, headers_of(node));
  const NpyHeader& header = files->files.front().header;
  return Inferred{Structure::tensor(header.dtype, header.row()), files->rows};
}

// `rows` rows of one file as a chunk.
Result<Chunk> read_rows(const AccountPtr& account, const StructurePtr& structure,
                        const NpyFile& from, const File& file, std::int64_t index,
                        std::int64_t rows, ScopePtr scope) {
  const NpyHeader& header = from.header;
  SW_ASSIGN(Tensor block, make_tensor(account, header.dtype, header.row().with_leading(rows)));
  SW_RETURN_IF_ERROR(
      read_npy_rows(file, header, index - from.first, rows, block.mutable_data(), account));
  block.buffer()->touch();
  std::vector<Column> columns;
  columns.emplace_back(std::move(block));
  return Chunk(structure, rows, std::move(columns), Origins::regular(std::move(scope), index));
}

class NpyIterator final : public Iterator {
 public:
  NpyIterator(const OpenContext& context, std::shared_ptr<const NpyFiles> files)
      : Iterator(context.stage(), context.epoch()),
        files_(std::move(files)),
        context_(context),
        aligned_(context.node().bool_param("aligned")) {}

  Next pull(const Demand& demand) override {
    if (bad_ < files_->bad.size() && files_->bad[bad_].first <= at_) return next_bad();
    while (at_ < files_->rows) {
      const NpyFile& from = files_->of(at_);
      const std::int64_t rows = rows_for(from, demand);
      auto read = read_some(from, rows);
      if (read.ok()) {
        at_ += rows;
        most_ = std::min(most_, kAnyNumber / 2) * 2;
        return std::optional(std::move(read).value());
      }
      if (!is_position(read.error())) return std::move(read).status();
      most_ = std::max<std::int64_t>(1, rows / 2);
      if (rows > 1) continue;  // those before the bad one come first
      Status error = std::move(read).status();
      error.edit().index = at_;
      // The rest of the file cannot be read either.
      at_ = aligned_ ? at_ + 1 : from.first + from.header.rows();
      return error;
    }
    return end_of_data();
  }

  Status skip(std::int64_t rows) override {
    if (!files_->bad.empty()) return Iterator::skip(rows);
    at_ += std::min(rows, files_->rows - at_);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    if (!files_->bad.empty()) out.put(static_cast<std::int64_t>(bad_));
    return {};
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(at_, files_->rows));
    if (files_->bad.empty()) return {};
    std::int64_t bad = 0;
    SW_RETURN_IF_ERROR(in.get_count(bad, static_cast<std::int64_t>(files_->bad.size())));
    bad_ = static_cast<std::size_t>(bad);
    return {};
  }

 private:
  static constexpr std::int64_t kAnyNumber = std::int64_t{1} << 62U;

  std::int64_t rows_for(const NpyFile& from, const Demand& demand) const {
    const std::size_t each = std::max<std::size_t>(1, from.header.row_bytes());
    const auto fit = std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / each));
    const std::int64_t left = from.first + from.header.rows() - at_;
    return std::min({demand.rows, fit, left, most_});
  }
  // The error that stands for a file.
  Next next_bad() {
    const BadFile& bad = files_->bad[bad_++];
    Status error = bad.why;
    ErrorInfo& info = error.edit();
    if (info.file.empty()) info.file = bad.path;
    info.index = at_;
    if (info.origin.empty()) info.origin = context_.source_scope(bad.path)->source;
    return error;
  }
  Result<Chunk> read_some(const NpyFile& from, std::int64_t rows) {
    if (of_ != &from) {
      of_ = nullptr;
      open_ = nullptr;
      SW_ASSIGN(open_, open_again(from, account()));
      of_ = &from;
      scope_ = context_.source_scope(from.name());
    }
    return read_rows(account(), stage().node().structure(), from, *open_, at_, rows, scope_);
  }

  const std::shared_ptr<const NpyFiles> files_;
  const OpenContext context_;
  const bool aligned_;
  const NpyFile* of_ = nullptr;  // whose array is open
  FilePtr open_;
  ScopePtr scope_;
  std::int64_t most_ = kAnyNumber;  // rows at a time: fewer after an error
  std::int64_t at_ = 0;
  std::size_t bad_ = 0;  // of files_->bad: passed
};

class NpyIndexed final : public Indexed {
 public:
  NpyIndexed(const OpenContext& context, std::shared_ptr<const NpyFiles> files)
      : Indexed(context), files_(std::move(files)), context_(context) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Chunk> rows;
    for (const std::int64_t index : indices) {
      const NpyFile& from = files_->of(index);
      if (of_ != &from) {
        of_ = nullptr;
        open_ = nullptr;
        SW_ASSIGN(open_, open_again(from, account()));
        of_ = &from;
      }
      SW_ASSIGN(Chunk row, read_rows(account(), node().structure(), from, *open_, index, 1,
                                     context_.source_scope(from.name())));
      rows.push_back(std::move(row));
    }
    return join_rows(node().structure(), rows);
  }

 private:
  const std::shared_ptr<const NpyFiles> files_;
  const OpenContext context_;
  const NpyFile* of_ = nullptr;  // whose array is open
  FilePtr open_;
};

constexpr ParamDef kParams[] = {
    kFilesParam,
    {"member", ParamType::kString, "None", "the array's name, where the files are .npz archives"},
    {"aligned", ParamType::kBool, "False",
     "whether a file that cannot be read is an error for each of its rows, not one for all: for "
     "columns that are walked together"},
    {"rows", ParamType::kElement, "None",
     "for each file how many rows it has where its own header cannot be read, -1 where nobody "
     "knows: such files are errors of the pass, not of the dataset"},
};

}  // namespace

extern constexpr OperatorDef npy_rows_operator{
    .name = "npy_rows",
    .summary = "The rows of .npy files, or of an array of .npz archives, read as they are needed.",
    .example =
        ">>> import numpy as np, tempfile\n"
        ">>> path = tempfile.mkdtemp() + '/a.npy'\n"
        ">>> np.save(path, np.arange(6).reshape(3, 2))\n"
        ">>> [row.tolist() for row in sw.Dataset.npy_rows(path)]\n"
        "[[0, 1], [2, 3], [4, 5]]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(auto files, headers_of(context.node()));
      return IteratorPtr(std::make_unique<NpyIterator>(context, std::move(files)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(auto files, headers_of(context.node()));
      return IndexedPtr(std::make_unique<NpyIndexed>(context, std::move(files)));
    }};

}  // namespace spillway
