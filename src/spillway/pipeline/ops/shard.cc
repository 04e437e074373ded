#include <algorithm>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

// TensorFlow's SHARD_HINT: a number of shards that a distribution strategy fills in.
constexpr std::int64_t kHint = -1;

Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t shards = node.int_param("num_shards");
  const std::int64_t index = node.int_param("index");
  if (shards == kHint) return Inferred{input.structure(), kUnknownCount};
  if (shards <= 0) {
    return invalid_argument(
        "Number of shards must be greater than zero (currently num_shards = ", shards, ").");
  }
  if (index < 0 || index >= shards) {
    return invalid_argument("Index must be between 0 and ", shards - 1,
                            " (currently index = ", index, ").");
  }
  const std::int64_t n = input.cardinality();
  return Inferred{input.structure(), n < 0 ? n : n / shards + (index < n % shards ? 1 : 0)};
}

// Every output is a row after `need_` others. As TensorFlow counts: an error among the others
// starts their count anew, one in the row's place moves the row back by one.
class ShardIterator final : public Iterator {
 public:
  ShardIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        shards_(context.node().int_param("num_shards")),
        need_(context.node().int_param("index")) {}

  Next pull(const Demand& demand) override {
    if (shards_ == 1) return input_->next(demand);
    for (;;) {
      // Up to the last row of the demand and not one further.
      std::int64_t span = 0;
      if (__builtin_mul_overflow(demand.rows - 1, shards_, &span)) span = 0;
      const std::int64_t first = need_ - passed_;
      Next next = input_->next(demand.with_rows(first + 1 + span));
      if (!next.ok()) {
        if (passed_ < need_ && is_position(next.error())) passed_ = 0;
        return next;
      }
      if (!next.value()) return next;
      const Chunk& rows = *next.value();
      std::vector<std::int64_t> mine;
      for (std::int64_t i = first; i < rows.rows(); i += shards_) mine.push_back(i);
      const auto kept = static_cast<std::int64_t>(mine.size());
      if (kept == 0) {
        leave_out(rows.amount());
        passed_ += rows.rows();
        continue;
      }
      need_ = shards_ - 1;
      passed_ = rows.rows() - mine.back() - 1;
      Chunk out = kept == 1 ? rows.slice(mine[0], mine[0] + 1) : select_rows(account(), rows, mine);
      leave_out(rows.amount() - out.amount());
      return std::optional<Chunk>(std::move(out));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(need_);
    out.put(passed_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(need_, shards_ - 1));
    SW_RETURN_IF_ERROR(in.get_count(passed_, need_));
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t shards_;
  std::int64_t need_;
  std::int64_t passed_ = 0;
};

class ShardIndexed final : public Indexed {
 public:
  ShardIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context),
        input_(std::move(input)),
        shards_(node().int_param("num_shards")),
        index_(node().int_param("index")) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<std::int64_t> inner(indices.begin(), indices.end());
    for (std::int64_t& i : inner) i = i * shards_ + index_;
    return input_->at(inner);
  }

 private:
  const IndexedPtr input_;
  const std::int64_t shards_;
  const std::int64_t index_;
};

constexpr ParamDef kParams[] = {
    {"num_shards", ParamType::kInt, "", "into how many parts the dataset is divided"},
    {"index", ParamType::kInt, "", "which part, from 0"},
};

}  // namespace

extern constexpr OperatorDef shard_operator{
    .name = "shard",
    .summary = "Keeps every `num_shards`-th element, beginning with element `index`.",
    .example =
        ">>> list(sw.Dataset.range(5).shard(2, 1).as_numpy_iterator())\n"
        "[np.int64(1), np.int64(3)]",
    .params = kParams,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      if (context.node().int_param("num_shards") == kHint) {
        return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                             "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
                             "`tf.distribute.Strategy.experimental_distribute_dataset()` with "
                             "`tf.data.experimental.AutoShardPolicy.HINT` policy, or tf.data "
                             "service with `tf.data.experimental.service.ShardingPolicy.HINT` "
                             "processing mode.");
      }
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<ShardIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), context.node()));
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<ShardIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
