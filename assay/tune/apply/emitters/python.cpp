#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {

std::string emit_python(const Emission& emission) {
  std::vector<std::string> cannot{"instances", "memory_bind", "allocator"};
  if (emission.cpus.empty()) cannot.emplace_back("affinity");
  std::string text =
      "# Put this before the first import of the framework.\n" + comments(emission, cannot) + queue_comment(emission);
  text += "import os\n\n";
  for (const auto& [name, value] : emission.told.env) {
    text += fmt::format("os.environ[{}] = {}\n", python_quoted(name), python_quoted(value));
  }
  if (const auto cpus = python_cpus(emission)) {
    text += fmt::format("os.sched_setaffinity(0, {}[int(os.environ.get(\"ASSAY_INSTANCE\", \"0\"))])\n", *cpus);
  }
  return text;
}

}  // namespace assay::tune
