# The command line tool.
find_package(CLI11 REQUIRED)
add_executable(spillway_app apps/spillway.cc)
set_target_properties(spillway_app PROPERTIES OUTPUT_NAME spillway)
target_link_libraries(spillway_app PRIVATE spillway spillway_flags CLI11::CLI11)
install(TARGETS spillway_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cpp)

if(SPILLWAY_TESTS)
  add_test(NAME spillway_describe_lists_the_operators COMMAND spillway_app describe)
  set_tests_properties(spillway_describe_lists_the_operators PROPERTIES
    PASS_REGULAR_EXPRESSION "\nbatch +Stacks.*\ntake +Ends after")
  add_test(NAME spillway_describe_tells_of_one_operator COMMAND spillway_app describe take)
  set_tests_properties(spillway_describe_tells_of_one_operator PROPERTIES
    PASS_REGULAR_EXPRESSION "take\\(count\\).*\n  count  int  most elements")
  add_test(NAME spillway_describe_names_an_unknown_operator COMMAND spillway_app describe tkae)
  set_tests_properties(spillway_describe_names_an_unknown_operator PROPERTIES
    PASS_REGULAR_EXPRESSION "no such operator: tkae")
endif()
