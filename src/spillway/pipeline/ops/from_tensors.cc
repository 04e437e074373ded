#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  const ElementPtr element = node.element_param("tensors");
  if (element == nullptr || element->values.empty()) {
    return invalid_argument("from_tensors: `tensors` must have at least one component");
  }
  return Inferred{element->structure, 1};
}

// Rows share the bytes of the parameter.
Chunk rows_of(const Node& node, const std::vector<Tensor>& values, const ScopePtr& scope) {
  return Chunk::from_row(node.structure(), Row{values, Origin{scope, 0, 1}});
}

class FromTensorsIterator final : public Iterator {
 public:
  explicit FromTensorsIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        element_(context.node().element_param("tensors")),
        scope_(context.source_scope()) {}

  Next pull(const Demand&) override {
    if (done_ != 0) return end_of_data();
    done_ = 1;
    return std::optional<Chunk>(rows_of(stage().node(), element_->values, scope_));
  }

  Status skip(std::int64_t rows) override {
    if (rows > 0) done_ = 1;
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(done_);
    return {};
  }
  Status restore(StateReader& in) override { return in.get_count(done_, 1); }

 private:
  const ElementPtr element_;
  const ScopePtr scope_;
  std::int64_t done_ = 0;
};

class FromTensorsIndexed final : public Indexed {
 public:
  explicit FromTensorsIndexed(const OpenContext& context)
      : Indexed(context),
        element_(node().element_param("tensors")),
        scope_(context.source_scope()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Row> rows(indices.size(), Row{element_->values, Origin{scope_, 0, 1}});
    return Chunk::from_rows(node().structure(), std::move(rows));
  }

 private:
  const ElementPtr element_;
  const ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    {"tensors", ParamType::kElement, "", "the element: arrays, or tuples and dicts of them"},
};

}  // namespace

extern constexpr OperatorDef from_tensors_operator{
    .name = "from_tensors",
    .summary = "One element: the tensors as they are.",
    .example =
        ">>> list(sw.Dataset.from_tensors([1, 2, 3]).as_numpy_iterator())\n"
        "[array([1, 2, 3], dtype=int32)]",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<FromTensorsIterator>(context));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      return IndexedPtr(std::make_unique<FromTensorsIndexed>(context));
    }};

}  // namespace spillway
