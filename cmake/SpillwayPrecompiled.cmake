# Reading headers is half of what a source costs under a sanitizer, so those builds read the most
# used ones once. The others do without: ccache shares their objects between clones, which a
# precompiled header, full of absolute paths, would prevent; and lint sees each source as it is.
if(SPILLWAY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # A precompiled header and its readers must agree on how numbers are computed.
  target_compile_options(spillway PRIVATE ${SPILLWAY_LOOP_OPTIONS})
  target_precompile_headers(spillway PRIVATE
    <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <deque> <functional> <limits>
    <map> <memory> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility>
    <variant> <vector>
    src/spillway/graph/elementwise.h
    src/spillway/graph/moves.h
    src/spillway/pipeline/access.h
    src/spillway/pipeline/operator.h)
  if(SPILLWAY_TESTS)
    target_compile_options(spillway_tests PRIVATE ${SPILLWAY_LOOP_OPTIONS})
    target_precompile_headers(spillway_tests PRIVATE
      <algorithm> <cmath> <fstream> <memory> <string> <thread> <vector>
      <gmock/gmock.h> <gtest/gtest.h>
      src/spillway/pipeline/run.h
      src/spillway/testing/op_conformance.h
      src/spillway/testing/operator_conformance.h)
  endif()
endif()
