#include "workers/common/network_file.hpp"

#include "assay/core/text/hash.hpp"
#include "workers/common/values.hpp"

namespace assay::worker {

void refuse_changed(const NetworkFile& file, const std::string& found) {
  if (found == file.hash) return;
  refuse("{} has changed since the campaign was planned (its hash is {}, planned was {}). Plan it again.", file.path,
         found, file.hash);
}

void check_unchanged(const NetworkFile& file) {
  std::string found;
  try {
    found = hash_hex(MappedFile(file.path).bytes());
  } catch (const Error& error) {
    throw Refused(error.what());
  }
  refuse_changed(file, found);
}

}  // namespace assay::worker
