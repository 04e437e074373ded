#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "spillway/testing/files.h"
#include "spillway/testing/pipelines.h"

// Saved datasets, for the tests of what writes and reads them.
namespace spillway::testing {

// Saves all of `input` and tells what came out: the number of rows, or an error.
inline std::vector<std::string> saved(const NodePtr& input, const std::string& folder,
                                      FunctionPtr shard_func = nullptr,
                                      const std::string& compression = "") {
  NamedValues params = {{"path", folder}, {"compression", compression}};
  if (shard_func != nullptr) params.emplace_back("shard_func", std::move(shard_func));
  return elements(node("save", params, {input}));
}

inline FunctionPtr modulo(std::int64_t n) {
  return scalar_fn([n](std::int64_t x) -> Result<std::int64_t> { return x % n; });
}

// The files below `folder`, their paths relative to it and sorted, a run's name as RUN.
inline std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    std::string name = std::filesystem::relative(entry.path(), folder).string();
    const auto slash = name.rfind('/');
    if (slash != name.npos && slash >= 16) name.replace(slash - 16, 16, "RUN");
    out.push_back(std::move(name));
  }
  std::ranges::sort(out);
  return out;
}

// The only shard below `folder`.
inline std::string only_shard(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".shard") return entry.path().string();
  }
  ADD_FAILURE() << "no shard below " << folder;
  return "";
}

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void replace_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace spillway::testing
