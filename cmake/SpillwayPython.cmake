find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
# Asking the interpreter works the same under pip, the presets and an editable rebuild.
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy; print(numpy.get_include())"
  OUTPUT_VARIABLE numpy_include OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
# NOMINSIZE: small tensors spend their time on the way through these files, which -Os makes longer.
nanobind_add_module(_native NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE
  python/native/arrays.cc
  python/native/async_function.cc
  python/native/async_loop.cc
  python/native/bind_graph.cc
  python/native/bind_access.cc
  python/native/bind_cargo.cc
  python/native/bind_guarded.cc
  python/native/bind_iterator.cc
  python/native/bind_elements.cc
  python/native/bind_files.cc
  python/native/bind_fit.cc
  python/native/bind_flight.cc
  python/native/bind_memory.cc
  python/native/bind_session.cc
  python/native/bind_spec.cc
  python/native/bind_travel.cc
  python/native/bind_workers.cc
  python/native/file_watch.cc
  python/native/graph_parts.cc
  python/native/line_counts.cc
  python/native/module.cc
  python/native/nest.cc
  python/native/interrupts.cc
  python/native/numpy_guard.cc
  python/native/object_guard.cc
  python/native/numpy_loops.cc
  python/native/objects.cc
  python/native/operators.cc
  python/native/pass_facts.cc
  python/native/py_arrow.cc
  python/native/py_function.cc
  python/native/process_guard.cc
  python/native/py_generator.cc
  python/native/python.cc
  python/native/remote_files.cc
  python/native/tensor_spill.cc
  python/native/tensors.cc
  python/native/stop_button.cc
  python/native/survival.cc
  python/native/voice.cc
  python/native/whose_code.cc)
target_include_directories(_native SYSTEM PRIVATE ${numpy_include})
target_include_directories(_native PRIVATE python/native)
target_link_libraries(_native PRIVATE spillway spillway_flags)
install(TARGETS _native LIBRARY DESTINATION spillway COMPONENT python)
