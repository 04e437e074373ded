#include <algorithm>
#include <limits>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

StructurePtr numbered(const StructurePtr& element) {
  if (element == nullptr) return nullptr;
  return Structure::tuple({Structure::tensor(DType::kInt64, {}), element});
}

// How many numbers there are from `start` on: the largest int64 is never reached.
std::int64_t numbers_from(std::int64_t start) {
  std::int64_t count = 0;
  return __builtin_sub_overflow(kLast, start, &count) ? kLast : count;
}

Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  std::int64_t cardinality = input.cardinality();
  if (cardinality >= 0) {
    cardinality = std::min(cardinality, numbers_from(node.int_param("start")));
  }
  return Inferred{numbered(input.structure()), cardinality};
}

Chunk with_numbers(Tensor numbers, const Chunk& rows, StructurePtr structure) {
  std::vector<Column> columns;
  columns.reserve(rows.columns().size() + 1);
  columns.emplace_back(std::move(numbers));
  columns.insert(columns.end(), rows.columns().begin(), rows.columns().end());
  return {std::move(structure), rows.rows(), std::move(columns), rows.origins()};
}

class EnumerateIterator final : public Iterator {
 public:
  EnumerateIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        start_(context.node().int_param("start")),
        count_(numbers_from(start_)),
        structure_(context.node().structure()) {}

  Next pull(const Demand& demand) override {
    if (passed_ >= count_) return end_of_data();
    Next next = input_->next(demand.with_rows(std::min(demand.rows, count_ - passed_)));
    if (!next.ok()) {
      if (is_position(next.error())) ++passed_;  // a failed element has its number too
      return next;
    }
    if (!next.value()) return next;
    const Chunk& rows = *next.value();
    if (structure_ == nullptr) structure_ = numbered(rows.structure());
    // Few bytes, for rows that are here already.
    SW_ASSIGN(Tensor numbers,
              make_tensor(account(), DType::kInt64, Shape{rows.rows()}, Buffer::Ask::kPressing));
    auto* out = reinterpret_cast<std::int64_t*>(numbers.mutable_data());
    for (std::int64_t i = 0; i < rows.rows(); ++i) out[i] = start_ + passed_ + i;
    numbers.buffer()->touch();
    passed_ += rows.rows();
    return std::optional<Chunk>(with_numbers(std::move(numbers), rows, structure_));
  }

  Status skip(std::int64_t rows) override {
    const std::int64_t most = std::min(rows, count_ - passed_);
    passed_ += most;
    return input_->skip(most);
  }
  Status save(StateWriter& out) const override {
    out.put(passed_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(passed_));
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t start_;
  const std::int64_t count_;
  StructurePtr structure_;
  std::int64_t passed_ = 0;  // positions of the input
};

class EnumerateIndexed final : public Indexed {
 public:
  EnumerateIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context), input_(std::move(input)), start_(node().int_param("start")) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    SW_ASSIGN(Chunk rows, input_->at(indices));
    SW_ASSIGN(Tensor numbers, make_tensor(account(), DType::kInt64, Shape{rows.rows()}));
    auto* out = reinterpret_cast<std::int64_t*>(numbers.mutable_data());
    for (std::size_t i = 0; i < indices.size(); ++i) out[i] = start_ + indices[i];
    numbers.buffer()->touch();
    const StructurePtr& structure = node().structure();
    return with_numbers(std::move(numbers), rows,
                        structure != nullptr ? structure : numbered(rows.structure()));
  }

 private:
  const IndexedPtr input_;
  const std::int64_t start_;
};

constexpr ParamDef kParams[] = {
    {"start", ParamType::kInt, "0", "number of the first element"},
};

}  // namespace

extern constexpr OperatorDef enumerate_operator{
    .name = "enumerate",
    .summary = "Numbers the elements: (number, element).",
    .example =
        ">>> list(sw.Dataset.range(7, 9).enumerate(start=5).as_numpy_iterator())\n"
        "[(np.int64(5), np.int64(7)), (np.int64(6), np.int64(8))]",
    .params = kParams,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<EnumerateIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<EnumerateIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
