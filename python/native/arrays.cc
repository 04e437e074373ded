#include "arrays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "spillway/pipeline/run.h"
#include "survival.h"
#include "tensors.h"

namespace spillway::python {
namespace {

constexpr std::size_t kSmall = 64 * 1024;

int type_number(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return NPY_FLOAT32;
    case DType::kFloat64:
      return NPY_FLOAT64;
    case DType::kInt32:
      return NPY_INT32;
    case DType::kUInt8:
      return NPY_UINT8;
    case DType::kInt16:
      return NPY_INT16;
    case DType::kInt8:
      return NPY_INT8;
    case DType::kString:
      return NPY_OBJECT;
    case DType::kComplex64:
      return NPY_COMPLEX64;
    case DType::kInt64:
      return NPY_INT64;
    case DType::kBool:
      return NPY_BOOL;
    case DType::kUInt16:
      return NPY_UINT16;
    case DType::kComplex128:
      return NPY_COMPLEX128;
    case DType::kFloat16:
      return NPY_FLOAT16;
    case DType::kUInt32:
      return NPY_UINT32;
    case DType::kUInt64:
      return NPY_UINT64;
    default:
      return -1;
  }
}

// NumPy has two numbers for one width (long and long long): compare by kind and size.
std::optional<DType> builtin_dtype(PyArray_Descr* descr) {
  const auto size = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
  switch (descr->kind) {
    case 'b':
      return DType::kBool;
    case 'i':
      return size == 8   ? DType::kInt64
             : size == 4 ? DType::kInt32
             : size == 2 ? DType::kInt16
                         : DType::kInt8;
    case 'u':
      return size == 8   ? DType::kUInt64
             : size == 4 ? DType::kUInt32
             : size == 2 ? DType::kUInt16
                         : DType::kUInt8;
    case 'f':
      if (size == 8) return DType::kFloat64;
      if (size == 4) return DType::kFloat32;
      if (size == 2) return DType::kFloat16;
      return std::nullopt;
    case 'c':
      if (size == 8) return DType::kComplex64;
      if (size == 16) return DType::kComplex128;
      return std::nullopt;
    case 'O':
    case 'S':
    case 'U':
      return DType::kString;
    default:
      return std::nullopt;
  }
}

// Keeps a tensor's bytes alive and marked as kept by the user while an array shows them.
struct Exported {
  Tensor tensor;
};

void free_exported(PyObject* capsule) {
  auto* exported = static_cast<Exported*>(PyCapsule_GetPointer(capsule, nullptr));
  exported->tensor.buffer()->note_exported(false);
  delete exported;
}

Shape shape_of(PyArrayObject* array) {
  const int rank = PyArray_NDIM(array);
  const npy_intp* dims = PyArray_DIMS(array);
  std::array<std::int64_t, NPY_MAXDIMS> all{};
  for (int i = 0; i < rank; ++i) all[static_cast<std::size_t>(i)] = dims[i];
  return Shape(std::span<const std::int64_t>(all.data(), static_cast<std::size_t>(rank)));
}

// An array that shows bytes of ours (a function handed its argument on): the same bytes again.
std::optional<Tensor> shared_tensor(PyArrayObject* array, DType dtype) {
  PyObject* base = PyArray_BASE(array);
  if (base == nullptr || !PyCapsule_CheckExact(base) ||
      PyCapsule_GetDestructor(base) != free_exported || !PyArray_ISCARRAY_RO(array) ||
      PyArray_ISWRITEABLE(array)) {  // handed over: its owner may write to it at any time
    return std::nullopt;
  }
  const auto* exported = static_cast<Exported*>(PyCapsule_GetPointer(base, nullptr));
  const auto* data = static_cast<const std::byte*>(PyArray_DATA(array));
  const std::ptrdiff_t offset = data - exported->tensor.buffer()->data();
  const auto item = static_cast<std::ptrdiff_t>(size_of(dtype));
  if (exported->tensor.dtype() != dtype || offset < 0 || offset % item != 0) return std::nullopt;
  return Tensor(dtype, shape_of(array), exported->tensor.buffer(), offset / item);
}

// Copies what may be gigabytes; now and then signals' handlers run, unless user code is what asks:
// there they run behind it. False, with an exception: one raised it.
bool copy_heard(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kStretch = std::size_t{8} << 20U;
  const bool asks = UserCodeScope::current() == nullptr;
  for (std::size_t at = 0; at < bytes; at += kStretch) {
    if (at > 0 && asks && PyErr_CheckSignals() != 0) return false;
    std::memcpy(to + at, from + at, std::min(kStretch, bytes - at));
  }
  return true;
}

// Items of an object, bytes or unicode array as UTF-8 bytes.
std::optional<Tensor> strings_from(PyArrayObject* array, const LeafRules& rules) {
  // A chararray, like other subclasses of arrays, may refuse to hold objects.
  const Ref objects = Ref::steal(
      PyArray_FROM_OTF(reinterpret_cast<PyObject*>(array), NPY_OBJECT,
                       NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSUREARRAY));
  if (!objects) return std::nullopt;
  auto* flat = reinterpret_cast<PyArrayObject*>(objects.get());
  const npy_intp count = PyArray_SIZE(flat);
  std::vector<std::string_view> items;
  items.reserve(static_cast<std::size_t>(count));
  auto** data = static_cast<PyObject**>(PyArray_DATA(flat));
  for (npy_intp i = 0; i < count; ++i) {
    PyObject* item = data[i];
    Py_ssize_t size = 0;
    const char* bytes = nullptr;
    if (PyBytes_Check(item)) {
      bytes = PyBytes_AS_STRING(item);
      size = PyBytes_GET_SIZE(item);
    } else if (PyUnicode_Check(item)) {
      bytes = PyUnicode_AsUTF8AndSize(item, &size);
      if (bytes == nullptr) return std::nullopt;
    } else {
      PyErr_Format(PyExc_TypeError, "expected bytes or str in a string tensor, found %.100s%s",
                   Py_TYPE(item)->tp_name, place_in(flat, i).c_str());
      return std::nullopt;
    }
    items.emplace_back(bytes, static_cast<std::size_t>(size));
  }
  auto made = make_strings(rules.account, shape_of(flat), items, Buffer::Ask::kOwed);
  if (!made.ok()) {
    raise(made.error());
    return std::nullopt;
  }
  return std::move(made).value();
}

std::optional<Tensor> plain_from(Ref object, DType dtype, const LeafRules& rules, bool ours) {
  auto* array = reinterpret_cast<PyArrayObject*>(object.get());
  const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(array));
  if (!rules.constant && bytes >= kSmall) {
    if (Status possible = rules.account->check_possible(bytes); !possible.ok()) {
      raise(possible);
      return std::nullopt;
    }
  }
  const Shape shape = shape_of(array);
  // Nobody else can write to an array that only we hold and that owns its data.
  const bool sole = ours && PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
  auto* data = static_cast<std::byte*>(PyArray_DATA(array));
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  if ((sole && bytes >= 4096 && aligned) || (rules.constant && bytes >= 4096 && aligned)) {
    Reservation charged;
    if (!rules.constant) charged = rules.account->charge(bytes);
    return Tensor(dtype, shape,
                  std::make_shared<Buffer>(Buffer::adopt(
                      data, bytes, keep_object(std::move(object)), std::move(charged))));
  }
  auto made = make_tensor(rules.account, dtype, shape, Buffer::Ask::kOwed);
  if (!made.ok()) {
    raise(made.error());
    return std::nullopt;
  }
  Tensor out = std::move(made).value();
  if (!copy_heard(out.mutable_data(), data, bytes)) return std::nullopt;
  out.buffer()->touch();
  return out;
}

// Whether a type can hold numbers of this kind, as TensorFlow's tensors decide: 2.5 is no int, and
// a bool is a number for some types and not for others.
bool may_become(PyObject* array, DType want) {
  const auto found = dtype_of(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(array)));
  if (!found || want == DType::kString || *found == DType::kString || *found == want) return true;
  if (PyArray_SIZE(reinterpret_cast<PyArrayObject*>(array)) == 0) return true;
  const auto one_of = [&](std::initializer_list<DType> types) {
    return std::ranges::find(types, want) != types.end();
  };
  const bool complex = one_of({DType::kComplex64, DType::kComplex128});
  bool fine = complex;
  if (*found == DType::kBool) {
    fine = one_of({DType::kInt32, DType::kInt64, DType::kUInt64, DType::kFloat16, DType::kFloat32,
                   DType::kFloat64});
  } else if (*found == DType::kInt64 || *found == DType::kUInt64) {
    fine = want != DType::kBool;
  } else if (*found == DType::kFloat64) {
    fine = complex || (want != DType::kBool && !is_integer(want));
  }
  if (!fine) {
    PyErr_Format(PyExc_TypeError, "expected %s, found %s", std::string(name_of(want)).c_str(),
                 std::string(name_of(*found)).c_str());
  }
  return fine;
}

bool is_list(PyObject* leaf) { return PyList_Check(leaf) || PyTuple_Check(leaf); }

// The strings of a list as objects: NumPy would write numbers beside them as text, and drop zeros
// at the end of bytes.
Ref list_of_strings(PyObject* list) {
  Ref array = Ref::steal(PyArray_FROM_OT(list, NPY_OBJECT));
  if (!array) return array;
  auto* made = reinterpret_cast<PyArrayObject*>(array.get());
  auto** data = static_cast<PyObject**>(PyArray_DATA(made));
  for (npy_intp i = 0; i < PyArray_SIZE(made); ++i) {
    if (PyBytes_Check(data[i]) || PyUnicode_Check(data[i])) continue;
    PyErr_Format(PyExc_ValueError, "a list must hold strings, or numbers of 64 bits: found %.100s",
                 Py_TYPE(data[i])->tp_name);
    return {};
  }
  return array;
}

// Whether TensorFlow makes this type of a list too: it looks at the first item, and of bools come
// no numbers, of real ones no complex ones.
bool goes_on_as_it_began(PyObject* list, int type) {
  PyObject* first = list;
  while (is_list(first) && PySequence_Fast_GET_SIZE(first) > 0) {
    first = PySequence_Fast_ITEMS(first)[0];
  }
  const bool truth = PyBool_Check(first) || PyArray_IsScalar(first, Bool);
  const bool complex = PyComplex_Check(first) || PyArray_IsScalar(first, ComplexFloating);
  if ((!truth || type == NPY_BOOL) && (complex || !PyTypeNum_ISCOMPLEX(type))) return true;
  PyErr_Format(PyExc_ValueError, "a list must not mix types: begins with %.100s",
               Py_TYPE(first)->tp_name);
  return false;
}

// What TensorFlow makes of Python numbers: int32 where they fit, float32.
Ref default_array(PyObject* leaf) {
  Ref array = Ref::steal(PyArray_FROM_O(leaf));
  if (!array) return array;
  auto* made = reinterpret_cast<PyArrayObject*>(array.get());
  if (PyArray_Check(leaf) || PyArray_CheckScalar(leaf)) return array;
  const int type = PyArray_TYPE(made);
  if (is_list(leaf)) {
    if (type == NPY_OBJECT || PyTypeNum_ISSTRING(type)) return list_of_strings(leaf);
    if (!goes_on_as_it_began(leaf, type)) return {};
  }
  if (type == NPY_OBJECT && PyLong_Check(leaf)) {
    PyErr_Format(PyExc_ValueError, "an integer must fit into 64 bits: %R", leaf);
    return {};
  }
  if (type == NPY_FLOAT64) {
    if (!survives(made, DType::kFloat32)) return {};
    return Ref::steal(PyArray_Cast(made, NPY_FLOAT32));
  }
  if (type == NPY_INT64 || type == NPY_LONG) {
    const auto* data = static_cast<const std::int64_t*>(PyArray_DATA(made));
    for (npy_intp i = 0; i < PyArray_SIZE(made); ++i) {
      if (data[i] != static_cast<std::int32_t>(data[i])) return array;
    }
    return Ref::steal(PyArray_Cast(made, NPY_INT32));
  }
  return array;
}

// Whether a list or tuple is at most as deep as an array can be. Otherwise an exception is set: one
// that contains itself would never end, here or in NumPy.
bool shallow(PyObject* leaf, int depth = 0) {
  if (!is_list(leaf)) return true;
  if (depth > NPY_MAXDIMS) {
    PyErr_Format(PyExc_ValueError,
                 "a list must be at most %d deep to be a tensor, and must not contain itself",
                 NPY_MAXDIMS);
    return false;
  }
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(leaf);
  PyObject** items = PySequence_Fast_ITEMS(leaf);
  return std::all_of(items, items + size,
                     [depth](PyObject* item) { return shallow(item, depth + 1); });
}

// A list or tuple with a tensor somewhere within. Only of a shallow one.
bool holds_tensors(PyObject* leaf) {
  if (is_tensor(leaf)) return true;
  if (!is_list(leaf)) return false;
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(leaf);
  PyObject** items = PySequence_Fast_ITEMS(leaf);
  return std::any_of(items, items + size, [](PyObject* item) { return holds_tensors(item); });
}

// A number that needs no array on the way.
std::optional<Tensor> number_from(PyObject* leaf, DType dtype, const AccountPtr& account) {
  std::array<std::byte, 16> item{};
  if (!is_plain(dtype) || !write_scalar(leaf, dtype, item.data())) return std::nullopt;
  auto made = make_tensor(account, dtype, Shape(), Buffer::Ask::kOwed);
  if (!made.ok()) return std::nullopt;
  std::memcpy(made.value().mutable_data(), item.data(), size_of(dtype));
  return std::move(made).value();
}

// What a function computed is its stage's from now on.
Tensor charged_to(const Tensor& value, const AccountPtr& account) {
  if (is_plain(value.dtype()) && value.buffer()->account() == tensor_account()) {
    value.buffer()->transfer(account);
  }
  return value;
}

}  // namespace

PyArray_Descr* descr_of(DType dtype) {
  const int number = type_number(dtype);
  if (number >= 0) return PyArray_DescrFromType(number);
  static auto& cache = *new std::array<PyArray_Descr*, kDTypeCount>{};
  PyArray_Descr*& cached = cache[static_cast<std::size_t>(dtype)];
  if (cached == nullptr) {
    const Ref module = Ref::steal(PyImport_ImportModule("ml_dtypes"));
    if (!module) return nullptr;
    const Ref type =
        Ref::steal(PyObject_GetAttrString(module.get(), std::string(name_of(dtype)).c_str()));
    if (!type) return nullptr;
    if (PyArray_DescrConverter(type.get(), &cached) == NPY_FAIL) return nullptr;
  }
  Py_INCREF(cached);
  return cached;
}

std::optional<DType> dtype_of(PyArray_Descr* descr) {
  if (descr->type_num < NPY_USERDEF) return builtin_dtype(descr);
  const Ref name =
      Ref::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(descr->typeobj), "__name__"));
  const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return dtype_from_name(text);
}

std::optional<Tensor> tensor_from(PyObject* leaf, const LeafRules& rules, bool sole) {
  Ref array;
  bool ours = sole && PyArray_Check(leaf);  // nobody else has it
  if (is_tensor(leaf)) {
    const Tensor* value = evaluated(leaf);
    if (value == nullptr) return std::nullopt;
    if (!rules.dtype || value->dtype() == *rules.dtype) return charged_to(*value, rules.account);
    array = Ref::steal(array_from(*value));
  } else if (PyArray_Check(leaf)) {
    array = Ref::borrow(leaf);
  } else {
    if (!shallow(leaf)) return std::nullopt;
    if (rules.dtype) {
      if (auto number = number_from(leaf, *rules.dtype, rules.account)) return number;
    }
    if (rules.dtype == DType::kString || PyUnicode_Check(leaf) || PyBytes_Check(leaf)) {
      if (PyUnicode_Check(leaf) || PyBytes_Check(leaf)) {
        Py_ssize_t size = 0;
        const char* bytes =
            PyBytes_Check(leaf) ? PyBytes_AS_STRING(leaf) : PyUnicode_AsUTF8AndSize(leaf, &size);
        if (bytes == nullptr) return std::nullopt;
        if (PyBytes_Check(leaf)) size = PyBytes_GET_SIZE(leaf);
        if (rules.dtype && *rules.dtype != DType::kString) {
          PyErr_Format(PyExc_TypeError, "expected %s, found a string",
                       std::string(name_of(*rules.dtype)).c_str());
          return std::nullopt;
        }
        const std::string_view item(bytes, static_cast<std::size_t>(size));
        auto made = make_strings(rules.account, {}, {&item, 1}, Buffer::Ask::kOwed);
        if (!made.ok()) {
          raise(made.error());
          return std::nullopt;
        }
        return std::move(made).value();
      }
      array = Ref::steal(PyArray_FROM_OT(leaf, NPY_OBJECT));
    } else if (holds_tensors(leaf)) {
      const Ref stacked =
          Ref::steal(PyObject_CallFunctionObjArgs(types().convert.get(), leaf, Py_None, nullptr));
      return stacked ? tensor_from(stacked.get(), rules) : std::nullopt;
    } else if (rules.dtype) {
      // Converted below, where each number must survive it.
      array = Ref::steal(PyArray_FROM_O(leaf));
      if (array && rules.strict && !PyArray_CheckScalar(leaf) &&
          !may_become(array.get(), *rules.dtype)) {
        return std::nullopt;
      }
    } else {
      array = default_array(leaf);
    }
    ours = true;
  }
  if (!array) return std::nullopt;
  auto* given = reinterpret_cast<PyArrayObject*>(array.get());
  std::optional<DType> dtype = dtype_of(PyArray_DESCR(given));
  if (!dtype) {
    PyErr_Format(PyExc_TypeError, "no tensor type for NumPy's %S", PyArray_DESCR(given));
    return std::nullopt;
  }
  const DType want = rules.dtype.value_or(*dtype);
  if (*dtype == want && is_plain(want)) {
    if (auto same = shared_tensor(given, want)) return same;
  }
  if (want == DType::kString) {
    if (*dtype != DType::kString) {
      PyErr_Format(PyExc_TypeError, "expected strings, found %S", PyArray_DESCR(given));
      return std::nullopt;
    }
    return strings_from(given, rules);
  }
  if (*dtype != want || !PyArray_ISCARRAY_RO(given)) {
    if (*dtype != want && !survives(given, want)) return std::nullopt;
    PyArray_Descr* descr = descr_of(want);
    if (descr == nullptr) return std::nullopt;
    const int flags = NPY_ARRAY_CARRAY_RO | (*dtype == DType::kString ? 0 : NPY_ARRAY_FORCECAST);
    Ref cast = Ref::steal(PyArray_FromArray(given, descr, flags));
    if (!cast) return std::nullopt;
    ours = ours || cast.get() != array.get();
    array = std::move(cast);
  }
  return plain_from(std::move(array), want, rules, ours);
}

bool write_scalar(PyObject* leaf, DType dtype, std::byte* to) {
  if (PyLong_CheckExact(leaf)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(leaf, &overflow);
    if (overflow != 0) return false;
    const auto store = [&](auto typed) {
      typed = static_cast<decltype(typed)>(value);
      if (static_cast<long long>(typed) != value) return false;
      std::memcpy(to, &typed, sizeof typed);
      return true;
    };
    switch (dtype) {
      case DType::kInt64:
        return store(std::int64_t{});
      case DType::kInt32:
        return store(std::int32_t{});
      case DType::kInt16:
        return store(std::int16_t{});
      case DType::kInt8:
        return store(std::int8_t{});
      case DType::kUInt8:
        return store(std::uint8_t{});
      case DType::kUInt16:
        return store(std::uint16_t{});
      case DType::kUInt32:
        return store(std::uint32_t{});
      case DType::kFloat32: {
        const auto typed = static_cast<float>(value);
        std::memcpy(to, &typed, sizeof typed);
        return true;
      }
      case DType::kFloat64: {
        const auto typed = static_cast<double>(value);
        std::memcpy(to, &typed, sizeof typed);
        return true;
      }
      default:
        return false;
    }
  }
  if (PyFloat_CheckExact(leaf)) {
    const double value = PyFloat_AS_DOUBLE(leaf);
    if (dtype == DType::kFloat64) {
      std::memcpy(to, &value, sizeof value);
      return true;
    }
    if (dtype == DType::kFloat32) {
      const auto typed = static_cast<float>(value);
      if (std::isinf(typed) && !std::isinf(value)) return false;
      std::memcpy(to, &typed, sizeof typed);
      return true;
    }
    return false;
  }
  if (PyBool_Check(leaf) && dtype == DType::kBool) {
    const bool value = leaf == Py_True;
    std::memcpy(to, &value, sizeof value);
    return true;
  }
  if (PyArray_CheckScalar(leaf)) {
    const Ref descr = Ref::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(leaf)));
    if (!descr) {
      PyErr_Clear();
      return false;
    }
    auto* found = reinterpret_cast<PyArray_Descr*>(descr.get());
    const auto type = dtype_of(found);
    if (!type || *type != dtype || dtype == DType::kString) return false;
    if (PyTypeNum_ISUSERDEF(found->type_num)) return false;  // bfloat16: not where NumPy looks
    PyArray_ScalarAsCtype(leaf, to);
    return true;
  }
  return false;
}

bool shown_as_view(const Tensor& tensor) {
  if (!is_plain(tensor.dtype())) return false;
  const std::size_t bytes = tensor.bytes();
  return bytes >= kSmall || (tensor.owns_whole_buffer() && bytes >= 4096);
}

namespace {

PyObject* writable_array_from(const Tensor& tensor) {
  const int rank = tensor.shape().rank();
  std::array<npy_intp, NPY_MAXDIMS> dims{};
  for (int i = 0; i < rank; ++i) dims[static_cast<std::size_t>(i)] = tensor.shape()[i];
  PyArray_Descr* descr = descr_of(tensor.dtype());
  if (descr == nullptr) return nullptr;
  if (tensor.dtype() == DType::kString) {
    PyObject* out =
        PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims.data(), nullptr, nullptr, 0, nullptr);
    if (out == nullptr) return nullptr;
    auto** data = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out)));
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      const std::string_view item = tensor.string_at(i);
      PyObject* bytes =
          PyBytes_FromStringAndSize(item.data(), static_cast<Py_ssize_t>(item.size()));
      if (bytes == nullptr) {
        Py_DECREF(out);
        return nullptr;
      }
      Py_XSETREF(data[i], bytes);
    }
    return out;
  }
  const std::size_t bytes = tensor.bytes();
  if (!shown_as_view(tensor)) {
    PyObject* out =
        PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims.data(), nullptr, nullptr, 0, nullptr);
    if (out == nullptr) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(out);
    if (bytes > 0) std::memcpy(PyArray_DATA(array), tensor.data(), bytes);
    return out;
  }
  Tensor shown = tensor;
  // A row of a chunk gets bytes of its own, still charged: kept, it would pin the whole chunk.
  const BufferPtr& buffer = tensor.buffer();
  if (!buffer->adopted() && buffer->account() != nullptr && bytes * 2 < buffer->size()) {
    if (auto own = compact(buffer->account(), tensor, Buffer::Ask::kOwed); own.ok()) {
      shown = std::move(own).value();
    }
  }
  // The capsule owns it from its making on.
  auto* exported = new Exported{std::move(shown)};
  void* data = exported->tensor.mutable_data();
  exported->tensor.buffer()->note_exported(true);
  Ref capsule = Ref::steal(PyCapsule_New(exported, nullptr, free_exported));
  if (!capsule) {
    exported->tensor.buffer()->note_exported(false);
    delete exported;
    Py_DECREF(descr);
    return nullptr;
  }
  PyObject* out = PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims.data(), nullptr, data,
                                       NPY_ARRAY_CARRAY, nullptr);
  if (out == nullptr) return nullptr;
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(out), capsule.release()) < 0) {
    Py_DECREF(out);
    return nullptr;
  }
  return out;
}

}  // namespace

PyObject* array_from(const Tensor& tensor) {
  PyObject* out = writable_array_from(tensor);
  if (out == nullptr) return nullptr;
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(out), NPY_ARRAY_WRITEABLE);
  return out;
}

PyObject* owned_from(const Tensor& tensor) {
  if (tensor.shape().rank() == 0 && tensor.dtype() == DType::kString) return value_from(tensor);
  return writable_array_from(tensor);
}

PyObject* value_from(const Tensor& tensor) {
  if (tensor.shape().rank() != 0) return array_from(tensor);
  if (tensor.dtype() == DType::kString) {
    const std::string_view item = tensor.string_at(0);
    return PyBytes_FromStringAndSize(item.data(), static_cast<Py_ssize_t>(item.size()));
  }
  PyArray_Descr* descr = descr_of(tensor.dtype());
  if (descr == nullptr) return nullptr;
  PyObject* out = PyArray_Scalar(const_cast<std::byte*>(tensor.data()), descr, nullptr);
  Py_DECREF(descr);
  return out;
}

}  // namespace spillway::python
