#pragma once

namespace spillway::python {

// From now on paths of other stores ("s3://...") are opened and listed by spillway.remote.
void use_remote_files();

}  // namespace spillway::python
