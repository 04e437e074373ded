#include "spillway/pipeline/preflight.h"

#include <algorithm>
#include <map>
#include <span>

#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

constexpr std::string_view kLeftOut[] = {"assert_cardinality", "cache",  "ignore_errors",
                                         "prefetch",           "repeat", "shuffle"};
constexpr std::string_view kBatches[] = {"batch", "padded_batch", "rebatch"};
// What goes through these is not looked at.
constexpr std::string_view kBlind[] = {"with_options", "on_error"};
constexpr std::string_view kChoosing[] = {"shard", "skip", "take"};
constexpr std::string_view kGathering[] = {"batch",  "group_by_window", "padded_batch",
                                           "window", "window_rows",     "rebatch"};
constexpr std::int64_t kAutotune = -1;
constexpr std::int64_t kRetries = 2;  // of on_error="retry"

bool among(std::span<const std::string_view> names, const Node& node) {
  return std::ranges::find(names, node.op().name) != names.end();
}

void set(const Node& node, std::vector<Value>& params, std::string_view name, const Value& value) {
  const ParamList& definitions = node.op().params;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i].name == name) params[i] = value;
  }
}

// Failing elements are told of, all of them, after as many attempts as the user wanted.
void set_policy(const Node& node, std::vector<Value>& params, std::string_view action) {
  if (node.string_param(action) == "retry") {
    set(node, params, "retries", node.int_param("retries", kRetries));
  }
  set(node, params, action, std::string("raise"));
  for (const std::string_view limit : {"max_errors", "max_error_rate", "quarantine"}) {
    set(node, params, limit, Value());
  }
}

Result<NodePtr> without_failed(const NodePtr& input) {
  const OperatorDef* const op = find_operator("on_error");
  std::vector<Value> params(op->params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (op->params[i].name == "action") params[i] = std::string("skip");
    if (op->params[i].name == "early_end") params[i] = true;
  }
  return Node::make(*op, std::move(params), {input}, input->line());
}

class Rewriting {
 public:
  struct Place {
    bool blind = true;     // nothing behind looks at elements
    bool endless = false;  // repeats stay: they go along with something that ends
    bool operator<(const Place& o) const {
      return std::pair(blind, endless) < std::pair(o.blind, o.endless);
    }
  };

  Result<NodePtr> of(const NodePtr& node, Place place) {
    const auto key = std::pair(node.get(), place);
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    SW_ASSIGN(NodePtr out, rewrite(node, place));
    made_.emplace(key, out);
    return out;
  }

 private:
  Result<NodePtr> rewrite(const NodePtr& node, Place place) {
    const bool stays = place.endless && node->op().name == "repeat";
    if (among(kLeftOut, *node) && !stays) return of(node->inputs()[0], place);
    if (place.blind && among(kBatches, *node)) return of(node->inputs()[0], place);
    if (among(kChoosing, *node) && is_shuffled(*node) &&
        node->inputs()[0]->cardinality() != kInfinite) {
      return of(node->inputs()[0], place);
    }
    // A source stays itself, with what its passes share.
    const bool policed = !node->op().params.policy().empty() && !is_none(node->param("on_error"));
    if (node->inputs().empty() && !policed) return node;
    place.blind &= among(kBlind, *node);
    if (node->inputs().size() > 1) place.endless = keeps_repeats(*node);
    std::vector<NodePtr> inputs;
    for (const NodePtr& input : node->inputs()) {
      SW_ASSIGN(NodePtr made, of(input, place));
      if (among(kGathering, *node)) {
        SW_ASSIGN(made, without_failed(made));
      }
      inputs.push_back(std::move(made));
    }
    std::vector<Value> params = node->params();
    if (policed) set_policy(*node, params, "on_error");
    if (node->op().name == "on_error") set_policy(*node, params, "action");
    if (node->op().name == "map" && !node->function_param("map_func")->holds_interpreter() &&
        is_none(node->param("num_parallel_calls"))) {
      set(*node, params, "num_parallel_calls", kAutotune);
    }
    return Node::make(node->op(), std::move(params), std::move(inputs), node->line(), node->name());
  }

  // Whether the order of its input differs from pass to pass.
  static bool is_shuffled(const Node& node) {
    return std::ranges::any_of(node.inputs(), [](const NodePtr& input) {
      return input->op().name == "shuffle" || is_shuffled(*input);
    });
  }

  // Datasets that are walked together end with the shortest: one that is repeated for the sake of
  // another must not end before it. Where all of them are, none has to.
  static bool keeps_repeats(const Node& node) {
    return std::ranges::any_of(
        node.inputs(), [](const NodePtr& input) { return input->cardinality() != kInfinite; });
  }

  std::map<std::pair<const Node*, Place>, NodePtr> made_;
};

}  // namespace

Result<NodePtr> preflight(const NodePtr& root) { return Rewriting().of(root, {}); }

}  // namespace spillway
