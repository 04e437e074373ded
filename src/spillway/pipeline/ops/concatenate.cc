#include <limits>
#include <utility>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

Result<StructurePtr> common(const StructurePtr& a, const StructurePtr& b) {
  auto joined = common_structure(a, b);
  if (joined.ok()) return joined;
  Status status = invalid_argument("Incompatible dataset elements:\n  ", a->to_string(), " vs.   ",
                                   b->to_string());
  status.edit().type = "TypeError";
  return status;
}

Result<Inferred> infer(const Node& node) {
  const Node& a = *node.inputs()[0];
  const Node& b = *node.inputs()[1];
  SW_ASSIGN(StructurePtr structure, common(a.structure(), b.structure()));
  std::int64_t cardinality = 0;
  if (a.cardinality() == kInfinite || b.cardinality() == kInfinite) {
    cardinality = kInfinite;
  } else if (a.cardinality() < 0 || b.cardinality() < 0) {
    cardinality = kUnknownCount;
  } else if (__builtin_add_overflow(a.cardinality(), b.cardinality(), &cardinality)) {
    cardinality = std::numeric_limits<std::int64_t>::max();
  }
  return Inferred{std::move(structure), cardinality};
}

class ConcatenateIterator final : public Iterator {
 public:
  ConcatenateIterator(const OpenContext& context, IteratorPtr first)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        input_(std::move(first)),
        structure_(context.node().structure()),
        seen_(context.node().inputs()[0]->structure()) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      Next next = input_->next(demand);
      if (!next.ok()) return next;
      if (next.value()) return relaxed(std::move(*next.value()));
      if (at_ == 1) return next;
      at_ = 1;
      SW_ASSIGN(input_, context_.open_input(1));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(at_);
    if (at_ == 1) save_shared(*context_.node().inputs()[0], out);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(at_, 1));
    if (at_ == 1) {
      SW_RETURN_IF_ERROR(restore_shared(*context_.node().inputs()[0], in));
      SW_ASSIGN(input_, context_.open_input(1));
    }
    return input_->restore(in);
  }

 private:
  // Rows of both inputs look alike. What could not be compared before is when it is seen.
  Next relaxed(Chunk rows) {
    if (structure_ != nullptr) return std::optional<Chunk>(rows.with_structure(structure_));
    if (at_ == 1 && seen_ != nullptr && rows.structure() != nullptr) {
      if (auto joined = common(seen_, rows.structure()); !joined.ok()) {
        return losing(std::move(joined).status(), rows.amount());
      }
    }
    if (at_ == 0) seen_ = rows.structure();
    return std::optional<Chunk>(std::move(rows));
  }

  const OpenContext context_;
  IteratorPtr input_;
  const StructurePtr structure_;
  StructurePtr seen_;  // of the first input's elements
  std::int64_t at_ = 0;
};

class ConcatenateIndexed final : public Indexed {
 public:
  ConcatenateIndexed(const OpenContext& context, IndexedPtr a, IndexedPtr b)
      : Indexed(context),
        a_(std::move(a)),
        b_(std::move(b)),
        rows_of_a_(node().inputs()[0]->cardinality()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<std::int64_t> of_a;
    std::vector<std::int64_t> of_b;
    for (const std::int64_t i : indices) {
      if (i < rows_of_a_) {
        of_a.push_back(i);
      } else {
        of_b.push_back(i - rows_of_a_);
      }
    }
    std::vector<Chunk> parts;
    if (!of_a.empty()) {
      SW_ASSIGN(Chunk rows, a_->at(of_a));
      parts.push_back(std::move(rows));
    }
    if (!of_b.empty()) {
      SW_ASSIGN(Chunk rows, b_->at(of_b));
      parts.push_back(std::move(rows));
    }
    const StructurePtr structure =
        node().structure() != nullptr ? node().structure() : parts[0].structure();
    const Chunk all = join_rows(structure, parts).with_structure(structure);
    if (parts.size() < 2) return all;
    std::vector<std::int64_t> order;
    std::int64_t next_a = 0;
    auto next_b = static_cast<std::int64_t>(of_a.size());
    for (const std::int64_t i : indices) order.push_back(i < rows_of_a_ ? next_a++ : next_b++);
    return gather_rows(account(), all, order);
  }

 private:
  const IndexedPtr a_;
  const IndexedPtr b_;
  const std::int64_t rows_of_a_;
};

constexpr ParamDef kParams[] = {
    {"dataset", ParamType::kDataset, "", "the dataset to go on with"},
};

}  // namespace

extern constexpr OperatorDef concatenate_operator{
    .name = "concatenate",
    .summary = "Goes on with the elements of `dataset`.",
    .example =
        ">>> a = sw.Dataset.range(2)\n"
        ">>> list(a.concatenate(sw.Dataset.range(5, 7)).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1), np.int64(5), np.int64(6)]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr first, context.open_input(0));
      return IteratorPtr(std::make_unique<ConcatenateIterator>(context, std::move(first)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), *context.node().inputs()[0]));
      SW_ASSIGN(IndexedPtr a, context.index_input(0));
      SW_ASSIGN(IndexedPtr b, context.index_input(1));
      return IndexedPtr(std::make_unique<ConcatenateIndexed>(context, std::move(a), std::move(b)));
    }};

}  // namespace spillway
