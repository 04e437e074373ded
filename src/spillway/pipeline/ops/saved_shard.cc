#include "spillway/pipeline/saved_rows.h"

namespace spillway {
namespace {

// Everything is in the parameters: no metadata is read again for every shard.
Result<SavedPtr> shard_in(const Node& node) {
  auto saved = std::make_shared<SavedDataset>();
  saved->folder = node.string_param("path");
  saved->run = node.string_param("run");
  if (!is_run_name(saved->run)) {
    return invalid_argument("saved_shard: `run` must be 16 hexadecimal digits: ", saved->run);
  }
  saved->structure = node.signature_param("element_spec");
  SW_ASSIGN(saved->compression, saved_compression(node.string_param("compression"), false));
  saved->rows = node.int_param("rows");
  if (saved->rows < 0) return invalid_argument("saved_shard: `rows` must be >= 0: ", saved->rows);
  saved->shards.push_back({static_cast<std::uint64_t>(node.int_param("shard")), saved->rows,
                           static_cast<std::uint64_t>(node.int_param("bytes"))});
  return SavedPtr(std::move(saved));
}

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const SavedPtr saved, shard_in(node));
  if (saved->structure == nullptr) {
    return invalid_argument("saved_shard: `element_spec` must be given");
  }
  return Inferred{saved->structure, saved->rows};
}

constexpr ParamDef kParams[] = {
    {"path", ParamType::kString, "", "the folder that save was given"},
    {"run", ParamType::kString, "", "the folder in it"},
    {"shard", ParamType::kInt, "", "its id"},
    {"rows", ParamType::kInt, "", "as many as it has"},
    {"bytes", ParamType::kInt, "", "of the file"},
    {"compression", ParamType::kString, "''", "'' or 'GZIP'"},
    {"element_spec", ParamType::kSignature, "", "what a row looks like"},
};

}  // namespace

extern constexpr OperatorDef saved_shard_operator{
    .name = "saved_shard",
    .summary = "The rows of one shard of a saved dataset.",
    .example = "",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(SavedPtr saved, shard_in(context.node()));
      return open_saved_rows(context, std::move(saved), 1);
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(SavedPtr saved, shard_in(context.node()));
      return index_saved_rows(context, std::move(saved));
    }};

}  // namespace spillway
