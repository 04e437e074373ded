#include <nlohmann/json.hpp>
#include <unordered_map>

#include "spillway/base/base64.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

Result<Json> value_to_json(const Value& value, const std::string& where) {
  if (const auto* b = std::get_if<bool>(&value)) return Json(*b);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return Json(*i);
  if (const auto* d = std::get_if<double>(&value)) return Json{{"float", *d}};
  if (const auto* s = std::get_if<std::string>(&value)) return Json(*s);
  if (const auto* s = std::get_if<StructurePtr>(&value)) {
    return Json{{"spec", structure_to_json(**s)}};
  }
  if (const auto* e = std::get_if<ElementPtr>(&value)) {
    std::vector<std::byte> bytes;
    if (Status status = append_row_bytes((*e)->values, bytes); !status.ok()) {
      return std::move(status).at(where);
    }
    return Json{{"element", structure_to_json(*(*e)->structure)}, {"bytes", to_base64(bytes)}};
  }
  if (const auto* f = std::get_if<FunctionPtr>(&value)) {
    return Json{{"function", (*f)->name()}, {"code", (*f)->code()}};
  }
  if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value)) {
    Json out = Json::array();
    for (const Value& item : (*list)->items) {
      SW_ASSIGN(Json json, value_to_json(item, where));
      out.push_back(std::move(json));
    }
    return out;
  }
  if (const auto* o = std::get_if<ObjectPtr>(&value)) {
    return invalid_argument(where, ": cannot be written to JSON: ", (*o)->describe());
  }
  return Json();
}

Status malformed(const std::string& what) {
  return Status::error(ErrorKind::kData, Code::kDataLoss, "spec: ", what);
}

Result<Value> value_from_json(const Json& json, const FunctionLookup& functions) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_string()) return Value(json.get<std::string>());
  if (json.is_array()) {
    auto list = std::make_shared<ValueList>();
    for (const Json& item : json) {
      SW_ASSIGN(Value value, value_from_json(item, functions));
      list->items.push_back(std::move(value));
    }
    return Value(std::shared_ptr<const ValueList>(std::move(list)));
  }
  if (!json.is_object()) return malformed("unknown value");
  if (json.contains("float") && json["float"].is_number())
    return Value(json["float"].get<double>());
  if (json.contains("spec")) {
    SW_ASSIGN(StructurePtr structure, structure_from_json(json["spec"]));
    return Value(std::move(structure));
  }
  if (json.contains("element") && json.contains("bytes") && json["bytes"].is_string()) {
    SW_ASSIGN(StructurePtr structure, structure_from_json(json["element"]));
    const auto bytes = from_base64(json["bytes"].get<std::string>());
    if (!bytes) return malformed("array: not base64");
    static const AccountPtr kAccount = Budget::process().open_account("constants");
    SW_ASSIGN(auto values, parse_row_bytes(kAccount, *bytes));
    SW_RETURN_IF_ERROR(check_values(*structure, values));
    return Value(
        ElementPtr(std::make_shared<Element>(Element{std::move(structure), std::move(values)})));
  }
  if (json.contains("function") && json["function"].is_string()) {
    SW_ASSIGN(FunctionPtr function,
              functions(json["function"].get<std::string>(), json.value("code", std::string())));
    return Value(std::move(function));
  }
  return malformed("unknown value");
}

}  // namespace

Result<std::string> to_json(const Node& root) {
  Json nodes = Json::array();
  std::unordered_map<const Node*, std::size_t> numbers;
  for (const Node* each : inputs_first(root)) {
    const Node& node = *each;
    Json inputs = Json::array();
    for (const NodePtr& input : node.inputs()) inputs.push_back(numbers[input.get()]);
    Json params = Json::object();
    for (std::size_t i = 0; i < node.op().params.size(); ++i) {
      const std::string name(node.op().params[i].name);
      SW_ASSIGN(Json value, value_to_json(node.params()[i],
                                          std::string(node.op().name) + "." + name +
                                              (node.line().empty() ? "" : " at " + node.line())));
      if (!value.is_null()) params[name] = std::move(value);
    }
    numbers.emplace(&node, nodes.size());
    nodes.push_back({{"op", node.op().name},
                     {"params", std::move(params)},
                     {"inputs", std::move(inputs)},
                     {"line", node.line()},
                     {"name", node.name()}});
  }
  return Json{{"spillway", kVersion}, {"nodes", std::move(nodes)}}.dump(
      1, ' ', true, Json::error_handler_t::replace);
}

Result<NodePtr> from_json(const std::string& text, const FunctionLookup& functions) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array()) {
    return malformed("not a pipeline in JSON");
  }
  if (json.value("spillway", Json()) != Json(kVersion)) return malformed("unknown version");
  std::vector<NodePtr> nodes;
  for (const Json& entry : json["nodes"]) {
    if (!entry.is_object() || !entry.contains("op") || !entry["op"].is_string()) {
      return malformed("node without an operator");
    }
    const OperatorDef* op = find_operator(entry["op"].get<std::string>());
    if (op == nullptr) return malformed("unknown operator " + entry["op"].get<std::string>());
    std::vector<Value> params(op->params.size());
    const Json given = entry.value("params", Json::object());
    for (std::size_t i = 0; i < params.size(); ++i) {
      const std::string name(op->params[i].name);
      if (!given.is_object() || !given.contains(name)) {
        params[i] = default_of(op->params[i]);
        continue;
      }
      SW_ASSIGN(params[i], value_from_json(given[name], functions));
    }
    std::vector<NodePtr> inputs;
    for (const Json& input : entry.value("inputs", Json::array())) {
      if (!input.is_number_unsigned() || input.get<std::size_t>() >= nodes.size()) {
        return malformed("input of a later node");
      }
      inputs.push_back(nodes[input.get<std::size_t>()]);
    }
    if (static_cast<int>(inputs.size()) < op->inputs) return malformed("node without its input");
    const auto text_of = [&](const char* key) {
      return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
    };
    SW_ASSIGN(NodePtr node, Node::make(*op, std::move(params), std::move(inputs), text_of("line"),
                                       text_of("name")));
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return malformed("no nodes");
  return nodes.back();
}

}  // namespace spillway
