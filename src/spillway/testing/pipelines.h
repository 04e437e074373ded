#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spillway/memory/activity.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/run.h"

// Pipelines written short, for tests.
namespace spillway::testing {

using NamedValues = std::vector<std::pair<std::string_view, Value>>;

// A node by operator name; parameters not named take their defaults. The node() form fails the
// test when the operator refuses.
Result<NodePtr> try_node(std::string_view op, const NamedValues& params,
                         std::vector<NodePtr> inputs = {});
NodePtr node(std::string_view op, const NamedValues& params, std::vector<NodePtr> inputs = {});
NodePtr range(std::int64_t stop);
// range(n) whose element `bad` fails.
NodePtr failing_range(std::int64_t n, std::int64_t bad);
// One vector for each length; its values are the length.
NodePtr vectors_of(std::vector<std::int64_t> lengths, Shape spec = {kUnknownDim});
NodePtr batches_of(std::int64_t size, NodePtr input, bool drop = false);

Tensor i64(std::int64_t value);
Tensor i64s(std::vector<std::int64_t> values);
Tensor str(std::string_view value);
Value ints(std::vector<std::int64_t> values);
StructurePtr i64_spec(Shape shape = {});
ElementPtr element(StructurePtr structure, std::vector<Tensor> values);

// Functions. An error of theirs is the row's error.
using Values = std::vector<Tensor>;
FunctionPtr fn(StructurePtr output, std::function<Result<Values>(const Values&)> body);
FunctionPtr scalar_fn(std::function<Result<std::int64_t>(std::int64_t)> body);
FunctionPtr predicate(std::function<bool(std::int64_t)> body);
// int64 scalar -> dataset of int64 scalars.
FunctionPtr dataset_fn(std::function<NodePtr(std::int64_t)> body, StructurePtr inner = i64_spec());

// One element as text: "3", "[0 1 2]", "('a', 7)", or "!INVALID_ARGUMENT" for an error.
std::string show(const Chunk& chunk, std::int64_t row);
// Everything until the end, at most `most` events. `demand` is what is asked for at a time.
std::vector<std::string> drain(Iterator& it, const Demand& demand = {}, std::size_t most = 10'000);
std::vector<std::string> elements(const NodePtr& node, std::size_t most = 10'000);

struct Opened {
  std::shared_ptr<Run> run;
  IteratorPtr it;
};
Opened open(const NodePtr& node);
Opened open(const NodePtr& node, Budget& budget);

// Vectors of 64 KiB, one an element of range(count), that say their number in every item.
NodePtr large_rows(std::int64_t count);
inline constexpr std::int64_t kLargeRow = 8192;  // items

// A budget all but full, as seen by a consumer inside next(): what asks for memory is told soon.
class Scarcity {
 public:
  explicit Scarcity(std::size_t limit);
  Budget& budget() { return budget_; }
  // Leaves `bytes` of the pool.
  void leave(std::size_t bytes);
  void end() { kept_ = {}; }

 private:
  Budget budget_;
  const AccountPtr keeper_;
  Reservation kept_;
  const Consuming consuming_;
};

}  // namespace spillway::testing
