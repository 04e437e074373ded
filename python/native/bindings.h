#pragma once

#include <nanobind/nanobind.h>

#include "python.h"
#include "spillway/pipeline/spec.h"

// What the module's parts hand to each other. With the GIL.
namespace spillway::python {

// An integer of 64 bits; throws a ValueError where it is larger, a TypeError where it is none.
std::int64_t integer_from(nanobind::handle object);

NodePtr node_of(PyObject* native_node);         // null with an exception
PyObject* node_to_python(const NodePtr& node);  // new reference
ElementPtr element_of(PyObject* native_element);
PyObject* element_to_python(const ElementPtr& element);  // None for null

StructurePtr structure_of(nanobind::handle native_structure);
nanobind::object structure_to_python(const StructurePtr& structure);  // None for null
nanobind::object function_to_python(FunctionPtr function);
FunctionPtr function_of(nanobind::handle native_function);
ObjectPtr object_of(nanobind::handle native_object);
nanobind::object object_to_python(ObjectPtr object);

// Throws the Python exception for an error of the engine's through nanobind.
[[noreturn]] void throw_status(const Status& error);
template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) throw_status(result.error());
  return std::move(result).value();
}

// The next element of a `_native.Iterator`: new reference; null with an exception, or without one
// at the end. And one that did not reach whoever asked: the next one again.
PyObject* next_element(PyObject* pass);
void give_back_element(PyObject* pass, Ref element);
// Before the interpreter ends: stops and closes every random access that is still alive.
void close_accesses();
// The same for workers that nobody uses.
void end_workers();
// The same for the guardian of the process's memory.
void end_process_guard();
// The same for the event loop of async functions.
void end_async_loop();

void bind_access(nanobind::module_& m);
void bind_spec(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_lines(nanobind::module_& m);
void bind_operators(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_iterator(nanobind::module_& m);
void bind_elements(nanobind::module_& m);
void bind_memory(nanobind::module_& m);
void bind_process_guard(nanobind::module_& m);
void bind_files(nanobind::module_& m);
void bind_fit(nanobind::module_& m);
void bind_workers(nanobind::module_& m);
void bind_guarded(nanobind::module_& m);
void bind_cargo(nanobind::module_& m);
void bind_async(nanobind::module_& m);
void bind_flight(nanobind::module_& m);
void bind_travel(nanobind::module_& m);

// Adds a note to the exception that ends this thread's wait: what was waited for, and where. With
// the GIL; nothing where the wait was short.
void note_wait(PyObject* exception);
// Before anything runs: the front sets up the watchdog and the recorder, once.
void begin_watching();
// Who is told of stalls: a callable of one text.
void listen_to_reports(Ref report_hook);

}  // namespace spillway::python
