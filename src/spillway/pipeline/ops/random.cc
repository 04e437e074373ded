#include "spillway/base/random.h"

#include <algorithm>

#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// What all passes over one node share: the seeds (drawn once when the user gave none), and the
// generator that gives every pass its own where they are to differ.
class SharedSeeds final : public SharedState {
 public:
  explicit SharedSeeds(Seeds seeds) : seeds_(seeds) {}

  Seeds own() const {
    const MutexLock lock(mutex_);
    return seeds_;
  }
  Seeds fresh() {
    const MutexLock lock(mutex_);
    PhiloxStream stream = PhiloxStream::at(seeds_.first, seeds_.second, draws_);
    draws_ += 2;
    const std::uint64_t first = stream.next();
    return {first, stream.next()};
  }
  void save(StateWriter& out) const override {
    const MutexLock lock(mutex_);
    out.put(static_cast<std::int64_t>(seeds_.first));
    out.put(static_cast<std::int64_t>(seeds_.second));
    out.put(static_cast<std::int64_t>(draws_));
  }
  Status restore(StateReader& in) override {
    std::int64_t all[3] = {};
    for (std::int64_t& value : all) SW_RETURN_IF_ERROR(in.get(value));
    const MutexLock lock(mutex_);
    seeds_ = {static_cast<std::uint64_t>(all[0]), static_cast<std::uint64_t>(all[1])};
    draws_ = static_cast<std::uint64_t>(all[2]);
    return {};
  }

 private:
  mutable Mutex mutex_;
  Seeds seeds_ SW_GUARDED_BY(mutex_);
  std::uint64_t draws_ SW_GUARDED_BY(mutex_) = 0;
};

Result<Inferred> infer(const Node&) {
  return Inferred{Structure::tensor(DType::kInt64, {}), kInfinite};
}

std::shared_ptr<SharedSeeds> shared_seeds(const Node& node) {
  return node.shared<SharedSeeds>([&] {
    Seeds seeds{static_cast<std::uint64_t>(node.int_param("seed")),
                static_cast<std::uint64_t>(node.int_param("seed2"))};
    if (seeds.first == 0 && seeds.second == 0) seeds = {entropy64(), entropy64()};
    return std::make_shared<SharedSeeds>(seeds);
  });
}

class RandomIterator final : public Iterator {
 public:
  explicit RandomIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        scope_(context.source_scope()),
        shared_(shared_seeds(context.node())),
        seeds_(context.node().bool_param("rerandomize_each_iteration") ? shared_->fresh()
                                                                       : shared_->own()),
        stream_(seeds_.first, seeds_.second) {}

  Next pull(const Demand& demand) override {
    const auto fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / sizeof(std::int64_t)));
    const std::int64_t rows = std::min(demand.rows, fit);
    const auto base = static_cast<std::int64_t>(stream_.draws());
    SW_ASSIGN(Tensor block, make_tensor(account(), DType::kInt64, Shape{rows}));
    auto* out = reinterpret_cast<std::int64_t*>(block.mutable_data());
    for (std::int64_t i = 0; i < rows; ++i) out[i] = stream_.next();
    block.buffer()->touch();
    std::vector<Column> columns;
    columns.emplace_back(std::move(block));
    return std::optional<Chunk>(Chunk(stage().node().structure(), rows, std::move(columns),
                                      Origins::regular(scope_, base)));
  }

  Status skip(std::int64_t rows) override {
    stream_ = PhiloxStream::at(seeds_.first, seeds_.second,
                               stream_.draws() + static_cast<std::uint64_t>(rows));
    return {};
  }

  // The node's part goes along, so that later passes of the restored pipeline agree too.
  Status save(StateWriter& out) const override {
    shared_->save(out);
    for (const std::uint64_t value : {seeds_.first, seeds_.second, stream_.draws()}) {
      out.put(static_cast<std::int64_t>(value));
    }
    return {};
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(shared_->restore(in));
    std::int64_t all[3] = {};
    for (std::int64_t& value : all) SW_RETURN_IF_ERROR(in.get(value));
    seeds_ = {static_cast<std::uint64_t>(all[0]), static_cast<std::uint64_t>(all[1])};
    stream_ = PhiloxStream::at(seeds_.first, seeds_.second, static_cast<std::uint64_t>(all[2]));
    return {};
  }

 private:
  const ScopePtr scope_;
  const std::shared_ptr<SharedSeeds> shared_;
  Seeds seeds_;
  PhiloxStream stream_;
};

constexpr ParamDef kParams[] = {
    {"seed", ParamType::kInt, "0", "with seed2, decides the numbers; 0 and 0: they are drawn"},
    {"seed2", ParamType::kInt, "0", "the other half of the seed"},
    {"rerandomize_each_iteration", ParamType::kBool, "None",
     "other numbers in every epoch; the same ones when None"},
};

}  // namespace

extern constexpr OperatorDef random_operator{
    .name = "random",
    .summary = "Random numbers from 0 to 2**32 - 1, without end.",
    .example =
        ">>> list(sw.Dataset.random(seed=4).take(2).as_numpy_iterator())\n"
        "[np.int64(3128586565), np.int64(2023892699)]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kSharedState,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<RandomIterator>(context));
    },
    .shared = [](const Node& node) -> std::shared_ptr<SharedState> { return shared_seeds(node); }};

}  // namespace spillway
