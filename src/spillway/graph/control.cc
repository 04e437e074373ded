#include "spillway/graph/control.h"

#include <algorithm>
#include <unordered_map>

#include "spillway/base/interrupt.h"
#include "spillway/graph/graph.h"
#include "spillway/graph/interpret.h"

namespace spillway::graph {
namespace {

// Rebuilds what was traced inside, so that it depends on parameters instead of nodes outside.
class Closing {
 public:
  explicit Closing(std::int64_t mark) : mark_(mark) {}

  const std::vector<Operand>& captures() const { return captures_; }

  // First all results are shown, so that every graph gets the same captures.
  void collect(std::span<const Operand> results, std::span<const NodePtr> own) {
    std::vector<Operand> stack(results.begin(), results.end());
    std::unordered_map<const Node*, bool> seen;
    while (!stack.empty()) {
      const Operand operand = std::move(stack.back());
      stack.pop_back();
      if (!operand.node->symbolic() || is_own(operand, own)) continue;
      if (operand.node->serial() < mark_ || &operand.node->op() == &parameter_op) {
        capture(operand);
        continue;
      }
      if (!seen.emplace(operand.node.get(), true).second) continue;
      for (const Operand& input : operand.node->inputs()) stack.push_back(input);
    }
  }

  Result<GraphPtr> close(std::span<const Operand> results, std::span<const NodePtr> own) const {
    std::vector<NodePtr> parameters(own.begin(), own.end());
    Rewiring rewiring;
    for (const Operand& captured : captures_) {
      parameters.push_back(Node::parameter(captured.spec(), captured.node->site()));
      rewiring.replace(captured, {parameters.back(), 0});
    }
    std::vector<Scheduled> inside = pending_nodes(results);
    std::erase_if(inside, [&](const Scheduled& each) {
      return each.node->serial() < mark_ || !each.node->symbolic();
    });
    SW_RETURN_IF_ERROR(rewiring.run(inside));
    return Graph::make(std::move(parameters), rewiring.moved(results));
  }

 private:
  static bool is_own(const Operand& operand, std::span<const NodePtr> own) {
    return std::find(own.begin(), own.end(), operand.node) != own.end();
  }
  void capture(const Operand& operand) {
    const bool known = std::any_of(captures_.begin(), captures_.end(), [&](const Operand& other) {
      return other.node == operand.node && other.output == operand.output;
    });
    if (!known) captures_.push_back(operand);
  }

  const std::int64_t mark_;
  std::vector<Operand> captures_;
};

constexpr std::string_view kBranches[] = {
    "branch0", "branch1", "branch2",  "branch3",  "branch4",  "branch5",  "branch6",  "branch7",
    "branch8", "branch9", "branch10", "branch11", "branch12", "branch13", "branch14", "branch15"};

const GraphPtr& branch(const Attrs& attrs, std::int64_t i) {
  return *attrs.get<GraphPtr>(kBranches[static_cast<std::size_t>(i)]);
}

Status infer_switch(Infer& c) {
  const std::int64_t count = c.attrs().get_or("count", std::int64_t{0});
  const auto& first = branch(c.attrs(), 0)->results();
  for (std::size_t i = 0; i < first.size(); ++i) {
    Spec spec = first[i].spec();
    for (std::int64_t b = 1; b < count; ++b) {
      const Spec& other = branch(c.attrs(), b)->results()[i].spec();
      if (other.dtype != spec.dtype) {
        Status status = invalid_argument("branches must give the same types: ", spec.to_string(),
                                         " and ", other.to_string());
        status.edit().type = "TypeError";
        return status;
      }
      spec.shape = spec.shape.common(other.shape);
    }
    c.set(static_cast<int>(i), spec.dtype, spec.shape);
  }
  return {};
}

Status run_switch(Compute& c) {
  const std::int64_t count = c.attrs.get_or("count", std::int64_t{0});
  std::int64_t index = *c.inputs[0].as<std::int32_t>();
  if (index < 0 || index >= count) index = count - 1;
  SW_ASSIGN(c.outputs,
            interpret(*branch(c.attrs, index), c.inputs.subspan(1), c.account, c.ask, c.call));
  return {};
}

Status infer_while(Infer& c) {
  const GraphPtr& body = *c.attrs().get<GraphPtr>("body");
  for (std::size_t i = 0; i < body->results().size(); ++i) {
    const Spec& before = body->parameters()[i]->outputs()[0];
    const Spec& after = body->results()[i].spec();
    if (before.dtype != after.dtype) {
      Status status =
          invalid_argument("the body must keep the types of its state: ", before.to_string(),
                           " became ", after.to_string());
      status.edit().type = "TypeError";
      return status;
    }
    c.set(static_cast<int>(i), after.dtype, before.shape.common(after.shape));
  }
  return {};
}

Status run_while(Compute& c) {
  const GraphPtr& condition = *c.attrs.get<GraphPtr>("condition");
  const GraphPtr& body = *c.attrs.get<GraphPtr>("body");
  const std::int64_t most = c.attrs.get_or("most", std::int64_t{-1});
  const std::size_t state = body->results().size();
  std::vector<Tensor> values(c.inputs.begin(), c.inputs.end());
  for (std::int64_t turn = 0; most < 0 || turn < most; ++turn) {
    if (interrupted()) return cancelled();
    SW_ASSIGN(const std::vector<Tensor> test,
              interpret(*condition, values, c.account, c.ask, c.call));
    if (!*test[0].as<bool>()) break;
    SW_ASSIGN(std::vector<Tensor> next, interpret(*body, values, c.account, c.ask, c.call));
    std::move(next.begin(), next.end(), values.begin());
  }
  c.outputs.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(state));
  return {};
}

constexpr OpDef switch_op{.name = "switch_case",
                          .summary = "One of several graphs, by index.",
                          .params = {},
                          .outputs = -1,
                          .effect = Effect::kFallible,
                          .infer = infer_switch,
                          .compute = run_switch};
constexpr OpDef while_op{.name = "while_loop",
                         .summary = "A graph again and again, while another holds.",
                         .params = {},
                         .outputs = -1,
                         .effect = Effect::kFallible,
                         .infer = infer_while,
                         .compute = run_while};

}  // namespace

const OpDef* find_control_op(std::string_view name) {
  if (name == switch_op.name) return &switch_op;
  return name == while_op.name ? &while_op : nullptr;
}

Result<NodePtr> make_switch(const Operand& index, std::span<const std::vector<Operand>> branches,
                            std::int64_t mark, SitePtr site) {
  if (branches.empty() || branches.size() > std::size(kBranches)) {
    return invalid_argument("switch_case: between 1 and ", std::size(kBranches),
                            " branches: ", branches.size());
  }
  Closing closing(mark);
  for (const std::vector<Operand>& results : branches) {
    if (results.size() != branches[0].size()) {
      return invalid_argument("branches must give the same number of values: ", branches[0].size(),
                              " and ", results.size());
    }
    closing.collect(results, {});
  }
  Attrs attrs;
  attrs.set("count", Attr(static_cast<std::int64_t>(branches.size())));
  for (std::size_t b = 0; b < branches.size(); ++b) {
    SW_ASSIGN(GraphPtr graph, closing.close(branches[b], {}));
    attrs.set(kBranches[b], Attr(std::move(graph)));
  }
  std::vector<Operand> inputs = {index};
  inputs.insert(inputs.end(), closing.captures().begin(), closing.captures().end());
  return Node::make(switch_op, std::move(inputs), std::move(attrs), std::move(site));
}

Result<NodePtr> make_while(std::span<const Operand> state, std::span<const NodePtr> parameters,
                           const Operand& condition, std::span<const Operand> body,
                           std::int64_t most, std::int64_t mark, SitePtr site) {
  if (condition.spec().dtype != DType::kBool || !condition.spec().shape.compatible(Shape())) {
    return invalid_argument("while_loop: the condition must be a boolean scalar: ",
                            condition.spec().to_string());
  }
  Closing closing(mark);
  closing.collect(std::span(&condition, 1), parameters);
  closing.collect(body, parameters);
  Attrs attrs;
  SW_ASSIGN(GraphPtr test, closing.close(std::span(&condition, 1), parameters));
  SW_ASSIGN(GraphPtr step, closing.close(body, parameters));
  attrs.set("condition", Attr(std::move(test)));
  attrs.set("body", Attr(std::move(step)));
  attrs.set("most", Attr(most));
  std::vector<Operand> inputs(state.begin(), state.end());
  inputs.insert(inputs.end(), closing.captures().begin(), closing.captures().end());
  return Node::make(while_op, std::move(inputs), std::move(attrs), std::move(site));
}

Result<Closed> close_over(std::span<const NodePtr> parameters, std::span<const Operand> results,
                          std::int64_t mark) {
  Closing closing(mark);
  closing.collect(results, parameters);
  SW_ASSIGN(GraphPtr graph, closing.close(results, parameters));
  return Closed{std::move(graph), closing.captures()};
}

}  // namespace spillway::graph
