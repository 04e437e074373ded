#pragma once

#include <string>
#include <vector>

#include "spillway/io/formats/npy.h"

namespace spillway {

// The names of the arrays of an .npz archive, in its order: "x" for the member "x.npy". Anything
// else in it, and a name that is there twice, is CorruptFile.
Result<std::vector<std::string>> npz_names(const File& archive, const AccountPtr& account);

struct NpyArray {
  FilePtr file;
  NpyHeader header;
};

// An array of an archive. A member must hold exactly what its header says, so that one that
// expands further is refused before it is expanded. One that is deflated has to be in C order: rows
// of the other order would need all of it.
Result<NpyArray> open_npz(FilePtr archive, const std::string& name, const AccountPtr& account);

}  // namespace spillway
