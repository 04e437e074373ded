#include "graph_parts.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>

#include "bindings.h"
#include "numpy_loops.h"
#include "spillway/graph/control.h"
#include "spillway/graph/spilled.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

using graph::Attr;
using graph::Operand;

// The first item of each part says which it is.
constexpr const char* kParameter = "parameter";
constexpr const char* kConstant = "constant";
constexpr const char* kStep = "step";
constexpr const char* kUfunc = "ufunc";

// A line as it was described where it was written.
class TextSite final : public graph::Site {
 public:
  explicit TextSite(std::string line) : line_(std::move(line)) {}
  std::string describe() const override { return line_; }

 private:
  const std::string line_;
};

graph::SitePtr site_from(nb::handle line) {
  auto text = nb::cast<std::string>(line);
  return text.empty() ? nullptr : std::make_shared<TextSite>(std::move(text));
}

std::string dtype_name(DType dtype) { return std::string(name_of(dtype)); }
DType dtype_from(nb::handle name) {
  const auto found = dtype_from_name(nb::cast<std::string>(name));
  if (!found) throw nb::value_error("a traveled graph names a dtype that is not known here");
  return *found;
}

nb::object dims_of(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  return nb::cast(std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end()));
}
Shape shape_from(nb::handle dims) {
  if (dims.is_none()) return Shape::unknown_rank();
  return Shape(std::span<const std::int64_t>(nb::cast<std::vector<std::int64_t>>(dims)));
}

// ---- There

nb::object attr_to(const Attr& attr) {
  if (const auto* b = std::get_if<bool>(&attr)) return nb::bool_(*b);
  if (const auto* i = std::get_if<std::int64_t>(&attr)) return nb::int_(*i);
  if (const auto* d = std::get_if<double>(&attr)) return nb::float_(*d);
  if (const auto* s = std::get_if<std::string>(&attr)) return nb::bytes(s->data(), s->size());
  if (const auto* t = std::get_if<DType>(&attr)) return nb::make_tuple("dtype", dtype_name(*t));
  if (const auto* s = std::get_if<Shape>(&attr)) return nb::make_tuple("shape", dims_of(*s));
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attr)) {
    return nb::make_tuple("ints", *v);
  }
  if (const auto* t = std::get_if<Tensor>(&attr)) {
    return nb::make_tuple("tensor", value_to_python(*t), dtype_name(t->dtype()));
  }
  if (const auto* g = std::get_if<graph::GraphPtr>(&attr)) {
    return nb::make_tuple("graph", graph_to_python(**g));
  }
  if (std::holds_alternative<std::monostate>(attr)) return nb::none();
  throw nb::type_error("a step of a traced function holds what only this process has");
}

class Writer {
 public:
  nb::tuple write(const graph::Graph& graph) {
    for (const graph::NodePtr& parameter : graph.parameters()) {
      const graph::Spec& spec = parameter->inferred()[0];
      add(parameter.get(), nb::make_tuple(kParameter, dtype_name(spec.dtype), dims_of(spec.shape),
                                          line(*parameter)));
    }
    const std::size_t parameters = graph.parameters().size();
    for (const auto& [node, inputs] : graph.order()) add_step(*node, inputs);
    nb::list results;
    for (const Operand& result : graph.results()) results.append(place(result));
    return nb::make_tuple(parameters, parts_, results);
  }

 private:
  static std::string line(const graph::Node& node) { return node.line(); }

  void add(const graph::Node* node, nb::tuple part) {
    numbers_[node] = nb::len(parts_);
    parts_.append(std::move(part));
  }

  void add_step(const graph::Node& node, const std::vector<Operand>& inputs) {
    // A value that went to disk is read where it is used, as any other known one.
    if (node.evaluated() || &node.op() == &graph::unspill_op) return;
    bool follows = node.attrs().get_or("per_row", false);
    nb::list places;
    for (const Operand& input : inputs) {
      places.append(place(input));
      follows |= input.node->symbolic();
    }
    if (PyObject* ufunc = ufunc_of(node)) {
      const std::string out = dtype_name(node.inferred()[0].dtype);
      add(&node, nb::make_tuple(kUfunc, nb::borrow(ufunc), places, out, line(node)));
      return;
    }
    nb::list attrs;
    for (const auto& [name, value] : node.attrs().items()) {
      attrs.append(nb::make_tuple(nb::str(name.data(), name.size()), attr_to(value)));
    }
    const bool deferred = node.symbolic() && !follows;
    add(&node,
        nb::make_tuple(kStep, std::string(node.op().name), places, attrs, line(node), deferred));
  }

  nb::tuple place(const Operand& operand) {
    if (const auto found = numbers_.find(operand.node.get()); found != numbers_.end()) {
      return nb::make_tuple(found->second, operand.output);
    }
    const auto key = std::make_pair(operand.node.get(), operand.output);
    auto constant = constants_.find(key);
    if (constant == constants_.end()) {
      const Status status = evaluate_now(operand, true);
      if (!status.ok()) throw_status(status);
      const Tensor& value = *operand.value();
      constant = constants_.emplace(key, nb::len(parts_)).first;
      parts_.append(nb::make_tuple(kConstant, value_to_python(value), dtype_name(value.dtype()),
                                   line(*operand.node)));
    }
    return nb::make_tuple(constant->second, 0);
  }

  nb::list parts_;
  std::map<const graph::Node*, std::size_t> numbers_;
  std::map<std::pair<const graph::Node*, int>, std::size_t> constants_;
};

// ---- And back

// Names of attributes outlive the nodes that have them; there are as many as the ops know.
std::string_view kept_name(std::string name) {
  static auto& names = *new std::set<std::string>();  // with the GIL
  return *names.insert(std::move(name)).first;
}

Attr attr_from(nb::handle object) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (nb::isinstance<nb::int_>(object)) return nb::cast<std::int64_t>(object);
  if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
  if (nb::isinstance<nb::bytes>(object)) {
    const auto bytes = nb::borrow<nb::bytes>(object);
    return std::string(bytes.c_str(), bytes.size());
  }
  const auto kind = nb::cast<std::string>(object[0]);
  if (kind == "dtype") return dtype_from(object[1]);
  if (kind == "shape") return shape_from(object[1]);
  if (kind == "ints") return nb::cast<std::vector<std::int64_t>>(object[1]);
  if (kind == "tensor") return value_from_python(object[1], dtype_from(object[2]));
  if (kind == "graph") return graph_from_python(object[1]);
  throw nb::value_error("a traveled graph holds an attribute that is not known here");
}

class Reader {
 public:
  graph::GraphPtr read(nb::handle parts) {
    const auto parameters = nb::cast<std::size_t>(parts[0]);
    for (nb::handle part : parts[1]) nodes_.push_back(node_from(part));
    std::vector<Operand> results = operands(parts[2]);
    if (parameters > nodes_.size()) throw nb::value_error("a traveled graph is damaged");
    nodes_.resize(parameters);
    return graph::Graph::make(std::move(nodes_), std::move(results));
  }

 private:
  graph::NodePtr node_from(nb::handle part) const {
    const auto kind = nb::cast<std::string>(part[0]);
    if (kind == kParameter) {
      return graph::Node::parameter({dtype_from(part[1]), shape_from(part[2])}, site_from(part[3]));
    }
    if (kind == kConstant) {
      return graph::Node::constant(value_from_python(part[1], dtype_from(part[2])),
                                   site_from(part[3]));
    }
    if (kind == kUfunc) {
      const nb::object ufunc = part[1];
      auto made =
          make_ufunc(ufunc.ptr(), operands(part[2]), dtype_from(part[3]), site_from(part[4]));
      if (made == nullptr) throw nb::python_error();
      return made;
    }
    graph::Attrs attrs;
    for (nb::handle attr : part[3]) {
      attrs.set(kept_name(nb::cast<std::string>(attr[0])), attr_from(attr[1]));
    }
    graph::NodePtr made =
        value_or_throw(graph::Node::make(op_named(nb::cast<std::string>(part[1])),
                                         operands(part[2]), std::move(attrs), site_from(part[4])));
    return nb::cast<bool>(part[5]) ? graph::Node::deferred(*made) : made;
  }

  static const graph::OpDef& op_named(const std::string& name) {
    const graph::OpDef* op = graph::find_op(name);
    if (op == nullptr) op = graph::find_control_op(name);
    if (op == nullptr) throw nb::value_error(("no op " + name + " in this version").c_str());
    return *op;
  }

  std::vector<Operand> operands(nb::handle places) const {
    std::vector<Operand> out;
    for (nb::handle place : places) {
      const auto number = nb::cast<std::size_t>(place[0]);
      const auto output = nb::cast<int>(place[1]);
      if (number >= nodes_.size() || output < 0 ||
          static_cast<std::size_t>(output) >= nodes_[number]->outputs().size()) {
        throw nb::value_error("a traveled graph is damaged");
      }
      out.push_back({nodes_[number], output});
    }
    return out;
  }

  std::vector<graph::NodePtr> nodes_;
};

}  // namespace

nb::object value_to_python(const Tensor& value) {
  PyObject* made = array_from(value);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

Tensor value_from_python(nb::handle array, DType dtype) {
  LeafRules rules;
  rules.account = tensor_account();
  rules.dtype = dtype;
  rules.constant = true;
  auto made = tensor_from(array.ptr(), rules);
  if (!made) throw nb::python_error();
  return std::move(*made);
}

nb::tuple graph_to_python(const graph::Graph& graph) { return Writer().write(graph); }
graph::GraphPtr graph_from_python(nb::handle parts) { return Reader().read(parts); }

}  // namespace spillway::python
