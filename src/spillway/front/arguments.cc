#include "spillway/front/arguments.h"

#include "spillway/front/front_access.h"

namespace spillway {
namespace {

Value list_of(std::span<const std::int64_t> numbers) {
  auto list = std::make_shared<ValueList>();
  for (const std::int64_t number : numbers) list->items.emplace_back(number);
  return std::shared_ptr<const ValueList>(std::move(list));
}

// One argument; datasets go to `inputs` instead. Types are checked by Node::make.
class Converter {
 public:
  Converter(const ParamDef& param, std::vector<NodePtr>& inputs) : param_(param), inputs_(inputs) {}

  Result<Value> operator()(std::monostate) const { return Value(); }
  Result<Value> operator()(bool value) const { return Value(value); }
  Result<Value> operator()(double value) const { return Value(value); }
  Result<Value> operator()(const std::string& value) const { return Value(value); }
  Result<Value> operator()(std::int64_t value) const {
    // As the Python front converts them: the hash tells 1 from 1.0.
    if (param_.type == ParamType::kFloat) return Value(static_cast<double>(value));
    if (param_.type == ParamType::kInts) return list_of({&value, 1});
    return Value(value);
  }
  Result<Value> operator()(const std::vector<std::int64_t>& value) const { return list_of(value); }
  Result<Value> operator()(const Sample& value) const {
    SW_ASSIGN(std::vector<Tensor> tensors, FrontAccess::tensors(value));
    const StructurePtr& structure = FrontAccess::structure(value);
    if (structure == nullptr) return invalid_argument("the sample is empty");
    StructurePtr exact = observed(*structure, tensors);
    return Value(
        ElementPtr(std::make_shared<Element>(Element{std::move(exact), std::move(tensors)})));
  }
  Result<Value> operator()(const Spec& value) const {
    SW_RETURN_IF_ERROR(value.status());
    return value.known() ? Value(FrontAccess::structure(value)) : Value();
  }
  Result<Value> operator()(const Callable& value) const {
    SW_RETURN_IF_ERROR(FrontAccess::status(value));
    return Value(FrontAccess::function(value));
  }
  Result<Value> operator()(const Dataset& value) const { return add(value); }
  Result<Value> operator()(const std::vector<Dataset>& value) const {
    for (const Dataset& dataset : value) SW_RETURN_IF_ERROR(add(dataset).status());
    return Value();
  }

 private:
  Result<Value> add(const Dataset& dataset) const {
    if (param_.type != ParamType::kDataset && param_.type != ParamType::kDatasets) {
      return invalid_argument("must be ", to_string(param_.type), ": a dataset");
    }
    SW_RETURN_IF_ERROR(dataset.status());
    inputs_.push_back(FrontAccess::data(dataset).node);
    return Value();
  }

  const ParamDef& param_;
  std::vector<NodePtr>& inputs_;
};

const NamedArgument* find(std::span<const NamedArgument> arguments, std::string_view name) {
  for (const NamedArgument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

Status check_names(const OperatorDef& def, std::span<const NamedArgument> arguments) {
  for (const NamedArgument& argument : arguments) {
    bool known = false;
    for (const ParamDef& param : def.params) known = known || param.name == argument.name;
    if (!known) return invalid_argument(def.name, ": has no parameter: ", argument.name);
  }
  return {};
}

Result<NodePtr> make(std::string_view op, const Dataset* caller,
                     std::span<const NamedArgument> arguments, const std::string& line) {
  const OperatorDef* def = find_operator(op);
  if (def == nullptr || def->hidden) return invalid_argument("no such operator: ", op);
  if ((def->inputs == 0) != (caller == nullptr)) {
    return invalid_argument(op, def->inputs == 0 ? ": is a source, it continues no dataset"
                                                 : ": continues a dataset, it is no source");
  }
  SW_RETURN_IF_ERROR(check_names(*def, arguments));
  std::vector<NodePtr> inputs;
  if (caller != nullptr) inputs.push_back(FrontAccess::data(*caller).node);
  std::vector<Value> values;
  for (const ParamDef& param : def->params) {
    const NamedArgument* given = find(arguments, param.name);
    if (given == nullptr && param.fallback.empty()) {
      return invalid_argument(op, ": must be given: ", param.name);
    }
    if (given == nullptr) {
      values.push_back(default_of(param));
      continue;
    }
    auto value = std::visit(Converter(param, inputs), given->value);
    if (!value.ok()) {
      return std::move(value).status().at(std::string(op) + ": " + std::string(param.name));
    }
    values.push_back(std::move(value).value());
  }
  return Node::make(*def, std::move(values), std::move(inputs), line);
}

}  // namespace

Result<NodePtr> make_node(std::string_view op, const Dataset* caller,
                          std::span<const NamedArgument> arguments, const std::string& line) {
  if (caller != nullptr) SW_RETURN_IF_ERROR(caller->status());
  auto node = make(op, caller, arguments, line);
  if (!node.ok() && node.error().info().line.empty()) node.error().edit().line = line;
  return node;
}

}  // namespace spillway
