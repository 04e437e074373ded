# spillway_operator(take): the one registration. Adds ops/take.cc to the library,
# ops/take_test.cc to the tests (refusing to configure without it) and the
# operator to the registry table.
function(spillway_operator name)
  set(dir ${PROJECT_SOURCE_DIR}/src/spillway/pipeline/ops)
  if(NOT EXISTS ${dir}/${name}_test.cc)
    message(FATAL_ERROR "operator '${name}' has no ops/${name}_test.cc")
  endif()
  target_sources(spillway PRIVATE ${dir}/${name}.cc)
  if(SPILLWAY_TESTS)
    target_sources(spillway_tests PRIVATE ${dir}/${name}_test.cc)
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY SPILLWAY_OPS "SW_OP(${name})\n")
endfunction()

# Loops are written to be vectorised, and to give the same numbers on every machine.
set(SPILLWAY_LOOP_OPTIONS "-ffp-contract=off;-fno-math-errno")
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/conv.cc
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/depthwise.cc
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/gemm.cc
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/paired.cc
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/vector_math_test.cc
  ${PROJECT_SOURCE_DIR}/src/spillway/graph/resize.cc
  PROPERTIES COMPILE_OPTIONS "${SPILLWAY_LOOP_OPTIONS}")

# spillway_op(add): the same for an op on tensors, in graph/ops. With STRINGS, the file also
# defines its twin for strings, add_strings. With IN family, its test is one of family_test.cc.
function(spillway_op name)
  cmake_parse_arguments(PARSE_ARGV 1 op "STRINGS" "IN" "")
  set(dir ${PROJECT_SOURCE_DIR}/src/spillway/graph/ops)
  set(test ${name})
  if(op_IN)
    set(test ${op_IN})
  endif()
  if(NOT EXISTS ${dir}/${test}_test.cc)
    message(FATAL_ERROR "op '${name}' has no graph/ops/${test}_test.cc")
  endif()
  target_sources(spillway PRIVATE ${dir}/${name}.cc)
  if(SPILLWAY_TESTS AND NOT op_IN)
    target_sources(spillway_tests PRIVATE ${dir}/${name}_test.cc)
    # GoogleTest's headers cost more than a small test: read once for those of a letter.
    string(SUBSTRING ${name} 0 1 letter)
    set_source_files_properties(${dir}/${name}_test.cc PROPERTIES UNITY_GROUP ops_${letter})
  endif()
  set_source_files_properties(${dir}/${name}.cc PROPERTIES
    COMPILE_OPTIONS "${SPILLWAY_LOOP_OPTIONS}")
  set_property(GLOBAL APPEND_STRING PROPERTY SPILLWAY_GRAPH_OPS "SW_OP(${name})\n")
  if(op_STRINGS)
    set_property(GLOBAL APPEND_STRING PROPERTY SPILLWAY_GRAPH_OPS "SW_OP(${name}_strings)\n")
  endif()
endfunction()

function(spillway_write_registry)
  get_property(ops GLOBAL PROPERTY SPILLWAY_OPS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gen/registered_ops.inc CONTENT "${ops}")
  get_property(ops GLOBAL PROPERTY SPILLWAY_GRAPH_OPS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gen/registered_graph_ops.inc CONTENT "${ops}")
  target_include_directories(spillway PRIVATE ${PROJECT_BINARY_DIR}/gen)
endfunction()

# spillway_test(memory/budget_test.cc): a test beside its code, not an operator's.
function(spillway_test file)
  if(SPILLWAY_TESTS)
    target_sources(spillway_tests PRIVATE ${PROJECT_SOURCE_DIR}/src/spillway/${file})
  endif()
endfunction()

# What reads files of strangers: DIR/NAME.cc, its test and its fuzz target.
function(spillway_reader dir name)
  foreach(part test fuzz)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/spillway/${dir}/${name}_${part}.cc)
      message(FATAL_ERROR "'${name}' has no ${dir}/${name}_${part}.cc")
    endif()
  endforeach()
  target_sources(spillway PRIVATE ${PROJECT_SOURCE_DIR}/src/spillway/${dir}/${name}.cc)
  spillway_test(${dir}/${name}_test.cc)
  spillway_fuzz(${name} ${dir}/${name}_fuzz.cc)
endfunction()
# spillway_format(npy): a file format of records, in io/formats.
function(spillway_format name)
  spillway_reader(io/formats ${name})
endfunction()
# spillway_image(png): a format of images, in io/images.
function(spillway_image name)
  spillway_reader(io/images ${name})
endfunction()

# spillway_bench(jpeg io/images/jpeg_bench.cc): a Google Benchmark program (preset release).
function(spillway_bench name file)
  if(SPILLWAY_BENCH)
    find_package(benchmark REQUIRED)
    add_executable(${name}_bench ${PROJECT_SOURCE_DIR}/src/spillway/${file})
    target_link_libraries(${name}_bench PRIVATE spillway spillway_flags benchmark::benchmark)
  endif()
endfunction()
# spillway_fuzz(state pipeline/state_fuzz.cc): a libFuzzer target (preset asan), run by ./run fuzz.
if(SPILLWAY_FUZZ)
  add_custom_target(fuzzers)
endif()
function(spillway_fuzz name file)
  if(SPILLWAY_FUZZ)
    add_executable(${name}_fuzz ${PROJECT_SOURCE_DIR}/src/spillway/${file})
    target_link_libraries(${name}_fuzz PRIVATE
      spillway spillway_flags nlohmann_json::nlohmann_json -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name}_fuzz)
  endif()
endfunction()
