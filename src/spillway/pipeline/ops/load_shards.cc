#include <algorithm>

#include "spillway/pipeline/saved_rows.h"

namespace spillway {
namespace {

StructurePtr element_of(const Node& node, const SavedDataset& saved) {
  StructurePtr spec = node.signature_param("element_spec");
  return spec != nullptr ? spec : saved.structure;
}

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const SavedPtr saved, saved_of(node));
  SW_RETURN_IF_ERROR(
      check_saved(*saved, node.signature_param("element_spec"), node.param("compression")));
  return Inferred{Structure::dataset(element_of(node, *saved)),
                  static_cast<std::int64_t>(saved->shards.size())};
}

class LoadShardsIterator final : public Iterator {
 public:
  LoadShardsIterator(const OpenContext& context, SavedPtr saved)
      : Iterator(context.stage(), context.epoch()),
        saved_(std::move(saved)),
        element_(element_of(context.node(), *saved_)),
        scope_(context.source_scope(metadata_path(saved_->folder))) {}

  Next pull(const Demand& demand) override {
    const auto count = static_cast<std::int64_t>(saved_->shards.size());
    if (at_ >= count) return end_of_data();
    const std::int64_t rows = std::min({demand.rows, std::int64_t{64}, count - at_});
    std::vector<Row> out;
    for (std::int64_t i = at_; i < at_ + rows; ++i) {
      const SavedShard& shard = saved_->shards[static_cast<std::size_t>(i)];
      std::vector<Value> params = {saved_->folder,
                                   saved_->run,
                                   static_cast<std::int64_t>(shard.id),
                                   shard.rows,
                                   static_cast<std::int64_t>(shard.bytes),
                                   std::string(name_of(saved_->compression)),
                                   element_};
      SW_ASSIGN(NodePtr node, Node::make(*find_operator("saved_shard"), std::move(params), {},
                                         stage().node().line()));
      out.push_back(
          {{make_variant(std::make_shared<DatasetValue>(std::move(node)))}, {scope_, i, 1}});
    }
    at_ += rows;
    return std::optional(Chunk::from_rows(stage().node().structure(), std::move(out)));
  }

  Status skip(std::int64_t rows) override {
    at_ += std::min(rows, static_cast<std::int64_t>(saved_->shards.size()) - at_);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    return {};
  }
  Status restore(StateReader& in) override {
    return in.get_count(at_, static_cast<std::int64_t>(saved_->shards.size()));
  }

 private:
  const SavedPtr saved_;
  const StructurePtr element_;
  const ScopePtr scope_;
  std::int64_t at_ = 0;
};

constexpr ParamDef kParams[] = {
    {"path", ParamType::kString, "", "the folder that save was given"},
    {"element_spec", ParamType::kSignature, "None", "must fit what was saved"},
    {"compression", ParamType::kString, "None", "must be the one it was saved with"},
};

}  // namespace

extern constexpr OperatorDef load_shards_operator{
    .name = "load_shards",
    .summary = "The shards of a saved dataset, each as a dataset.",
    .example = "",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(SavedPtr saved, saved_of(context.node()));
      return IteratorPtr(std::make_unique<LoadShardsIterator>(context, std::move(saved)));
    }};

}  // namespace spillway
