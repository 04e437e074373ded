// Pipelines taken apart for a pickler, and put together again: spillway/traveling.py says how.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>
#include <unordered_set>

#include "bindings.h"
#include "graph_parts.h"
#include "objects.h"
#include "spillway/pipeline/dataset_template.h"
#include "spillway/pipeline/graph_function.h"
#include "spillway/pipeline/operator.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// ---- What a function or an object of Python's travels as
// -----------------------------------------

// Rides with a function's or an object's owners, so that the engine need not know of it.
template <class T>
struct Recipe {
  std::shared_ptr<T> of;
  std::shared_ptr<void> recipe;
  void operator()(const T* /*of*/) {
    of.reset();
    recipe.reset();
  }
};

template <class T>
std::shared_ptr<T> with_recipe(std::shared_ptr<T> of, nb::handle recipe) {
  T* plain = of.get();
  return {plain, Recipe<T>{std::move(of), keep_object(Ref::borrow(recipe.ptr()))}};
}

template <class T>
nb::object recipe_of(const std::shared_ptr<T>& of) {
  const auto* found = std::get_deleter<Recipe<T>>(of);
  return found == nullptr ? nb::none() : nb::borrow(kept_object(found->recipe));
}

// ---- Nodes
// ---------------------------------------------------------------------------------------

// One Python object for a node while any is alive: a pickler writes what it has seen only once, and
// nodes that two datasets share are shared where they arrive.
nb::object one_object(const NodePtr& node) {
  static auto& seen = *new std::unordered_map<const Node*, Ref>();  // weak references; with the GIL
  static std::size_t enough = 1024;
  if (const auto found = seen.find(node.get()); found != seen.end()) {
    PyObject* alive = PyWeakref_GetObject(found->second.get());
    if (alive != nullptr && alive != Py_None) return nb::borrow(alive);
  }
  if (seen.size() >= enough) {
    std::erase_if(
        seen, [](const auto& entry) { return PyWeakref_GetObject(entry.second.get()) == Py_None; });
    enough = std::max<std::size_t>(1024, 2 * seen.size());
  }
  nb::object made = nb::steal(node_to_python(node));
  Ref weak = Ref::steal(PyWeakref_NewRef(made.ptr(), nullptr));
  if (!weak) throw nb::python_error();
  seen[node.get()] = std::move(weak);
  return made;
}

NodePtr node_from(nb::handle native) {
  NodePtr node = node_of(native.ptr());
  if (node == nullptr) throw nb::python_error();
  return node;
}

// All nodes of a pipeline, inputs first: however long it is, a pickler never nests deeper.
std::vector<NodePtr> nodes_below(const NodePtr& root) {
  std::vector<NodePtr> order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<NodePtr, std::size_t>> stack;
  const auto enter = [&](const NodePtr& node) {
    if (seen.insert(node.get()).second) stack.emplace_back(node, 0);
  };
  enter(root);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < node->inputs().size()) {
      enter(NodePtr(node->inputs()[next++]));
    } else {
      order.push_back(std::move(node));
      stack.pop_back();
    }
  }
  return order;
}

nb::list objects_below(const NodePtr& root) {
  nb::list out;
  for (const NodePtr& node : nodes_below(root)) out.append(one_object(node));
  return out;
}

nb::object value_to(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return nb::bool_(*b);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return nb::int_(*i);
  if (const auto* d = std::get_if<double>(&value)) return nb::float_(*d);
  if (const auto* s = std::get_if<std::string>(&value)) return nb::str(s->data(), s->size());
  if (const auto* s = std::get_if<StructurePtr>(&value)) return structure_to_python(*s);
  if (const auto* e = std::get_if<ElementPtr>(&value)) return nb::steal(element_to_python(*e));
  if (const auto* f = std::get_if<FunctionPtr>(&value)) return function_to_python(*f);
  if (const auto* o = std::get_if<ObjectPtr>(&value)) return object_to_python(*o);
  if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value)) {
    nb::list out;
    for (const Value& item : (*list)->items) out.append(value_to(item));
    return out;
  }
  return nb::none();
}

// What `node` makes the same node of.
nb::tuple node_parts(nb::handle native) {
  const NodePtr node = node_from(native);
  nb::list params;
  for (const Value& value : node->params()) params.append(value_to(value));
  nb::list inputs;
  for (const NodePtr& input : node->inputs()) inputs.append(one_object(input));
  return nb::make_tuple(std::string(node->op().name), params, inputs, node->line(), node->name());
}

// ---- Functions
// -----------------------------------------------------------------------------------

nb::tuple template_parts(const DatasetTemplate& form) {
  const std::vector<NodePtr> nodes = nodes_below(form.dataset);
  nb::list objects;
  std::unordered_map<const Node*, std::size_t> numbers;
  for (const NodePtr& node : nodes) {
    numbers.emplace(node.get(), numbers.size());
    objects.append(one_object(node));
  }
  nb::list holes;
  for (const TemplateHole& hole : form.holes) {
    // What no result depends on has no place to go.
    const auto found = numbers.find(hole.node.get());
    if (found == numbers.end()) continue;
    holes.append(nb::make_tuple(found->second, hole.param, hole.part, hole.value));
  }
  nb::list given;
  for (const NodePtr& node : form.given) given.append(one_object(node));
  const nb::object values = form.values == nullptr ? nb::none() : function_to_python(form.values);
  return nb::make_tuple(objects, holes, given, values);
}

// (kind, what it is made of, output, code, name): ("python", (callable, numpy, why)), ("graph",
// (graph, captured)), ("template", (nodes, holes, given, values)).
nb::tuple function_parts(nb::handle native) {
  const FunctionPtr function = function_of(native);
  const auto made = [&](const char* kind, nb::tuple parts) {
    return nb::make_tuple(kind, parts, structure_to_python(function->output()), function->code(),
                          function->name());
  };
  if (const PythonParts python = python_parts(*function); python.callable) {
    return made("python",
                nb::make_tuple(nb::borrow(python.callable.get()), python.numpy, function->why()));
  }
  if (const GraphFunctionParts parts = graph_parts(*function); parts.graph != nullptr) {
    nb::list captured;
    for (const Tensor& value : parts.captured) {
      captured.append(nb::make_tuple(value_to_python(value), std::string(name_of(value.dtype()))));
    }
    return made("graph", nb::make_tuple(graph_to_python(*parts.graph), captured));
  }
  if (const DatasetTemplate* form = template_of(*function)) {
    return made("template", template_parts(*form));
  }
  throw nb::type_error(
      ("function " + function->name() + " cannot travel: it is none of Python's").c_str());
}

nb::object graph_function_again(nb::handle graph, nb::handle captured, nb::handle output,
                                const std::string& code, const std::string& name) {
  FunctionPtr made = make_graph_function(
      graph_from_python(graph), output.is_none() ? nullptr : structure_of(output), code, name);
  std::vector<Tensor> values;
  for (nb::handle value : captured) {
    const auto dtype = dtype_from_name(nb::cast<std::string>(value[1]));
    if (!dtype) throw nb::value_error("a traveled function names a dtype that is not known here");
    values.push_back(value_from_python(value[0], *dtype));
  }
  if (!values.empty()) made = bind_captured(made, std::move(values));
  return function_to_python(std::move(made));
}

}  // namespace

void bind_travel(nb::module_& m) {
  m.def(
      "nodes_below", [](nb::handle node) { return objects_below(node_from(node)); },
      "All nodes of a pipeline, inputs first; the same objects whenever it is asked.");
  m.def("node_parts", &node_parts);
  m.def("function_parts", &function_parts);
  m.def("graph_function_again", &graph_function_again, nb::arg("graph"), nb::arg("captured"),
        nb::arg("output").none(), nb::arg("code"), nb::arg("name"));
  m.def(
      "function_with_recipe",
      [](nb::handle function, nb::handle recipe) {
        return function_to_python(with_recipe(function_of(function), recipe));
      },
      "The same function, which travels as `recipe`.");
  m.def(
      "object_with_recipe",
      [](nb::handle object, nb::handle recipe) {
        return object_to_python(with_recipe(object_of(object), recipe));
      },
      "The same for a generator or another source of Python's.");
  m.def("function_recipe", [](nb::handle function) { return recipe_of(function_of(function)); });
  m.def("object_recipe", [](nb::handle object) { return recipe_of(object_of(object)); });
}

}  // namespace spillway::python
