#pragma once

#include <string>
#include <string_view>

namespace spillway::graph {

// UTF-8 in lower or upper case by Unicode's rules that hold in every language, the lengthening ones
// and the final sigma included. Bytes that are not UTF-8 become U+FFFD.
void append_lower(std::string_view text, std::string& out);
void append_upper(std::string_view text, std::string& out);

}  // namespace spillway::graph
