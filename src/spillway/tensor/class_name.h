#pragma once

#include <string_view>

namespace spillway {

// The class in the type of a Structure::named. An object that describes itself may have metadata
// besides its components; its type is "module:class@metadata". Objects that differ only in their
// metadata fit each other.
inline std::string_view class_of(std::string_view type) { return type.substr(0, type.find('@')); }

}  // namespace spillway
