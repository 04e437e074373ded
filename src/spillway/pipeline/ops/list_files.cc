#include <algorithm>

#include "spillway/io/glob.h"
#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

using Files = std::vector<std::string>;
struct Found {
  Files files;
  Status status;
};

// Looked for once, when the dataset is built; all passes see the same files.
std::shared_ptr<Found> found_by(const Node& node) {
  return node.shared<Found>([&] {
    auto found = std::make_shared<Found>();
    const ElementPtr patterns = node.element_param("file_pattern");
    for (std::int64_t i = 0; i < patterns->values[0].count() && found->status.ok(); ++i) {
      found->status = add_matching_files(patterns->values[0].string_at(i), found->files);
    }
    std::ranges::sort(found->files);
    return found;
  });
}
std::shared_ptr<const Files> files_of(const Node& node) {
  const std::shared_ptr<Found> found = found_by(node);
  return {found, &found->files};
}

Result<Inferred> infer(const Node& node) {
  const ElementPtr patterns = node.element_param("file_pattern");
  if (patterns == nullptr || patterns->values.size() != 1 ||
      patterns->values[0].dtype() != DType::kString || patterns->values[0].shape().rank() > 1) {
    Status status =
        invalid_argument("list_files: file_pattern must be a string or a vector of them");
    status.edit().type = "ValueError";
    return status;
  }
  SW_RETURN_IF_ERROR(found_by(node)->status);
  const std::shared_ptr<const Files> files = files_of(node);
  if (files->empty()) {
    std::string all;
    for (std::int64_t i = 0; i < patterns->values[0].count(); ++i) {
      if (i > 0) all += ", ";
      all += patterns->values[0].string_at(i);
    }
    return invalid_argument("No files matched pattern: ", all);
  }
  return Inferred{Structure::tensor(DType::kString, {}), static_cast<std::int64_t>(files->size())};
}

// File names [at, at + rows) or those of `indices`.
template <class Indices>
Result<Chunk> rows_of(const AccountPtr& account, const Files& files, const Indices& indices,
                      std::int64_t rows, const StructurePtr& structure, Origins origins) {
  std::vector<std::string_view> names;
  names.reserve(static_cast<std::size_t>(rows));
  for (const std::int64_t i : indices) names.push_back(files[static_cast<std::size_t>(i)]);
  SW_ASSIGN(Tensor block, make_strings(account, Shape{rows}, names));
  std::vector<Column> columns;
  columns.emplace_back(std::move(block));
  return Chunk(structure, rows, std::move(columns), std::move(origins));
}

class ListFilesIterator final : public Iterator {
 public:
  explicit ListFilesIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        files_(files_of(context.node())),
        scope_(context.source_scope()) {}

  Next pull(const Demand& demand) override {
    const auto count = static_cast<std::int64_t>(files_->size());
    if (at_ >= count) return end_of_data();
    // Names are short: a few hundred of them are a piece of work.
    const std::int64_t rows = std::min({demand.rows, std::int64_t{256}, count - at_});
    std::vector<std::int64_t> indices(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) indices[static_cast<std::size_t>(i)] = at_ + i;
    SW_ASSIGN(Chunk chunk, rows_of(account(), *files_, indices, rows, stage().node().structure(),
                                   Origins::regular(scope_, at_)));
    at_ += rows;
    return std::optional<Chunk>(std::move(chunk));
  }

  Status skip(std::int64_t rows) override {
    at_ += std::min(rows, static_cast<std::int64_t>(files_->size()) - at_);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    return {};
  }
  Status restore(StateReader& in) override {
    return in.get_count(at_, static_cast<std::int64_t>(files_->size()));
  }

 private:
  const std::shared_ptr<const Files> files_;
  const ScopePtr scope_;
  std::int64_t at_ = 0;
};

class ListFilesIndexed final : public Indexed {
 public:
  explicit ListFilesIndexed(const OpenContext& context)
      : Indexed(context), files_(files_of(node())), scope_(context.source_scope()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    return rows_of(account(), *files_, indices, static_cast<std::int64_t>(indices.size()),
                   node().structure(),
                   Origins::scattered(scope_, {indices.begin(), indices.end()}));
  }

 private:
  const std::shared_ptr<const Files> files_;
  const ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    {"file_pattern", ParamType::kElement, "", "a glob pattern, or several"},
};

}  // namespace

extern constexpr OperatorDef list_files_operator{
    .name = "list_files",
    .summary = "The names of the files that match, sorted.",
    .example =
        ">>> list(sw.Dataset.list_files('/etc/host*s', shuffle=False).as_numpy_iterator())\n"
        "[b'/etc/hosts']",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<ListFilesIterator>(context));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      return IndexedPtr(std::make_unique<ListFilesIndexed>(context));
    }};

}  // namespace spillway
