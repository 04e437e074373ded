#include "nest.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "objects.h"
#include "spillway/tensor/class_name.h"
#include "tensors.h"

namespace spillway::python {
namespace {

std::unordered_map<std::string, Ref>& classes() {
  static auto& all = *new std::unordered_map<std::string, Ref>;
  return all;
}

PyObject* attribute_name(const char* text) { return PyUnicode_InternFromString(text); }

// Field names of a namedtuple, dataclass or attrs instance; empty: none of these.
std::vector<std::string> fields_of(PyObject* object) {
  static PyObject* const kFields = attribute_name("_fields");
  static PyObject* const kDataclass = attribute_name("__dataclass_fields__");
  static PyObject* const kAttrs = attribute_name("__attrs_attrs__");
  std::vector<std::string> out;
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const auto add_all = [&out](PyObject* names) {
    const Ref iterator = Ref::steal(PyObject_GetIter(names));
    while (iterator) {
      const Ref item = Ref::steal(PyIter_Next(iterator.get()));
      if (!item) break;
      Ref name = PyUnicode_Check(item.get())
                     ? item
                     : Ref::steal(PyObject_GetAttrString(item.get(), "name"));
      const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
      if (text != nullptr) out.emplace_back(text);
    }
    PyErr_Clear();
  };
  if (PyTuple_Check(object)) {
    if (const Ref names = Ref::steal(PyObject_GetAttr(type, kFields))) add_all(names.get());
  } else if (const Ref dataclass = Ref::steal(PyObject_GetAttr(type, kDataclass))) {
    add_all(dataclass.get());
  } else {
    PyErr_Clear();
    if (const Ref attrs = Ref::steal(PyObject_GetAttr(type, kAttrs))) add_all(attrs.get());
  }
  PyErr_Clear();
  return out;
}

// Whether the class has TensorFlow's protocol for nests: `__tf_flatten__` and `__tf_unflatten__`.
bool is_self_described(PyObject* object) {
  static PyObject* const kFlatten = attribute_name("__tf_flatten__");
  static PyObject* const kUnflatten = attribute_name("__tf_unflatten__");
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return !PyTuple_Check(object) && !PyType_Check(object) && PyObject_HasAttr(type, kFlatten) != 0 &&
         PyObject_HasAttr(type, kUnflatten) != 0;
}

bool is_plain_leaf(PyObject* object) {
  return PyArray_Check(object) || PyLong_Check(object) || PyFloat_Check(object) ||
         PyBytes_Check(object) || PyUnicode_Check(object) || PyArray_CheckScalar(object) ||
         is_tensor(object);
}

// Looks at the first item only: what is mixed is refused with its name.
bool holds_datasets(PyObject* object) {
  if (PyList_Check(object)) {
    return PyList_GET_SIZE(object) > 0 && is_variant(PyList_GET_ITEM(object, 0));
  }
  if (!PyArray_Check(object)) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_TYPE(array) != NPY_OBJECT || PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) == 0) {
    return false;
  }
  auto* first = *static_cast<PyObject**>(PyArray_DATA(array));
  return first != nullptr && is_variant(first);
}

// As nest.py has it: what is deeper would take the stack along, here and in every walk to come.
constexpr int kMostNested = 256;

// One level of a nest, while it is looked at.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) { ++depth_; }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  int& depth_;
};

class Taker {
 public:
  Taker(const TakeRules& rules, Taken& out) : rules_(rules), out_(out) {}

  // `structure` null: `made` becomes the one that is found. False with an exception.
  bool take(PyObject* object, const Structure* structure, bool sole, StructurePtr& made) {
    const Level level(depth_);
    if (depth_ > kMostNested) return too_deep();
    sole = sole && Py_REFCNT(object) == 1;
    if (object == Py_None &&
        (structure == nullptr || structure->kind() == Structure::Kind::kNone)) {
      if (structure == nullptr) made = Structure::none();
      return true;
    }
    if (structure != nullptr && structure->kind() == Structure::Kind::kNone) {
      return wrong_structure(object, *structure);
    }
    if (structure != nullptr && structure->is_component())
      return leaf(object, structure, sole, made);
    if (is_plain_leaf(object)) {
      if (structure != nullptr) return wrong_structure(object, *structure);
      return leaf(object, nullptr, sole, made);
    }
    if (PyDict_Check(object)) return dict(object, structure, sole, made);
    if (PyTuple_CheckExact(object)) return tuple(object, structure, sole, made);
    if (is_self_described(object)) return self_described(object, structure, made);
    if (const auto fields = fields_of(object); !fields.empty()) {
      return named(object, fields, structure, sole, made);
    }
    if (structure != nullptr) return wrong_structure(object, *structure);
    return leaf(object, nullptr, sole, made);
  }

 private:
  bool wrong_structure(PyObject* object, const Structure& structure) const {
    if (rules_.why != nullptr) *rules_.why = Mismatch::kStructure;
    PyErr_Format(PyExc_TypeError, "expected structure %s, found %R", structure.to_string().c_str(),
                 object);
    return false;
  }

  bool variant(PyObject* object, const Structure* structure, StructurePtr& made) {
    VariantPtr item = variant_from(object);
    if (item == nullptr) return false;
    StructurePtr found;
    if (const auto* dataset = dynamic_cast<const DatasetValue*>(item.get())) {
      found = Structure::dataset(dataset->node()->structure());
    } else if (const auto* optional = dynamic_cast<const OptionalValue*>(item.get())) {
      found = Structure::optional(optional->element() ? optional->element()->structure : nullptr);
    }
    out_.values.push_back(make_variant(std::move(item)));
    if (structure == nullptr) {
      made = std::move(found);
    } else if (structure->kind() != found->kind()) {
      return wrong_structure(object, *structure);
    }
    return true;
  }

  // A list or an object array of datasets: one value that holds them all, as a batch of them does.
  bool datasets(PyObject* object, const Structure* structure, StructurePtr& made) {
    const Ref items = Ref::steal(PySequence_Fast(object, "expected a sequence of datasets"));
    if (!items) return false;
    auto all = std::make_shared<std::vector<VariantPtr>>();
    StructurePtr element;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      VariantPtr item = nullptr;
      PyObject* found = PySequence_Fast_GET_ITEM(items.get(), i);
      if (is_variant(found)) item = variant_from(found);
      const auto* dataset = dynamic_cast<const DatasetValue*>(item.get());
      if (dataset == nullptr) {
        if (PyErr_Occurred() == nullptr) {
          PyErr_Format(PyExc_TypeError, "expected datasets only, found %R", found);
        }
        return false;
      }
      const StructurePtr own = dataset->node()->structure();
      if (element == nullptr) element = own;
      if (own != nullptr && !element->accepts(*own)) return wrong_structure(found, *element);
      all->push_back(std::move(item));
    }
    const Shape shape({static_cast<std::int64_t>(all->size())});
    if (structure != nullptr && structure->kind() != Structure::Kind::kDataset) {
      return wrong_structure(object, *structure);
    }
    out_.values.push_back(Tensor::of_variants(shape, std::move(all)));
    if (structure == nullptr) made = Structure::dataset(std::move(element), shape);
    return true;
  }

  bool leaf(PyObject* object, const Structure* structure, bool sole, StructurePtr& made) {
    if (!is_tensor(object)) {
      if (is_variant(object)) return variant(object, structure, made);
      if (holds_datasets(object)) return datasets(object, structure, made);
    }
    LeafRules rules{rules_.account, std::nullopt, rules_.strict, rules_.constant};
    if (structure != nullptr) rules.dtype = structure->dtype();
    auto tensor = tensor_from(object, rules, sole);
    if (!tensor) {
      if (rules_.why != nullptr) *rules_.why = Mismatch::kType;
      return false;
    }
    if (structure != nullptr && !structure->shape().accepts(tensor->shape())) {
      if (rules_.why != nullptr) *rules_.why = Mismatch::kShape;
      PyErr_Format(PyExc_TypeError, "expected shape %s, found %s",
                   structure->shape().to_string().c_str(), tensor->shape().to_string().c_str());
      return false;
    }
    if (structure == nullptr) made = Structure::tensor(tensor->dtype(), tensor->shape());
    out_.values.push_back(std::move(*tensor));
    return true;
  }

  bool dict(PyObject* object, const Structure* structure, bool sole, StructurePtr& made) {
    std::vector<std::string> keys;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(object, &at, &key, &value) != 0) {
      const Ref text = Ref::steal(PyObject_Str(key));
      const char* name = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
      if (name == nullptr) return false;
      keys.emplace_back(name);
    }
    std::ranges::sort(keys);
    if (structure != nullptr &&
        (structure->kind() != Structure::Kind::kDict || structure->keys() != keys)) {
      return wrong_structure(object, *structure);
    }
    std::vector<StructurePtr> children;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Ref name = Ref::steal(PyUnicode_FromString(keys[i].c_str()));
      PyObject* item = PyDict_GetItemWithError(object, name.get());
      if (item == nullptr) {
        if (!PyErr_Occurred()) {
          PyErr_SetString(PyExc_TypeError, "dict keys of an element must be strings");
        }
        return false;
      }
      const Structure* given = structure != nullptr ? structure->children()[i].get() : nullptr;
      StructurePtr child;
      if (!take(item, given, sole, child)) return told_of(keys[i]);
      if (structure == nullptr) children.push_back(std::move(child));
    }
    if (structure == nullptr) made = Structure::dict(std::move(keys), std::move(children));
    return true;
  }

  bool tuple(PyObject* object, const Structure* structure, bool sole, StructurePtr& made) {
    const Ref items = Ref::steal(PySequence_Fast(object, "expected a sequence"));
    if (!items) return false;
    const auto size = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.get()));
    if (structure != nullptr &&
        (structure->kind() != Structure::Kind::kTuple || structure->children().size() != size)) {
      return wrong_structure(object, *structure);
    }
    std::vector<StructurePtr> children;
    children.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      const Structure* given = structure != nullptr ? structure->children()[i].get() : nullptr;
      StructurePtr child;
      if (!take(PySequence_Fast_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), given, sole,
                child))
        return false;
      if (structure == nullptr) children.push_back(std::move(child));
    }
    if (structure == nullptr) made = Structure::tuple(std::move(children));
    return true;
  }

  // An object that says itself what its components are. What else it holds, its metadata, is part
  // of the structure; where a structure was given, that one's is kept.
  bool self_described(PyObject* object, const Structure* structure, StructurePtr& made) {
    const Ref module = Ref::steal(PyImport_ImportModule("spillway.nest"));
    if (!module) return false;
    const Ref apart = Ref::steal(PyObject_CallMethod(module.get(), "take_apart", "O", object));
    if (!apart) return false;
    PyObject* parts = PyTuple_GET_ITEM(apart.get(), 1);
    const auto size = static_cast<std::size_t>(PyList_GET_SIZE(parts));
    const std::string type = class_name(PyTuple_GET_ITEM(apart.get(), 0));
    if (structure != nullptr &&
        (structure->kind() != Structure::Kind::kNamed || structure->children().size() != size ||
         class_of(structure->type()) != class_of(type))) {
      return wrong_structure(object, *structure);
    }
    std::vector<std::string> names;
    std::vector<StructurePtr> children;
    for (std::size_t i = 0; i < size; ++i) {
      const Structure* given = structure != nullptr ? structure->children()[i].get() : nullptr;
      StructurePtr child;
      PyObject* part = PyList_GET_ITEM(parts, static_cast<Py_ssize_t>(i));
      if (!take(part, given, false, child)) return false;
      names.push_back(std::to_string(i));
      if (structure == nullptr) children.push_back(std::move(child));
    }
    if (structure != nullptr) return true;
    made = Structure::named(remember_class(PyTuple_GET_ITEM(apart.get(), 0)), std::move(names),
                            std::move(children));
    return true;
  }

  bool named(PyObject* object, const std::vector<std::string>& fields, const Structure* structure,
             bool sole, StructurePtr& made) {
    const std::string type = remember_class(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    if (structure != nullptr &&
        (structure->kind() != Structure::Kind::kNamed || structure->keys() != fields)) {
      // A plain tuple was declared and a namedtuple of that length came: that fits.
      if (PyTuple_Check(object)) return tuple(object, structure, sole, made);
      return wrong_structure(object, *structure);
    }
    std::vector<StructurePtr> children;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Ref item = Ref::steal(PyObject_GetAttrString(object, fields[i].c_str()));
      if (!item) return false;
      const Structure* given = structure != nullptr ? structure->children()[i].get() : nullptr;
      StructurePtr child;
      if (!take(item.get(), given, false, child)) return false;
      if (structure == nullptr) children.push_back(std::move(child));
    }
    if (structure == nullptr) made = Structure::named(type, fields, std::move(children));
    return true;
  }

  // The exception now set, with the name of the part of a dict that it is about: a column.
  static bool told_of(const std::string& key) {
    const bool of_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    if (!of_type && PyErr_ExceptionMatches(PyExc_ValueError) == 0) return false;
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    const Ref kind = Ref::steal(type);
    const Ref error = Ref::steal(value);
    const Ref stack = Ref::steal(trace);
    if (value == nullptr || (type != PyExc_TypeError && type != PyExc_ValueError)) {
      PyErr_Restore(Ref(kind).release(), Ref(error).release(), Ref(stack).release());
    } else {
      PyErr_Format(type, "in '%s': %S", key.c_str(), value);
    }
    return false;
  }

  static bool too_deep() {
    PyErr_Format(PyExc_ValueError,
                 "an element must be at most %d levels deep, and must not contain itself",
                 kMostNested);
    return false;
  }

  const TakeRules& rules_;
  Taken& out_;
  int depth_ = 0;
};

PyObject* give(const Structure& structure, std::span<const Tensor> values, std::size_t& at,
               Leaves leaves) {
  if (structure.is_component()) return give_leaf(structure, values[at++], leaves);
  if (structure.kind() == Structure::Kind::kNone) return Py_NewRef(Py_None);
  const auto& children = structure.children();
  if (structure.kind() == Structure::Kind::kDict) {
    Ref out = Ref::steal(PyDict_New());
    for (std::size_t i = 0; i < children.size(); ++i) {
      const Ref item = Ref::steal(give(*children[i], values, at, leaves));
      if (!item || PyDict_SetItemString(out.get(), structure.keys()[i].c_str(), item.get()) < 0) {
        return nullptr;
      }
    }
    return out.release();
  }
  Ref out = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(children.size())));
  for (std::size_t i = 0; i < children.size(); ++i) {
    PyObject* item = give(*children[i], values, at, leaves);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), item);
  }
  if (structure.kind() == Structure::Kind::kTuple) return out.release();
  const Ref known = Ref::steal(class_by_name(structure.type()));
  if (!known || known.get() == Py_None) return out.release();  // the class was never seen here
  return PyObject_CallObject(known.get(), out.get());
}

// A namedtuple of a module that is imported already, as in a worker process that was sent the name
// only. The name may be a stranger's: nothing is imported, and no other class is called with what a
// file holds. Null without an exception: there is none.
Ref imported_class(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || class_of(name).size() != name.size()) return {};
  const Ref module = Ref::steal(PyUnicode_FromString(name.substr(0, colon).c_str()));
  Ref found = module ? Ref::steal(PyImport_GetModule(module.get())) : Ref();
  for (std::size_t at = colon + 1; found && at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    found = Ref::steal(PyObject_GetAttrString(found.get(), name.substr(at, end - at).c_str()));
    at = end + 1;
  }
  PyErr_Clear();
  if (!found || !PyType_Check(found.get())) return {};
  auto* type = reinterpret_cast<PyTypeObject*>(found.get());
  const bool named_tuple = PyType_IsSubtype(type, &PyTuple_Type) != 0 &&
                           PyObject_HasAttrString(found.get(), "_fields") != 0;
  return named_tuple ? found : Ref();
}

}  // namespace

std::string class_name(PyObject* type) {
  const Ref module = Ref::steal(PyObject_GetAttrString(type, "__module__"));
  const Ref name = Ref::steal(PyObject_GetAttrString(type, "__qualname__"));
  PyErr_Clear();
  const auto text = [](const Ref& ref) {
    const char* chars = ref && PyUnicode_Check(ref.get()) ? PyUnicode_AsUTF8(ref.get()) : nullptr;
    return std::string(chars == nullptr ? "" : chars);
  };
  return text(module) + ":" + text(name);
}

std::string remember_class(PyObject* type) {
  std::string key = class_name(type);
  classes()[key] = Ref::borrow(type);
  return key;
}

PyObject* class_by_name(const std::string& name) {
  const auto found = classes().find(name);
  if (found != classes().end()) return Py_NewRef(found->second.get());
  Ref imported = imported_class(name);
  if (!imported) return Py_NewRef(Py_None);
  return Py_NewRef((classes()[name] = std::move(imported)).get());
}

bool take_nest(PyObject* nest, const StructurePtr& structure, const TakeRules& rules, bool sole,
               Taken& out) {
  out.values.clear();
  out.structure = nullptr;
  return Taker(rules, out).take(nest, structure.get(), sole, out.structure);
}

bool write_leaf(PyObject* leaf, const Structure& spec, std::byte* to) {
  if (spec.shape().rank() == 0) return write_scalar(leaf, spec.dtype(), to);
  if (!PyArray_Check(leaf)) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(leaf);
  if (PyArray_NDIM(array) != spec.shape().rank() || !PyArray_ISCARRAY_RO(array)) return false;
  for (int i = 0; i < spec.shape().rank(); ++i) {
    if (PyArray_DIM(array, i) != spec.shape()[i]) return false;
  }
  const auto dtype = dtype_of(PyArray_DESCR(array));
  if (!dtype || *dtype != spec.dtype()) return false;
  const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(array));
  if (bytes > 0) std::memcpy(to, PyArray_DATA(array), bytes);
  return true;
}

PyObject* give_leaf(const Structure&, const Tensor& value, Leaves leaves) {
  if (value.dtype() == DType::kVariant) {
    if (value.shape().rank() == 0) return variant_to_python(value.variant_at(0));
    // A batch of datasets: an object array of them.
    std::vector<npy_intp> dims(value.shape().dims().begin(), value.shape().dims().end());
    PyObject* out = PyArray_SimpleNew(value.shape().rank(), dims.data(), NPY_OBJECT);
    if (out == nullptr) return nullptr;
    auto** data = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out)));
    for (std::int64_t i = 0; i < value.count(); ++i) {
      PyObject* item = variant_to_python(value.variant_at(i));
      if (item == nullptr) {
        Py_DECREF(out);
        return nullptr;
      }
      Py_XSETREF(data[i], item);
    }
    return out;
  }
  if (leaves == Leaves::kTensor) return tensor_to_python(value);
  return leaves == Leaves::kNumpy ? value_from(value) : owned_from(value);
}

PyObject* give_nest(const Structure& structure, std::span<const Tensor> values, Leaves leaves) {
  std::size_t at = 0;
  return give(structure, values, at, leaves);
}

}  // namespace spillway::python
