#include <cstdint>
#include <cstdlib>
#include <string>

#include "spillway/pipeline/spec.h"

// A pipeline from any text: refused, or one that survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const FunctionLookup none = [](const std::string& name, const std::string&) {
    return Result<FunctionPtr>(invalid_argument("no function: ", name));
  };
  const auto node = from_json(std::string(reinterpret_cast<const char*>(data), size), none);
  if (!node.ok()) return 0;
  const auto text = to_json(*node.value());
  if (!text.ok()) return 0;
  const auto again = from_json(text.value(), none);
  if (!again.ok() || again.value()->hash() != node.value()->hash()) std::abort();
  return 0;
}
