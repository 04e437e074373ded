#include "spillway/pipeline/directed_interleave.h"

namespace spillway {

extern const OperatorDef random_operator;
extern const OperatorDef random_choice_operator;

namespace {

Status typed(Status status, std::string type) {
  status.edit().type = std::move(type);
  return status;
}

double weight_at(const Tensor& weights, std::size_t i) {
  return weights.dtype() == DType::kFloat64 ? weights.as<double>()[i]
                                            : static_cast<double>(weights.as<float>()[i]);
}

Status check_weights(const Node& node) {
  const ElementPtr weights = node.element_param("weights");
  if (weights == nullptr) return {};
  const std::size_t n = node.inputs().size();
  const bool one = weights->values.size() == 1 && weights->values[0].shape().rank() == 1;
  if (!one || weights->values[0].count() != static_cast<std::int64_t>(n)) {
    return typed(
        invalid_argument("Invalid `weights`. `weights` should have the same length as "
                         "`datasets` but got `len(weights)=",
                         one ? weights->values[0].count() : 0, "` vs. `len(datasets)=", n, "`."),
        "ValueError");
  }
  const DType dtype = weights->values[0].dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    return typed(invalid_argument("Invalid `weights`. `weights` type must be either `tf.float32` "
                                  "or `tf.float64` but is <dtype: '",
                                  name_of(dtype), "'>."),
                 "TypeError");
  }
  return {};
}

// Datasets of no weight are never chosen: they count as ended, so that they keep nothing going.
std::vector<bool> without_weight(const Node& node) {
  std::vector<bool> out(node.inputs().size(), false);
  const ElementPtr weights = node.element_param("weights");
  if (weights == nullptr) return out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = !(weight_at(weights->values[0], i) > 0);
  return out;
}

Result<Inferred> infer(const Node& node) {
  if (node.inputs().empty()) {
    return typed(invalid_argument("Invalid `datasets`. `datasets` should not be empty."),
                 "ValueError");
  }
  SW_RETURN_IF_ERROR(check_weights(node));
  const std::vector<bool> excluded = without_weight(node);
  std::vector<NodePtr> chosen;
  for (std::size_t i = 0; i < excluded.size(); ++i) {
    if (!excluded[i]) chosen.push_back(node.inputs()[i]);
  }
  if (chosen.empty()) return Inferred{node.inputs()[0]->structure(), 0};
  SW_ASSIGN(StructurePtr structure, mixed_structure(chosen));
  const std::int64_t cardinality =
      chosen.size() == 1 ? chosen[0]->cardinality() : mixed_cardinality(chosen);
  return Inferred{std::move(structure), cardinality};
}

// The node's own: passes that are to differ share its random numbers.
struct Selector {
  Result<NodePtr> node;
};

Result<NodePtr> make_selector(const Node& node) {
  std::vector<Value> params;
  for (const ParamDef& def : random_operator.params) params.push_back(node.param(def.name));
  SW_ASSIGN(NodePtr numbers, Node::make(random_operator, std::move(params), {}, node.line()));
  return Node::make(random_choice_operator,
                    {node.param("weights"), static_cast<std::int64_t>(node.inputs().size())},
                    {std::move(numbers)}, node.line());
}

std::shared_ptr<Selector> selector_of(const Node& node) {
  return node.shared<Selector>(
      [&] { return std::make_shared<Selector>(Selector{make_selector(node)}); });
}

constexpr ParamDef kParams[] = {
    {"datasets", ParamType::kDatasets, "", "what is chosen from"},
    {"weights", ParamType::kElement, "None", "share of each dataset; None: equal shares"},
    {"seed", ParamType::kInt, "0", "with seed2, decides the choices; 0 and 0: they are drawn"},
    {"seed2", ParamType::kInt, "0", "the other half of the seed"},
    {"stop_on_empty_dataset", ParamType::kBool, "False",
     "whether choosing a dataset that has ended ends all; else it is passed over"},
    {"rerandomize_each_iteration", ParamType::kBool, "None",
     "other choices in every epoch; the same ones when None"},
};

}  // namespace

extern constexpr OperatorDef sample_from_datasets_operator{
    .name = "sample_from_datasets",
    .summary = "Takes each element from one of the datasets, chosen at random.",
    .example =
        ">>> a = sw.Dataset.range(3)\n"
        ">>> b = sw.Dataset.range(10, 13)\n"
        ">>> ds = sw.Dataset.sample_from_datasets([a, b], seed=1)\n"
        ">>> sorted(int(x) for x in ds.as_numpy_iterator())\n"
        "[0, 1, 2, 10, 11, 12]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kSharedState,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      const Node& node = context.node();
      const auto selector = selector_of(node);
      if (!selector->node.ok()) return selector->node.error();
      DirectedParts parts;
      SW_ASSIGN(parts.selector, context.open_aside(selector->node.value()));
      parts.overpull_selector = true;
      parts.excluded = without_weight(node);
      parts.stop_on_empty = node.bool_param("stop_on_empty_dataset");
      return open_directed(context, std::move(parts));
    },
    .shared = [](const Node& node) -> std::shared_ptr<SharedState> {
      const auto selector = selector_of(node);
      if (!selector->node.ok()) return nullptr;
      return random_operator.shared(*selector->node.value()->inputs()[0]);
    }};

}  // namespace spillway
