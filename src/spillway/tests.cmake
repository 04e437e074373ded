# Tests beside their code that are not an operator's.
spillway_test(front/dataset_test.cc)
spillway_test(front/describe_operator_test.cc)
spillway_test(front/element_test.cc)
spillway_test(memory/budget_test.cc)
spillway_test(pipeline/access_test.cc)
spillway_test(pipeline/row_store_test.cc)
spillway_test(pipeline/seen_set_test.cc)
spillway_test(tensor/chunk_test.cc)
