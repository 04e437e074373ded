#include "spillway/dataset.h"

#include "spillway/front/arguments.h"
#include "spillway/front/front_access.h"

namespace spillway {
namespace {

std::string line_of(const std::source_location& at) {
  return std::string(at.file_name()) + ":" + std::to_string(at.line());
}

// TensorFlow's seed pair for an operator seed without a global one.
constexpr std::int64_t kDefaultGraphSeed = 87654321;
constexpr std::int64_t kSeedModulus = 2147483647;  // 2^31 - 1

std::int64_t reduced(std::int64_t seed) {
  return (seed % kSeedModulus + kSeedModulus) % kSeedModulus;
}

Argument or_none(std::optional<std::int64_t> value) {
  return value ? Argument(*value) : Argument();
}

}  // namespace

Dataset Dataset::source(std::string_view op, std::initializer_list<NamedArgument> arguments,
                        const Where& at) {
  return FrontAccess::dataset(make_node(op, nullptr, arguments, line_of(at)));
}

Dataset Dataset::apply(std::string_view op, std::initializer_list<NamedArgument> arguments,
                       const Where& at) const {
  return FrontAccess::dataset(make_node(op, this, arguments, line_of(at)));
}

Dataset Dataset::range(std::int64_t stop, const Where& at) { return range(0, stop, 1, at); }

Dataset Dataset::range(std::int64_t start, std::int64_t stop, std::int64_t step, const Where& at) {
  return source("range", {{"start", start}, {"stop", stop}, {"step", step}}, at);
}

Dataset Dataset::from_tensors(const Sample& sample, const Where& at) {
  return source("from_tensors", {{"tensors", sample}}, at);
}

Dataset Dataset::from_tensor_slices(const Sample& sample, const Where& at) {
  return source("from_tensor_slices", {{"tensors", sample}}, at);
}

Dataset Dataset::zip(const std::vector<Dataset>& datasets, const Where& at) {
  // A leaf stands for a dataset, as the Python front writes it.
  const Spec nest = Spec::tuple(std::vector<Spec>(datasets.size(), Spec::of<std::int64_t>()));
  return source("zip", {{"datasets", datasets}, {"nest", nest}}, at);
}

Dataset Dataset::batch(std::int64_t batch_size, bool drop_remainder, const Where& at) const {
  return apply("batch", {{"batch_size", batch_size}, {"drop_remainder", drop_remainder}}, at);
}

Dataset Dataset::cache(const std::string& filename, const Where& at) const {
  return apply("cache", {{"filename", filename}}, at);
}

Dataset Dataset::concatenate(const Dataset& other, const Where& at) const {
  return apply("concatenate", {{"dataset", other}}, at);
}

Dataset Dataset::enumerate(std::int64_t start, const Where& at) const {
  return apply("enumerate", {{"start", start}}, at);
}

Dataset Dataset::filter(std::string name, Predicate predicate, const Where& at) const {
  const Callable callable = Callable::predicate(std::move(name), std::move(predicate));
  return apply("filter", {{"predicate", callable}}, at);
}

Dataset Dataset::flat_map(std::string name, Spec element, DatasetFunction function,
                          const Where& at) const {
  const Callable callable =
      Callable::dataset(std::move(name), std::move(element), std::move(function));
  return apply("flat_map", {{"map_func", callable}}, at);
}

Dataset Dataset::map(std::string name, Spec output, MapFunction function,
                     std::int64_t parallel_calls, const Where& at) const {
  const Callable callable = Callable::map(std::move(name), std::move(output), std::move(function));
  const Argument calls = parallel_calls == 1 ? Argument() : Argument(parallel_calls);
  return apply("map", {{"map_func", callable}, {"num_parallel_calls", calls}}, at);
}

Dataset Dataset::prefetch(std::int64_t buffer_size, const Where& at) const {
  return apply("prefetch", {{"buffer_size", buffer_size}}, at);
}

Dataset Dataset::repeat(std::optional<std::int64_t> count, const Where& at) const {
  return apply("repeat", {{"count", or_none(count)}}, at);
}

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index, const Where& at) const {
  return apply("shard", {{"num_shards", num_shards}, {"index", index}}, at);
}

Dataset Dataset::shuffle(std::int64_t buffer_size, std::optional<std::int64_t> seed,
                         bool reshuffle_each_iteration, const Where& at) const {
  const std::int64_t seed1 = seed ? reduced(kDefaultGraphSeed) : 0;
  const std::int64_t seed2 = seed ? reduced(*seed) : 0;
  return apply("shuffle",
               {{"buffer_size", buffer_size},
                {"seed", seed1},
                {"seed2", seed2},
                {"reshuffle_each_iteration", reshuffle_each_iteration}},
               at);
}

Dataset Dataset::skip(std::int64_t count, const Where& at) const {
  return apply("skip", {{"count", count}}, at);
}

Dataset Dataset::take(std::int64_t count, const Where& at) const {
  return apply("take", {{"count", count}}, at);
}

Dataset Dataset::unbatch(const Where& at) const { return apply("unbatch", {}, at); }

Status Dataset::status() const { return data_->status; }

Spec Dataset::element_spec() const {
  return data_->node == nullptr ? Spec() : FrontAccess::spec(data_->node->structure());
}

std::int64_t Dataset::cardinality() const {
  return data_->node == nullptr ? kUnknownCardinality : data_->node->cardinality();
}

std::uint64_t Dataset::spec_hash() const {
  return data_->node == nullptr ? 0 : data_->node->hash();
}

std::string Dataset::to_string() const {
  return data_->node == nullptr ? describe(data_->status) : data_->node->to_string();
}

Result<std::string> Dataset::to_json() const {
  SW_RETURN_IF_ERROR(status());
  return spillway::to_json(*data_->node);
}

Dataset Dataset::from_json(const std::string& text,
                           const std::vector<std::pair<std::string, Callable>>& functions) {
  const FunctionLookup lookup = [&](const std::string& name,
                                    const std::string& code) -> Result<FunctionPtr> {
    for (const auto& [known, callable] : functions) {
      if (known != name) continue;
      SW_RETURN_IF_ERROR(FrontAccess::status(callable));
      if (FrontAccess::function(callable)->code() == code) return FrontAccess::function(callable);
      return invalid_argument("spec: the function must be the one that was saved: ", name);
    }
    return invalid_argument("spec: functions are not in the text and must be handed over: ", name);
  };
  return FrontAccess::dataset(spillway::from_json(text, lookup));
}

}  // namespace spillway
