#include "survival.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "arrays.h"

namespace spillway::python {
namespace {

// What an integer type holds; the ends of the signed and the unsigned 64 bits at most.
struct Range {
  std::int64_t least = 0;
  std::uint64_t most = 0;
};

Range signed_range(int bits) {
  const auto most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return {-most - 1, static_cast<std::uint64_t>(most)};
}

Range unsigned_range(int bits) {
  return {0, std::numeric_limits<std::uint64_t>::max() >> (64 - bits)};
}

Range range_of(DType dtype) {
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  switch (dtype) {
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return unsigned_range(bits);
    case DType::kInt4:
      return signed_range(4);
    case DType::kUInt4:
      return unsigned_range(4);
    case DType::kInt2:
      return signed_range(2);
    case DType::kUInt2:
      return unsigned_range(2);
    default:
      return signed_range(bits);
  }
}

// The first finite number that a float type makes infinite, or infinity.
double first_too_large(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65520;
    case DType::kBFloat16:
      return std::ldexp(511.0, 119);  // halfway between its largest and 2^128
    case DType::kFloat32:
    case DType::kComplex64:
      return std::ldexp(33554431.0, 103);
    default:
      return std::numeric_limits<double>::infinity();
  }
}

template <class T>
bool fits(T value, const Range& range) {
  if constexpr (std::is_floating_point_v<T>) {
    // The end is a power of two and so exact; it does not belong to the range.
    const auto below = static_cast<double>(range.least);
    const std::uint64_t half = range.most / 2 + 1;
    const double end = static_cast<double>(half) * 2;
    const auto wide = static_cast<double>(value);
    return std::trunc(wide) == wide && wide >= below && wide < end;
  } else if constexpr (std::is_signed_v<T>) {
    return value >= range.least && (value < 0 || static_cast<std::uint64_t>(value) <= range.most);
  } else {
    return value <= range.most;
  }
}

// The place of the first item that `fine` is false for; -1: none.
template <class T, class Fine>
npy_intp first_that_is_not(PyArrayObject* array, Fine fine) {
  const T* items = static_cast<const T*>(PyArray_DATA(array));
  const npy_intp count = PyArray_SIZE(array);
  constexpr npy_intp kBlock = 4096;  // without a way out of it, so that it becomes vectors
  for (npy_intp begin = 0; begin < count; begin += kBlock) {
    const npy_intp end = std::min(count, begin + kBlock);
    bool all = true;
    for (npy_intp i = begin; i < end; ++i) all &= fine(items[i]);
    for (npy_intp i = begin; !all && i < end; ++i) {
      if (!fine(items[i])) return i;
    }
  }
  return -1;
}

template <class T>
npy_intp first_unfit(PyArrayObject* array, DType want) {
  if (is_integer(want)) {
    const Range range = range_of(want);
    return first_that_is_not<T>(array, [=](T v) { return fits(v, range); });
  }
  const double above = first_too_large(want);
  if (std::isinf(above)) return -1;
  return first_that_is_not<T>(array, [=](T v) {
    const double size = std::abs(static_cast<double>(v));
    return !(size >= above) || std::isinf(size);
  });
}

// Names the number and its place.
bool refuse(PyArrayObject* array, npy_intp at, DType want, const char* why) {
  const Ref flat = Ref::steal(PyArray_Ravel(array, NPY_CORDER));
  const Ref item = flat ? Ref::steal(PySequence_GetItem(flat.get(), at)) : Ref();
  const Ref text = item ? Ref::steal(PyObject_Str(item.get())) : Ref();
  if (!text) return false;
  PyErr_Format(PyExc_ValueError, "%U%s %s %s", text.get(), place_in(array, at).c_str(), why,
               std::string(name_of(want)).c_str());
  return false;
}

bool is_complex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

// Complex numbers: both parts, one of which must be zero where the type is real.
bool complex_survives(PyArrayObject* array, DType want) {
  auto* object = reinterpret_cast<PyObject*>(array);
  const Ref imag = Ref::steal(PyObject_GetAttrString(object, "imag"));
  const Ref real = Ref::steal(PyObject_GetAttrString(object, "real"));
  if (!imag || !real) return false;
  if (is_complex(want)) {
    return survives(reinterpret_cast<PyArrayObject*>(real.get()), want) &&
           survives(reinterpret_cast<PyArrayObject*>(imag.get()), want);
  }
  const Ref wide = Ref::steal(PyArray_FROMANY(imag.get(), NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY_RO));
  if (!wide) return false;
  const npy_intp at = first_that_is_not<double>(reinterpret_cast<PyArrayObject*>(wide.get()),
                                                [](double v) { return v == 0; });
  if (at >= 0) return refuse(array, at, want, "has an imaginary part and cannot become");
  return survives(reinterpret_cast<PyArrayObject*>(real.get()), want);
}

bool same_or_wider(DType found, DType want) {
  if (found == want || found == DType::kBool || want == DType::kBool) return true;
  if (want == DType::kFloat64 || want == DType::kComplex128) return !is_complex(found);
  return false;
}

}  // namespace

std::string place_in(PyArrayObject* array, npy_intp at) {
  std::string place;
  for (int d = PyArray_NDIM(array) - 1; d >= 0; --d) {
    const npy_intp dim = PyArray_DIM(array, d);
    place.insert(0, std::to_string(at % dim) + (place.empty() ? "" : ", "));
    at /= dim;
  }
  return place.empty() ? place : " at [" + place + "]";
}

bool survives(PyArrayObject* array, DType want) {
  const auto found = dtype_of(PyArray_DESCR(array));
  if (!found || !is_plain(*found) || !is_plain(want)) return true;
  if (PyArray_SIZE(array) == 0 || same_or_wider(*found, want)) return true;
  if (is_complex(*found)) return complex_survives(array, want);
  // Aligned, in this machine's order; floats of 16 bits and less as doubles.
  int type = NPY_FLOAT64;
  if (*found == DType::kFloat32) type = NPY_FLOAT32;
  if (is_integer(*found) && PyArray_DESCR(array)->type_num < NPY_USERDEF) {
    type = *found == DType::kUInt64 ? NPY_UINT64 : NPY_INT64;
  }
  const int flags = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST;
  PyArray_Descr* descr = PyArray_DescrFromType(type);
  const Ref plain = Ref::steal(PyArray_FromArray(array, descr, flags));
  if (!plain) return false;
  auto* items = reinterpret_cast<PyArrayObject*>(plain.get());
  npy_intp at = -1;
  if (type == NPY_UINT64) {
    at = first_unfit<std::uint64_t>(items, want);
  } else if (type == NPY_INT64) {
    at = first_unfit<std::int64_t>(items, want);
  } else if (type == NPY_FLOAT32) {
    at = first_unfit<float>(items, want);
  } else {
    at = first_unfit<double>(items, want);
  }
  return at < 0 || refuse(array, at, want, "does not fit");
}

}  // namespace spillway::python
