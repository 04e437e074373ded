# Tests beside their code that are not an operator's.
spillway_test(pipeline/row_store_test.cc)
