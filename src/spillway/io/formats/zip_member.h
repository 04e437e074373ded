#pragma once

#include "spillway/io/formats/zip.h"

namespace spillway {

// The content of a member as a file, "ARCHIVE:NAME". One that is stored is read where it lies; one
// that is deflated is expanded as far as it is asked for, through 64 KB of the account's, and from
// its beginning again when a read goes back: read it in order. Never more than its size comes out.
// When the last byte is read, the checksum is compared, of content that was read in order, and
// whether the content ends there too.
Result<FilePtr> open_zip_member(FilePtr archive, const ZipMember& member,
                                const AccountPtr& account);

}  // namespace spillway
