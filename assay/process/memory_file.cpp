#include "assay/process/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "assay/core/error.hpp"

namespace assay::process {

Fd memory_file(const std::string& text) {
  Fd file(memfd_create("assay", MFD_CLOEXEC));
  const bool written = file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || lseek(file.get(), 0, SEEK_SET) != 0) file_failed(errno, "write", "a file in memory");
  return file;
}

}  // namespace assay::process
