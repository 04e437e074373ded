# What reads files of strangers, each with its fuzz target.
spillway_fuzz(cache_file pipeline/cache_file_fuzz.cc)
spillway_fuzz(checkpoint pipeline/checkpoint_fuzz.cc)
spillway_fuzz(example_parser graph/example_parser_fuzz.cc)
spillway_fuzz(quarantine pipeline/quarantine_fuzz.cc)
spillway_fuzz(row_bytes tensor/row_bytes_fuzz.cc)
spillway_fuzz(spec_json pipeline/spec_json_fuzz.cc)
spillway_fuzz(text_check io/text_check_fuzz.cc)
