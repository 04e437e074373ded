#include <algorithm>
#include <limits>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  return Inferred{node.inputs()[0]->structure(), node.int_param("expected_cardinality")};
}

std::string elements_in_words(std::int64_t n) {
  if (n == kInfinite) return "an infinite number of elements";
  return std::to_string(n) + (n == 1 ? " element" : " elements");
}

Status wrong_count(std::int64_t expected, std::string_view but, std::int64_t n) {
  return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                       "Input dataset was expected to contain ", elements_in_words(expected), but,
                       elements_in_words(n), ".");
}

// Counts elements, not errors. After its own error nothing follows.
class AssertCardinalityIterator final : public Iterator {
 public:
  AssertCardinalityIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        expected_(context.node().int_param("expected_cardinality")) {}

  Next pull(const Demand& demand) override {
    if (over_) return end_of_data();
    const std::int64_t most =
        expected_ == kInfinite ? std::numeric_limits<std::int64_t>::max() : expected_;
    // One beyond shows that there are too many.
    Next next =
        input_->next(demand.with_rows(std::clamp<std::int64_t>(most - seen_, 1, demand.rows)));
    if (!next.ok()) return next;
    if (!next.value()) {
      over_ = true;
      if (seen_ == expected_) return end_of_data();
      return losing(wrong_count(expected_, " but contained only ", seen_), {});
    }
    seen_ += next.value()->rows();
    if (seen_ <= most) return next;
    over_ = true;
    return losing(wrong_count(expected_, " but contained at least ", seen_),
                  next.value()->amount());
  }

  Status save(StateWriter& out) const override {
    out.put(seen_);
    out.put(over_ ? 1 : 0);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    std::int64_t over = 0;
    SW_RETURN_IF_ERROR(in.get_count(seen_));
    SW_RETURN_IF_ERROR(in.get(over));
    over_ = over != 0;
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t expected_;
  std::int64_t seen_ = 0;
  bool over_ = false;
};

// Elements that are there are handed out, whatever their number: only a pass counts them.
class AssertCardinalityIndexed final : public Indexed {
 public:
  AssertCardinalityIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context),
        input_(std::move(input)),
        expected_(node().cardinality()),
        available_(node().inputs()[0]->cardinality()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    for (const std::int64_t index : indices) {
      if (available_ >= 0 && index >= available_) return missing(out_of_range(index, available_));
    }
    Result<Chunk> rows = input_->at(indices);
    if (!rows.ok() && rows.error().code() == Code::kOutOfRange) return missing(rows.error());
    return rows;
  }

 private:
  Status missing(const Status& why) const {
    Status status =
        Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                      "Input dataset was expected to contain ", elements_in_words(expected_),
                      " but index ", why.info().index, " could not be retrieved: ", why.message());
    status.edit().index = why.info().index;
    return status;
  }

  const IndexedPtr input_;
  const std::int64_t expected_;
  const std::int64_t available_;  // the input's cardinality
};

constexpr ParamDef kParams[] = {
    {"expected_cardinality", ParamType::kInt, "", "how many elements there must be"},
};

}  // namespace

extern constexpr OperatorDef assert_cardinality_operator{
    .name = "assert_cardinality",
    .summary = "States how many elements there are, and fails if that is not so.",
    .example =
        ">>> ds = sw.Dataset.range(42).filter(lambda x: x >= 0).assert_cardinality(42)\n"
        ">>> int(ds.cardinality())\n"
        "42",
    .params = kParams,
    .fallible = true,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<AssertCardinalityIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<AssertCardinalityIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
