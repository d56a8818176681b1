#include "cli/output.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "assay/core/error.hpp"
#include "cli/command.hpp"

namespace assay::cli {

Output::Output(const std::string& path) : path_(path), file_(path.empty() ? stdout : std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr) cannot();
}

Output::~Output() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Output::write(const std::string& text) {
  if (file_ == stdout) return print(text);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) cannot();
}

void Output::finish() {
  if (file_ == stdout) return;
  FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) cannot();
}

void Output::cannot() {
  fail(ErrorKind::failure, "cannot write {}: {}", path_, std::strerror(errno));
}

void write_output(const std::string& path, const std::string& text) {
  Output file(path);
  file.write(text);
  file.finish();
}

}  // namespace assay::cli
