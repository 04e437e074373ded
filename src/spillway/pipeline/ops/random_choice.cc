#include <algorithm>
#include <cmath>

#include "spillway/base/random.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  const ElementPtr weights = node.element_param("weights");
  if (weights == nullptr && node.int_param("choices") <= 0) {
    return internal_bug("random_choice: weights or choices must be given");
  }
  return Inferred{Structure::tensor(DType::kInt64, {}), kInfinite};
}

// TensorFlow's numbers: logarithms in the weights' own type, then the running sum of their
// exponentials in double. A weight of zero has no share.
template <class T>
std::vector<double> running_shares(std::span<const T> logits) {
  T most = std::numeric_limits<T>::lowest();
  for (const T logit : logits) {
    if (std::isfinite(logit)) most = std::max(most, logit);
  }
  std::vector<double> shares;
  double total = 0;
  for (const T logit : logits) {
    if (std::isfinite(logit)) {
      total += std::exp(static_cast<double>(logit) - static_cast<double>(most));
    }
    shares.push_back(total);
  }
  return shares;
}

template <class T>
std::vector<double> shares_of_weights(const Tensor& weights) {
  std::vector<T> logits;
  logits.reserve(static_cast<std::size_t>(weights.count()));
  for (std::int64_t i = 0; i < weights.count(); ++i) logits.push_back(std::log(weights.as<T>()[i]));
  return running_shares<T>(logits);
}

std::vector<double> shares_of(const Node& node) {
  const ElementPtr weights = node.element_param("weights");
  if (weights == nullptr) {
    const std::vector<float> equal(static_cast<std::size_t>(node.int_param("choices")), 1.0F);
    return running_shares<float>(equal);
  }
  const Tensor& values = weights->values[0];
  return values.dtype() == DType::kFloat64 ? shares_of_weights<double>(values)
                                           : shares_of_weights<float>(values);
}

// One number in [0, 1) from a pair of numbers: the pair is scrambled into a key and a counter, and
// 52 bits of the first block make the fraction. As TensorFlow's stateless sampling does.
double uniform(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t kScramble = 0x02461e293ec8f720ULL;
  Philox scrambler(kScramble, second);
  scrambler.skip(first);
  const Philox::Block mix = scrambler.next();
  const auto pair = [&](int i) {
    return mix[static_cast<std::size_t>(i)] |
           (static_cast<std::uint64_t>(mix[static_cast<std::size_t>(i) + 1]) << 32);
  };
  Philox generator(pair(0), pair(2));
  const Philox::Block block = generator.next();
  const std::uint64_t bits = (static_cast<std::uint64_t>(block[0] & 0xfffffU) << 32) | block[1];
  return static_cast<double>(bits) * 0x1p-52;
}

class RandomChoiceIterator final : public Iterator {
 public:
  RandomChoiceIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        scope_(context.source_scope()),
        input_(std::move(input)),
        shares_(shares_of(context.node())) {}

  Next pull(const Demand& demand) override {
    const std::int64_t most = std::clamp<std::int64_t>(demand.rows, 1, 1024);
    SW_ASSIGN(Tensor block, make_tensor(account(), DType::kInt64, Shape{most}));
    auto* out = reinterpret_cast<std::int64_t*>(block.mutable_data());
    const std::int64_t base = input_.position() / 2;
    for (std::int64_t made = 0; made < most; ++made) {
      std::int64_t pair[2] = {};
      for (std::int64_t& number : pair) {
        SW_ASSIGN(number, draw(most - made));
      }
      const double find =
          uniform(static_cast<std::uint64_t>(pair[0]), static_cast<std::uint64_t>(pair[1])) *
          shares_.back();
      out[made] = std::upper_bound(shares_.begin(), shares_.end(), find) - shares_.begin();
    }
    block.buffer()->touch();
    use({2 * most, 2 * most});
    std::vector<Column> columns;
    columns.emplace_back(std::move(block));
    return std::optional<Chunk>(Chunk(stage().node().structure(), most, std::move(columns),
                                      Origins::regular(scope_, base)));
  }

  Status save(StateWriter& out) const override {
    return input_.save(out, input_.position() - left());
  }
  Status restore(StateReader& in) override { return input_.restore(in); }

 private:
  std::int64_t left() const { return numbers_.rows() - at_; }

  Result<std::int64_t> draw(std::int64_t pairs) {
    if (left() == 0) {
      SW_ASSIGN(std::optional<Chunk> next, input_.next(Demand{2 * pairs}));
      if (!next) return internal_bug("random_choice: random numbers must not end");
      numbers_ = std::move(*next);
      at_ = 0;
    }
    return *numbers_.columns()[0].row(at_++).as<std::int64_t>();
  }

  const ScopePtr scope_;
  Input input_;
  const std::vector<double> shares_;
  Chunk numbers_;
  std::int64_t at_ = 0;
};

constexpr ParamDef kParams[] = {
    {"weights", ParamType::kElement, "None", "share of each choice; None: equal"},
    {"choices", ParamType::kInt, "0", "how many there are, without weights"},
};

}  // namespace

extern constexpr OperatorDef random_choice_operator{
    .name = "random_choice",
    .summary = "Chooses numbers at random, from two random numbers each.",
    .example = "",
    .params = kParams,
    .ratio = Ratio::kCounted,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<RandomChoiceIterator>(context, std::move(input)));
    }};

}  // namespace spillway
