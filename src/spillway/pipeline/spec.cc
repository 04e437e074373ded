#include "spillway/pipeline/spec.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/policy.h"
#include "spillway/tensor/fingerprint.h"

namespace spillway {

std::string_view to_string(ParamType type) {
  static constexpr std::string_view kNames[] = {
      "int",      "float",   "bool",     "str",  "element", "slices", "signature",
      "function", "dataset", "datasets", "ints", "shapes",  "object"};
  return kNames[static_cast<std::size_t>(type)];
}

namespace {

template <class T>
Value parsed(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Value default_of(const ParamDef& param) {
  const std::string_view text = param.fallback;
  if (text.empty() || text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (text.front() == '\'') return std::string(text.substr(1, text.size() - 2));
  return param.type == ParamType::kFloat ? parsed<double>(text) : parsed<std::int64_t>(text);
}

namespace {

bool fits(const Value& value, ParamType type) {
  switch (type) {
    case ParamType::kInt:
      return std::holds_alternative<std::int64_t>(value);
    case ParamType::kFloat:
      return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    case ParamType::kBool:
      return std::holds_alternative<bool>(value);
    case ParamType::kString:
      return std::holds_alternative<std::string>(value);
    case ParamType::kElement:
    case ParamType::kSlices:
      return std::holds_alternative<ElementPtr>(value) ||
             std::holds_alternative<std::shared_ptr<const ValueList>>(value);
    case ParamType::kSignature:
    case ParamType::kShapes:
      return std::holds_alternative<StructurePtr>(value);
    case ParamType::kFunction:
      return std::holds_alternative<FunctionPtr>(value);
    case ParamType::kInts:
      return std::holds_alternative<std::shared_ptr<const ValueList>>(value);
    case ParamType::kObject:
      return std::holds_alternative<ObjectPtr>(value);
    case ParamType::kDataset:
    case ParamType::kDatasets:
      return is_none(value);  // travels as an input
  }
  return false;
}

// Large arrays enter the hash by a sample.
constexpr std::int64_t kHashedItems = 4096;

void add_value(Fnv64& hash, const Value& value) {
  hash.add(value.index());
  if (const auto* b = std::get_if<bool>(&value)) hash.add(*b ? 1 : 0);
  if (const auto* i = std::get_if<std::int64_t>(&value)) hash.add(static_cast<std::uint64_t>(*i));
  if (const auto* d = std::get_if<double>(&value)) hash.add(std::to_string(*d));
  if (const auto* s = std::get_if<std::string>(&value)) hash.add(*s);
  if (const auto* s = std::get_if<StructurePtr>(&value)) hash.add((*s)->to_string());
  if (const auto* e = std::get_if<ElementPtr>(&value)) {
    hash.add((*e)->structure->to_string());
    for (const Tensor& tensor : (*e)->values) add_fingerprint(hash, tensor, kHashedItems);
  }
  if (const auto* f = std::get_if<FunctionPtr>(&value)) hash.add((*f)->code());
  if (const auto* o = std::get_if<ObjectPtr>(&value)) hash.add((*o)->code());
  if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value)) {
    for (const Value& item : (*list)->items) add_value(hash, item);
  }
}

std::string show(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "True" : "False";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value)) {
    std::ostringstream text;
    text << *d;
    return text.str();
  }
  if (const auto* s = std::get_if<std::string>(&value)) return "'" + *s + "'";
  if (const auto* s = std::get_if<StructurePtr>(&value)) return (*s)->to_string();
  if (const auto* e = std::get_if<ElementPtr>(&value)) return (*e)->structure->to_string();
  if (const auto* f = std::get_if<FunctionPtr>(&value)) return (*f)->name();
  if (const auto* o = std::get_if<ObjectPtr>(&value)) return (*o)->describe();
  if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value)) {
    std::string text = "[";
    for (const Value& item : (*list)->items) text += (text.size() > 1 ? ", " : "") + show(item);
    return text + "]";
  }
  return "None";
}

// What the operator knows of its elements; whoever skips some cannot say how many are left.
Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(Inferred inferred, node.op().infer(node));
  if (node.op().params.policy().empty()) return inferred;
  SW_ASSIGN(const OnError policy, OnError::of(node));
  if (policy.skips() && inferred.cardinality >= 0) inferred.cardinality = kUnknownCount;
  return inferred;
}

std::uint64_t hash_of(const Node& node,
                      const std::unordered_map<const Node*, std::uint64_t>& inputs, bool seeds) {
  Fnv64 hash;
  hash.add(node.op().name);
  const ParamList& params = node.op().params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const bool no_policy = i >= params.own().size() && is_none(node.params()[i]);
    if (params[i].tuning || no_policy) continue;
    // As if none had been given.
    add_value(hash, params[i].seed && !seeds ? Value(std::int64_t{0}) : node.params()[i]);
  }
  for (const NodePtr& input : node.inputs()) hash.add(inputs.at(input.get()));
  return hash.value();
}

std::uint64_t hash_of_all(const Node& root, bool seeds) {
  std::unordered_map<const Node*, std::uint64_t> hashes;
  for (const Node* node : inputs_first(root)) hashes[node] = hash_of(*node, hashes, seeds);
  return hashes[&root];
}

}  // namespace

Result<NodePtr> Node::make(const OperatorDef& op, std::vector<Value> params,
                           std::vector<NodePtr> inputs, std::string line, std::string name) {
  if (params.size() != op.params.own().size() && params.size() != op.params.size()) {
    return internal_bug(op.name, ": wants ", op.params.own().size(),
                        " parameters: ", params.size());
  }
  params.resize(op.params.size());  // without a policy: it is None
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ParamDef& def = op.params[i];
    const bool optional = def.fallback == "None";
    if (fits(params[i], def.type) || (optional && is_none(params[i]))) continue;
    Status status = invalid_argument(op.name, ": ", def.name, " must be ",
                                     spillway::to_string(def.type), ": ", show(params[i]));
    status.edit().type = "TypeError";
    status.edit().line = line;
    return status;
  }
  auto node = std::shared_ptr<Node>(new Node);
  node->op_ = &op;
  node->params_ = std::move(params);
  node->inputs_ = std::move(inputs);
  node->line_ = std::move(line);
  node->name_ = std::move(name);
  auto inferred = infer(*node);
  if (!inferred.ok()) {
    Status& status = inferred.error();
    if (status.info().stage.empty()) status.edit().stage = std::string(op.name);
    if (status.info().line.empty()) status.edit().line = node->line_;
    return std::move(inferred).status();
  }
  node->inferred_ = std::move(inferred).value();
  const Effects effects = effects_of(*node);
  node->pure_ = effects == Effects::kNone && !is_fallible(*node);
  node->overpullable_ = effects != Effects::kUserCode && effects != Effects::kSharedState;
  for (const NodePtr& input : node->inputs_) {
    node->pure_ &= input->pure_;
    node->overpullable_ &= input->overpullable_;
    node->depth_ = std::max(node->depth_, input->depth_ + 1);
  }
  return NodePtr(node);
}

// One after the other: a chain that is let go as a whole must not need a stack as long as itself.
Node::~Node() {
  std::vector<NodePtr> gone = std::move(inputs_);
  while (!gone.empty()) {
    const NodePtr node = std::move(gone.back());
    gone.pop_back();
    if (node.use_count() > 1) continue;
    // Nobody else can see it any more.
    for (NodePtr& input : const_cast<Node&>(*node).inputs_) gone.push_back(std::move(input));
    const_cast<Node&>(*node).inputs_.clear();
  }
}

std::vector<const Node*> inputs_first(const Node& root) {
  struct Frame {
    const Node* node;
    std::size_t next = 0;
  };
  std::vector<const Node*> order;
  std::unordered_set<const Node*> seen{&root};
  std::vector<Frame> stack{{&root}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == frame.node->inputs().size()) {
      order.push_back(frame.node);
      stack.pop_back();
      continue;
    }
    const Node* input = frame.node->inputs()[frame.next++].get();
    if (seen.insert(input).second) stack.push_back({input});
  }
  return order;
}

const Value& Node::param(std::string_view name) const {
  static const Value kNone;
  for (std::size_t i = 0; i < op_->params.size(); ++i) {
    if (op_->params[i].name == name) return params_[i];
  }
  return kNone;
}

std::int64_t Node::int_param(std::string_view name, std::int64_t fallback) const {
  const auto* value = std::get_if<std::int64_t>(&param(name));
  return value != nullptr ? *value : fallback;
}

double Node::float_param(std::string_view name, double fallback) const {
  const Value& value = param(name);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  return fallback;
}

bool Node::bool_param(std::string_view name, bool fallback) const {
  const auto* value = std::get_if<bool>(&param(name));
  return value != nullptr ? *value : fallback;
}

std::string Node::string_param(std::string_view name, std::string fallback) const {
  const auto* value = std::get_if<std::string>(&param(name));
  return value != nullptr ? *value : fallback;
}

FunctionPtr Node::function_param(std::string_view name) const {
  const auto* value = std::get_if<FunctionPtr>(&param(name));
  return value != nullptr ? *value : nullptr;
}

ElementPtr Node::element_param(std::string_view name) const {
  const auto* value = std::get_if<ElementPtr>(&param(name));
  return value != nullptr ? *value : nullptr;
}

StructurePtr Node::signature_param(std::string_view name) const {
  const auto* value = std::get_if<StructurePtr>(&param(name));
  return value != nullptr ? *value : nullptr;
}

ObjectPtr Node::object_param(std::string_view name) const {
  const auto* value = std::get_if<ObjectPtr>(&param(name));
  return value != nullptr ? *value : nullptr;
}

std::vector<std::int64_t> Node::ints_param(std::string_view name) const {
  std::vector<std::int64_t> out;
  const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&param(name));
  if (list == nullptr) return out;
  for (const Value& item : (*list)->items) {
    if (const auto* i = std::get_if<std::int64_t>(&item)) out.push_back(*i);
  }
  return out;
}

std::uint64_t Node::hash() const { return hash_of_all(*this, true); }

std::uint64_t Node::hash_without_seeds() const { return hash_of_all(*this, false); }

std::string Node::to_string() const {
  std::ostringstream text;
  std::unordered_map<const Node*, std::size_t> numbers;
  for (const Node* each : inputs_first(*this)) {
    const Node& node = *each;
    const std::size_t number = numbers.size();
    numbers.emplace(&node, number);
    text << node.op().name << '#' << number << '(';
    bool first = true;
    for (const NodePtr& input : node.inputs()) {
      text << (first ? "" : ", ") << input->op().name << '#' << numbers[input.get()];
      first = false;
    }
    for (std::size_t i = 0; i < node.op().params.size(); ++i) {
      const ParamDef& def = node.op().params[i];
      const std::string value = show(node.params()[i]);
      if (value == def.fallback || def.type == ParamType::kDataset ||
          def.type == ParamType::kDatasets) {
        continue;
      }
      text << (first ? "" : ", ") << def.name << '=' << value;
      first = false;
    }
    text << ')';
    if (!node.line().empty()) text << "  # " << node.line();
    text << '\n';
  }
  return text.str();
}

}  // namespace spillway
