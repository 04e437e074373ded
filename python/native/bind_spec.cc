// Structures, nodes, functions, and the operators' definitions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "bindings.h"
#include "interrupts.h"
#include "objects.h"
#include "spillway/pipeline/dataset_template.h"
#include "spillway/pipeline/file_rows.h"
#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/preflight.h"
#include "workers.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// nanobind holds const-free pointers: these carry the shared, immutable ones.
struct NativeStructure {
  StructurePtr structure;
};
struct NativeNode {
  NodePtr node;
};
struct NativeElement {
  ElementPtr element;
};
struct NativeFunction {
  FunctionPtr function;
};
struct NativeObject {
  ObjectPtr object;
};

}  // namespace

std::int64_t integer_from(nb::handle object) {
  const Ref index = Ref::steal(PyNumber_Index(object.ptr()));
  if (!index) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) throw nb::value_error("an integer must fit into 64 bits");
  return value;
}

namespace {

Shape shape_from(nb::handle shape) {
  if (shape.is_none()) return Shape::unknown_rank();
  std::vector<std::int64_t> dims;
  for (nb::handle dim : shape) dims.push_back(dim.is_none() ? -1 : integer_from(dim));
  return Shape(std::span<const std::int64_t>(dims));
}

nb::object shape_to(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (const std::int64_t dim : shape.dims()) {
    dims.append(dim < 0 ? nb::none() : nb::object(nb::int_(dim)));
  }
  return nb::tuple(dims);
}

StructurePtr structure_or_null(nb::handle object) {
  return object.is_none() ? nullptr : nb::cast<NativeStructure&>(object).structure;
}

nb::object structure_to(const StructurePtr& structure) {
  return structure == nullptr ? nb::none() : nb::cast(NativeStructure{structure});
}

std::vector<StructurePtr> children_from(nb::handle list) {
  std::vector<StructurePtr> out;
  for (nb::handle item : list) out.push_back(nb::cast<NativeStructure&>(item).structure);
  return out;
}

std::string kind_name(Structure::Kind kind) {
  static constexpr const char* kNames[] = {"tensor", "tuple",   "dict",    "named",
                                           "none",   "dataset", "optional"};
  return kNames[static_cast<std::size_t>(kind)];
}

constexpr int kMostNested = 256;  // lists in lists of a parameter

Value value_from(nb::handle object, int depth = 0) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (nb::isinstance<nb::int_>(object)) return integer_from(object);
  if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
  if (nb::isinstance<nb::str>(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    return std::string(text, static_cast<std::size_t>(size));
  }
  if (nb::isinstance<NativeStructure>(object)) return nb::cast<NativeStructure&>(object).structure;
  if (nb::isinstance<NativeElement>(object)) return nb::cast<NativeElement&>(object).element;
  if (nb::isinstance<NativeFunction>(object)) return nb::cast<NativeFunction&>(object).function;
  if (nb::isinstance<NativeObject>(object)) return nb::cast<NativeObject&>(object).object;
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    if (depth > kMostNested) {
      throw nb::value_error("a parameter of an operator must not contain itself");
    }
    auto list = std::make_shared<ValueList>();
    for (nb::handle item : object) list->items.push_back(value_from(item, depth + 1));
    return std::shared_ptr<const ValueList>(std::move(list));
  }
  throw nb::type_error("a parameter of an operator has no value of this type");
}

const AccountPtr& constants() {
  static const auto& account = *new AccountPtr(Budget::process().open_account("constants"));
  return account;
}

NativeElement element_from(nb::handle nest, nb::handle structure, bool adopt) {
  Taken taken;
  Mismatch why = Mismatch::kNone;
  const TakeRules rules{constants(), adopt, &why};
  if (!take_nest(nest.ptr(), structure_or_null(structure), rules, false, taken)) {
    throw nb::python_error();
  }
  const StructurePtr declared = structure_or_null(structure);
  return {std::make_shared<Element>(
      Element{declared != nullptr ? declared : taken.structure, std::move(taken.values)})};
}

nb::dict describe(const OperatorDef& def) {
  nb::dict out;
  out["name"] = nb::str(def.name.data(), def.name.size());
  out["summary"] = nb::str(def.summary.data(), def.summary.size());
  out["example"] = nb::str(def.example.data(), def.example.size());
  out["inputs"] = def.inputs;
  out["hidden"] = def.hidden;
  out["passes_rows"] = def.passes_rows;
  nb::list params;
  for (const ParamDef& param : def.params.own()) {
    nb::dict p;
    p["name"] = nb::str(param.name.data(), param.name.size());
    const std::string_view type = to_string(param.type);
    p["type"] = nb::str(type.data(), type.size());
    p["default"] = nb::str(param.fallback.data(), param.fallback.size());
    p["doc"] = nb::str(param.doc.data(), param.doc.size());
    p["tuning"] = param.tuning;
    params.append(p);
  }
  out["params"] = params;
  out["policy"] = !def.params.policy().empty();
  return out;
}

NativeNode make_node(const std::string& op, nb::list params, nb::list inputs,
                     const std::string& line, const std::string& name) {
  const OperatorDef* def = find_operator(op);
  if (def == nullptr) throw nb::value_error(("no operator " + op).c_str());
  std::vector<Value> values;
  for (nb::handle param : params) values.push_back(value_from(param));
  std::vector<NodePtr> nodes;
  for (nb::handle input : inputs) nodes.push_back(nb::cast<NativeNode&>(input).node);
  return {value_or_throw(Node::make(*def, std::move(values), std::move(nodes), line, name))};
}

// None where the pipeline cannot be a form. Holes: (node, parameter, part, value).
nb::object template_function(const NativeNode& dataset, nb::list holes, nb::list given,
                             nb::handle values, const NativeStructure& output,
                             const std::string& code, const std::string& name) {
  DatasetTemplate form;
  form.dataset = dataset.node;
  for (nb::handle hole : holes) {
    form.holes.push_back({nb::cast<NativeNode&>(hole[0]).node, nb::cast<std::size_t>(hole[1]),
                          nb::cast<std::size_t>(hole[2]), nb::cast<std::size_t>(hole[3])});
  }
  for (nb::handle node : given) form.given.push_back(nb::cast<NativeNode&>(node).node);
  if (!values.is_none()) form.values = nb::cast<NativeFunction&>(values).function;
  auto made = make_template_function(std::move(form), output.structure, code, name);
  if (!made.ok() && made.error().code() == Code::kUnimplemented) return nb::none();
  return function_to_python(value_or_throw(std::move(made)));
}

NativeNode node_from_json(const std::string& text, nb::dict functions) {
  const FunctionLookup lookup = [&](const std::string& name,
                                    const std::string& code) -> Result<FunctionPtr> {
    if (!functions.contains(name.c_str())) {
      return invalid_argument("spec: function '", name,
                              "' is not in the file; hand it over with functions={'", name,
                              "': ...}");
    }
    FunctionPtr function = nb::cast<NativeFunction&>(functions[name.c_str()]).function;
    if (function->code() != code) {
      return invalid_argument("spec: function '", name, "' has other code than the one saved");
    }
    return function;
  };
  return {value_or_throw(from_json(text, lookup))};
}

nb::list quarantined(const std::string& path) {
  nb::list out;
  Interrupts interrupts;
  auto found = [&] {
    const WithoutGil unlocked;  // memory may have to be waited for
    return read_quarantine(path, constants());
  }();
  if (interrupts.raise()) throw nb::python_error();
  for (const ElementPtr& element : value_or_throw(std::move(found))) {
    out.append(nb::cast(NativeElement{element}));
  }
  return out;
}

// A map that makes no calls side by side: ops/map.cc opens those in another way.
bool is_sequential_map(const Node& node) {
  if (node.op().name != "map") return false;
  const std::int64_t calls = node.int_param("num_parallel_calls", 0);
  const FunctionPtr function = node.function_param("map_func");
  return calls == 0 || calls == 1 ||
         (function->pure() && !function->holds_interpreter() && !function->row_by_row());
}

// The same nest and types, shapes open.
NativeStructure relax(const NativeStructure& s) {
  return {s.structure->map_leaves([](const Structure& leaf) {
    return Structure::tensor(leaf.dtype(), Shape::unknown_rank());
  })};
}

}  // namespace

StructurePtr structure_of(nb::handle native_structure) {
  return structure_or_null(native_structure);
}

nb::object structure_to_python(const StructurePtr& structure) { return structure_to(structure); }

// Here or in a worker.
static bool runs_python(const Function& function) {
  return is_python(function) || dynamic_cast<const GuardedFunction*>(&function) != nullptr;
}

FunctionPtr function_if_one(nb::handle object) {
  return nb::isinstance<NativeFunction>(object) ? function_of(object) : nullptr;
}

FunctionPtr function_of(nb::handle native_function) {
  return nb::cast<NativeFunction&>(native_function).function;
}
ObjectPtr object_of(nb::handle native_object) {
  return nb::cast<NativeObject&>(native_object).object;
}
nb::object object_to_python(ObjectPtr object) { return nb::cast(NativeObject{std::move(object)}); }
nb::object function_to_python(FunctionPtr function) {
  return nb::cast(NativeFunction{std::move(function)});
}

NodePtr node_of(PyObject* native) {
  if (!nb::isinstance<NativeNode>(native)) {
    PyErr_SetString(PyExc_TypeError, "not a dataset of this package");
    return nullptr;
  }
  return nb::cast<NativeNode&>(nb::handle(native)).node;
}

PyObject* node_to_python(const NodePtr& node) { return nb::cast(NativeNode{node}).release().ptr(); }

ElementPtr element_of(PyObject* native) {
  if (!nb::isinstance<NativeElement>(native)) {
    PyErr_SetString(PyExc_TypeError, "not an element of this package");
    return nullptr;
  }
  return nb::cast<NativeElement&>(nb::handle(native)).element;
}

PyObject* element_to_python(const ElementPtr& element) {
  if (element == nullptr) return Py_NewRef(Py_None);
  return nb::cast(NativeElement{element}).release().ptr();
}

void throw_status(const Status& error) {
  raise(error);
  throw nb::python_error();
}

void bind_spec(nb::module_& m) {
  nb::class_<NativeStructure>(m, "Structure", "What an element looks like; immutable.")
      .def_static(
          "tensor",
          [](const std::string& dtype, nb::object shape) {
            const auto found = dtype_from_name(dtype);
            if (!found) throw nb::type_error(("no dtype " + dtype).c_str());
            return NativeStructure{Structure::tensor(*found, shape_from(shape))};
          },
          nb::arg("dtype"), nb::arg("shape").none())
      .def_static("tuple",
                  [](nb::list c) { return NativeStructure{Structure::tuple(children_from(c))}; })
      .def_static("dict",
                  [](std::vector<std::string> keys, nb::list c) {
                    return NativeStructure{Structure::dict(std::move(keys), children_from(c))};
                  })
      .def_static("named",
                  [](nb::handle type, std::vector<std::string> fields, nb::list c) {
                    std::string known = nb::isinstance<nb::str>(type)  // never seen here
                                            ? nb::cast<std::string>(type)
                                            : remember_class(type.ptr());
                    return NativeStructure{
                        Structure::named(std::move(known), std::move(fields), children_from(c))};
                  })
      .def_static("none", [] { return NativeStructure{Structure::none()}; })
      .def_static(
          "dataset",
          [](nb::object e, nb::object shape) {
            return NativeStructure{Structure::dataset(structure_or_null(e), shape_from(shape))};
          },
          nb::arg("element").none(), nb::arg("shape").none())
      .def_static(
          "optional",
          [](nb::object e) { return NativeStructure{Structure::optional(structure_or_null(e))}; },
          nb::arg("element").none())
      .def_prop_ro("kind", [](const NativeStructure& s) { return kind_name(s.structure->kind()); })
      .def_prop_ro(
          "dtype",
          [](const NativeStructure& s) { return std::string(name_of(s.structure->dtype())); })
      .def_prop_ro("shape", [](const NativeStructure& s) { return shape_to(s.structure->shape()); })
      .def_prop_ro("keys", [](const NativeStructure& s) { return s.structure->keys(); })
      .def_prop_ro("type", [](const NativeStructure& s) { return s.structure->type(); })
      .def_prop_ro("children",
                   [](const NativeStructure& s) {
                     nb::list out;
                     for (const auto& child : s.structure->children()) {
                       out.append(nb::cast(NativeStructure{child}));
                     }
                     return out;
                   })
      .def("give",
           [](const NativeStructure& s, nb::list leaves) {
             // Packs Python objects, one a component, into this nest.
             std::size_t at = 0;
             const std::function<nb::object(const Structure&)> pack =
                 [&](const Structure& node) -> nb::object {
               if (node.is_component()) return leaves[at++];
               if (node.kind() == Structure::Kind::kNone) return nb::none();
               nb::list items;
               for (const auto& child : node.children()) items.append(pack(*child));
               if (node.kind() == Structure::Kind::kDict) {
                 nb::dict out;
                 for (std::size_t i = 0; i < node.keys().size(); ++i) {
                   out[node.keys()[i].c_str()] = items[i];
                 }
                 return out;
               }
               nb::tuple all(items);
               if (node.kind() == Structure::Kind::kTuple) return all;
               const nb::object type = nb::steal(class_by_name(node.type()));
               if (type.is_none()) return all;
               return type(*all);
             };
             return pack(*s.structure);
           })
      .def("leaves",
           [](const NativeStructure& s) {
             nb::list out;
             const std::function<void(const StructurePtr&)> visit = [&](const StructurePtr& node) {
               if (node->is_component()) {
                 out.append(nb::cast(NativeStructure{node}));
                 return;
               }
               for (const auto& child : node->children()) visit(child);
             };
             visit(s.structure);
             return out;
           })
      .def("common",
           [](const NativeStructure& a, const NativeStructure& b) {
             return NativeStructure{value_or_throw(common_structure(a.structure, b.structure))};
           })
      .def("accepts", [](const NativeStructure& a,
                         const NativeStructure& b) { return a.structure->accepts(*b.structure); })
      .def("__eq__", [](const NativeStructure& a,
                        const NativeStructure& b) { return *a.structure == *b.structure; })
      .def("__repr__", [](const NativeStructure& s) { return s.structure->to_string(); });

  nb::class_<NativeElement>(m, "Element", "A constant nest of tensors.")
      .def_prop_ro("structure",
                   [](const NativeElement& e) { return structure_to(e.element->structure); })
      .def("value", [](const NativeElement& e) {
        PyObject* out = give_nest(*e.element->structure, e.element->values, Leaves::kNumpy);
        if (out == nullptr) throw nb::python_error();
        return nb::steal(out);
      });
  m.def("element", &element_from, nb::arg("nest").none(), nb::arg("structure").none(),
        nb::arg("adopt"), "Takes a nest apart into an element.");

  nb::class_<NativeFunction>(m, "Function", "A callable behind the engine's seam.");
  m.def(
      "function",
      [](nb::object callable, nb::object output, std::string code, std::string name, bool numpy,
         std::string why) {
        return NativeFunction{make_function(Ref::borrow(callable.ptr()), structure_or_null(output),
                                            std::move(code), std::move(name), numpy,
                                            std::move(why))};
      },
      nb::arg("callable"), nb::arg("output").none(), nb::arg("code"), nb::arg("name"),
      nb::arg("numpy") = false, nb::arg("why") = "");
  m.def("is_python", [](const NativeFunction& f) { return is_python(*f.function); });
  nb::class_<NativeObject>(m, "Object", "Something the engine carries for Python.");
  m.def(
      "generator",
      [](nb::object callable, nb::tuple args, nb::object structure, std::string code,
         std::string name) {
        return NativeObject{make_generator(Ref::borrow(callable.ptr()), Ref::borrow(args.ptr()),
                                           structure_or_null(structure), std::move(code),
                                           std::move(name))};
      },
      nb::arg("callable"), nb::arg("args"), nb::arg("structure").none(), nb::arg("code"),
      nb::arg("name"));

  m.def(
      "arrow_source",
      [](nb::object ask, std::vector<std::string> files, std::string name) {
        auto [source, structure] = value_or_throw(
            make_arrow_source(Ref::borrow(ask.ptr()), std::move(files), std::move(name)));
        return nb::make_tuple(NativeObject{source}, structure_to(structure));
      },
      nb::arg("ask"), nb::arg("files"), nb::arg("name"),
      "Arrow streams as a source, and what their rows are.");

  nb::class_<NativeNode>(m, "Node", nb::is_weak_referenceable(),
                         "One operator of a pipeline; immutable.")
      .def_prop_ro("op", [](const NativeNode& n) { return std::string(n.node->op().name); })
      .def_prop_ro("line", [](const NativeNode& n) { return n.node->line(); })
      .def_prop_ro("structure",
                   [](const NativeNode& n) { return structure_to(n.node->structure()); })
      .def_prop_ro("cardinality", [](const NativeNode& n) { return n.node->cardinality(); })
      .def_prop_ro("hash", [](const NativeNode& n) { return n.node->hash(); })
      .def_prop_ro("inputs",
                   [](const NativeNode& n) {
                     nb::list out;
                     for (const NodePtr& input : n.node->inputs()) {
                       out.append(nb::cast(NativeNode{input}));
                     }
                     return out;
                   })
      .def("param",
           [](const NativeNode& n, const std::string& name) -> nb::object {
             const Value& value = n.node->param(name);
             if (const auto* s = std::get_if<std::string>(&value)) return nb::str(s->c_str());
             if (const auto* i = std::get_if<std::int64_t>(&value)) return nb::int_(*i);
             if (const auto* b = std::get_if<bool>(&value)) return nb::bool_(*b);
             return nb::none();
           })
      .def("functions",
           [](const NativeNode& n) {  // (parameter, name, native, why not)
             nb::list out;
             for (const ParamDef& param : n.node->op().params.own()) {
               if (param.type != ParamType::kFunction) continue;
               const FunctionPtr function = n.node->function_param(param.name);
               if (function == nullptr) continue;
               out.append(nb::make_tuple(std::string(param.name), function->name(),
                                         !runs_python(*function), function->why()));
             }
             return out;
           })
      .def("function_traits",
           [](const NativeNode& n) {  // (parameter, pure, fallible, row by row, in a worker)
             nb::list out;
             for (const ParamDef& param : n.node->op().params.own()) {
               if (param.type != ParamType::kFunction) continue;
               const FunctionPtr function = n.node->function_param(param.name);
               if (function == nullptr) continue;
               out.append(
                   nb::make_tuple(std::string(param.name), function->pure(), function->fallible(),
                                  function->row_by_row(),
                                  dynamic_cast<const GuardedFunction*>(function.get()) != nullptr));
             }
             return out;
           })
      .def_prop_ro("sequential_map", [](const NativeNode& n) { return is_sequential_map(*n.node); })
      .def_prop_ro("fused_with_input",  // its function and the one before it are applied as one
                   [](const NativeNode& n) {
                     return is_sequential_map(*n.node) && is_sequential_map(*n.node->inputs()[0]) &&
                            n.node->function_param("map_func")
                                    ->after(n.node->inputs()[0]->function_param("map_func")) !=
                                nullptr;
                   })
      .def_prop_ro("generator",  // its name; empty: it has none
                   [](const NativeNode& n) -> std::string {
                     if (n.node->op().name != "from_generator") return "";
                     const ObjectPtr object = n.node->object_param("generator");
                     return object == nullptr ? "" : object->describe();
                   })
      .def_prop_ro("name", [](const NativeNode& n) { return n.node->name(); })
      .def_prop_ro("passes_rows", [](const NativeNode& n) { return n.node->op().passes_rows; })
      .def_prop_ro("has_index", [](const NativeNode& n) { return n.node->op().index != nullptr; })
      .def_prop_ro("pure", [](const NativeNode& n) { return is_pure(*n.node); })
      .def_prop_ro("repeatable", [](const NativeNode& n) { return may_overpull(*n.node); })
      .def_prop_ro("static_bytes",  // of one element; -1: not known before it is there
                   [](const NativeNode& n) {
                     const StructurePtr& structure = n.node->structure();
                     return structure == nullptr ? -1 : structure->static_bytes();
                   })
      .def("files",
           [](const NativeNode& n) {  // of a source over files
             nb::list out;
             for (const std::string& path : value_or_throw(files_param(*n.node, "filenames"))) {
               out.append(nb::bytes(path.data(), path.size()));
             }
             return out;
           })
      .def("to_json", [](const NativeNode& n) { return value_or_throw(to_json(*n.node)); })
      .def("__repr__", [](const NativeNode& n) { return n.node->to_string(); });
  m.def("node", &make_node, nb::arg("op"), nb::arg("params"), nb::arg("inputs"), nb::arg("line"),
        nb::arg("name"));
  m.def("template_function", &template_function, nb::arg("dataset"), nb::arg("holes"),
        nb::arg("given"), nb::arg("values").none(), nb::arg("output"), nb::arg("code"),
        nb::arg("name"));
  m.def(
      "class_by_name", [](const std::string& name) { return nb::steal(class_by_name(name)); },
      "The class of a named structure; None: never seen here.");
  m.def("node_from_json", &node_from_json);
  m.def("read_quarantine", &quarantined);
  m.def("relax", &relax);
  m.def("preflight",
        [](const NativeNode& n) { return NativeNode{value_or_throw(preflight(n.node))}; });
  m.def("operators", [] {
    nb::list out;
    for (const OperatorDef* def : all_operators()) out.append(describe(*def));
    return out;
  });
}

}  // namespace spillway::python
