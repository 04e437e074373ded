#include <algorithm>

#include "spillway/io/formats/npy.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

struct NpyFile {
  std::string path;
  NpyHeader header;
  std::int64_t first = 0;  // index of its first row
};

// The headers of all files, read once when the dataset is built.
struct NpyFiles {
  std::vector<NpyFile> files;
  std::int64_t rows = 0;

  // The file that holds row `index`.
  const NpyFile& of(std::int64_t index) const {
    const auto behind = std::ranges::upper_bound(files, index, {}, &NpyFile::first);
    return *(behind - 1);
  }
};

Status differs(const NpyFile& file, const NpyFile& first) {
  const auto words = [](const NpyFile& f) {
    return std::string(name_of(f.header.dtype)) + " " + f.header.row().to_string();
  };
  Status status =
      bad_data(Code::kInvalidArgument, "from_npy: the rows of all files must be alike: ", file.path,
               " has ", words(file), ", ", first.path, " has ", words(first));
  status.edit().type = "ShapeError";
  status.edit().file = file.path;
  return status;
}

Result<std::shared_ptr<const NpyFiles>> read_headers(const std::vector<std::string>& paths) {
  auto out = std::make_shared<NpyFiles>();
  for (const std::string& path : paths) {
    SW_ASSIGN(const FilePtr file, open_file(path));
    SW_ASSIGN(NpyHeader header, read_npy_header(*file));
    out->files.push_back({path, std::move(header), out->rows});
    const NpyFile& added = out->files.back();
    const NpyFile& first = out->files.front();
    if (added.header.dtype != first.header.dtype || added.header.row() != first.header.row()) {
      return differs(added, first);
    }
    out->rows += added.header.rows();
  }
  if (out->files.empty()) return invalid_argument("from_npy: at least one file must be named");
  return std::shared_ptr<const NpyFiles>(std::move(out));
}

struct Headers {
  Result<std::shared_ptr<const NpyFiles>> found;
};
Result<std::shared_ptr<const NpyFiles>> headers_of(const Node& node) {
  SW_ASSIGN(const std::vector<std::string> paths, files_param(node, kFilesParam.name));
  return node
      .shared<Headers>([&] { return std::make_shared<Headers>(Headers{read_headers(paths)}); })
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
      : Iterator(context.stage(), context.epoch()), files_(std::move(files)), context_(context) {}

  Next pull(const Demand& demand) override {
    if (at_ >= files_->rows) return end_of_data();
    const NpyFile& from = files_->of(at_);
    auto rows = read(from, demand);
    if (!rows.ok()) {
      Status error = std::move(rows).status();
      if (!is_position(error)) return error;
      error.edit().index = at_;
      at_ = from.first + from.header.rows();  // the rest of the file cannot be read either
      return error;
    }
    at_ += rows.value().rows();
    return std::optional(std::move(rows).value());
  }

  Status skip(std::int64_t rows) override {
    at_ += std::min(rows, files_->rows - at_);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    return {};
  }
  Status restore(StateReader& in) override { return in.get_count(at_, files_->rows); }

 private:
  Result<Chunk> read(const NpyFile& from, const Demand& demand) {
    if (open_ == nullptr || open_->path() != from.path) {
      SW_ASSIGN(open_, open_file(from.path));
      scope_ = context_.source_scope(from.path);
    }
    const std::size_t each = std::max<std::size_t>(1, from.header.row_bytes());
    const auto fit = std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / each));
    const std::int64_t left = from.first + from.header.rows() - at_;
    return read_rows(account(), stage().node().structure(), from, *open_, at_,
                     std::min({demand.rows, fit, left}), scope_);
  }

  const std::shared_ptr<const NpyFiles> files_;
  const OpenContext context_;
  FilePtr open_;
  ScopePtr scope_;
  std::int64_t at_ = 0;
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
      if (open_ == nullptr || open_->path() != from.path) {
        SW_ASSIGN(open_, open_file(from.path));
      }
      SW_ASSIGN(Chunk row, read_rows(account(), node().structure(), from, *open_, index, 1,
                                     context_.source_scope(from.path)));
      rows.push_back(std::move(row));
    }
    return join_rows(node().structure(), rows);
  }

 private:
  const std::shared_ptr<const NpyFiles> files_;
  const OpenContext context_;
  FilePtr open_;
};

constexpr ParamDef kParams[] = {kFilesParam};

}  // namespace

extern constexpr OperatorDef npy_rows_operator{
    .name = "npy_rows",
    .summary = "The rows of .npy files, read as they are needed.",
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
