#pragma once

#include "arrays.h"
#include "spillway/pipeline/spec.h"

namespace spillway::python {

// Python's nests (tuples, dicts, namedtuples, dataclasses, attrs classes, None) and ours. With the
// GIL. Lists are tensors, as TensorFlow has it.

// The classes behind Structure::named, by "module:qualname". What remakes an object that describes
// itself (spillway.nest.Remade) stands for the class and its metadata: "module:qualname@metadata".
std::string class_name(PyObject* type);
std::string remember_class(PyObject* type);
PyObject* class_by_name(const std::string& name);  // new reference; None: never seen

// Takes a nest apart into values and, where `structure` is null, its structure. Where it is given,
// the nest must match it: exceptions say how not. False with a Python exception on failure.
struct Taken {
  StructurePtr structure;  // null where it was given
  std::vector<Tensor> values;
};
enum class Mismatch : unsigned char { kNone, kStructure, kType, kShape };
struct TakeRules {
  AccountPtr account;
  bool constant = false;    // adopt the user's arrays
  Mismatch* why = nullptr;  // what kind of mismatch, for the caller's words
  bool strict = false;      // numbers of Python must be of the declared kind: 2.5 is no int
};
bool take_nest(PyObject* nest, const StructurePtr& structure, const TakeRules& rules, bool sole,
               Taken& out);

// Writes a nest straight into the slots of a row: only plain scalars and arrays that fit need no
// tensor of their own. False without an exception: take_nest it instead.
bool write_leaf(PyObject* leaf, const Structure& spec, std::byte* to);

// How leaves look to Python. kOwned: arrays, also of rank 0, that may be written to; the caller
// sees to it that nothing else refers to their bytes.
enum class Leaves : unsigned char { kNumpy, kTensor, kOwned };
PyObject* give_nest(const Structure& structure, std::span<const Tensor> values, Leaves leaves);
PyObject* give_leaf(const Structure& spec, const Tensor& value, Leaves leaves);

}  // namespace spillway::python
