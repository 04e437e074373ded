#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "spillway/graph/node.h"

namespace spillway::graph {

// A node that has to run, and what it works on: kept here, since a node lets go of its inputs when
// some thread has computed it.
struct Scheduled {
  NodePtr node;
  std::vector<Operand> inputs;
};

// A function as data: parameters, results, and the nodes between them in an order that can run.
// Immutable.
class Graph {
 public:
  // `parameters` are nodes made by Node::parameter. Results may be anything computed from them.
  static GraphPtr make(std::vector<NodePtr> parameters, std::vector<Operand> results);

  const std::vector<NodePtr>& parameters() const { return parameters_; }
  const std::vector<Operand>& results() const { return results_; }
  // Every node that must run, inputs first; parameters and known values are not among them.
  const std::vector<Scheduled>& order() const { return order_; }
  // Whose values nobody needs after a step of order(): what was decoded is not kept while what was
  // made of it is worked on.
  const std::vector<const Node*>& spent_after(std::size_t step) const { return spent_[step]; }
  // Whether any node draws from or changes something outside.
  bool stateful() const { return stateful_; }
  // Whether any node may fail on values.
  bool fallible() const { return fallible_; }
  // Whether some shape is known only when the values are: no plan can hold it.
  bool shapes_depend_on_values() const { return depends_; }

 private:
  Graph() = default;
  std::vector<NodePtr> parameters_;
  std::vector<Operand> results_;
  std::vector<Scheduled> order_;
  std::vector<std::vector<const Node*>> spent_;
  bool stateful_ = false;
  bool fallible_ = false;
  bool depends_ = false;
};

// The pending nodes below `roots`, inputs first. Iterative: depth costs no stack.
std::vector<Scheduled> pending_nodes(std::span<const Operand> roots);

// The same computation on other operands: nodes of `order` are made again where what they work on
// was replaced. Starts with what the caller replaces, by node and output.
class Rewiring {
 public:
  void replace(const Operand& operand, Operand by) {
    replaced_[{operand.node.get(), operand.output}] = std::move(by);
  }
  Status run(std::span<const Scheduled> order);
  Operand moved(const Operand& operand) const;
  std::vector<Operand> moved(std::span<const Operand> operands) const;

 private:
  std::map<std::pair<const Node*, int>, Operand> replaced_;
  std::map<const Node*, NodePtr> copies_;
};

// One function: `outer` applied to the first results of `inner`, one for each of its parameters.
Result<GraphPtr> compose(const Graph& inner, const Graph& outer);

}  // namespace spillway::graph
