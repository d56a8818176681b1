#include <algorithm>

#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {
namespace {

/// A scalar of YAML in double quotes: what YAML does not count as printable is written as its number.
std::string yaml_quoted(const std::string& text) {
  const std::string raw = json(text).dump();  // escapes quotes, backslashes and what is below a space
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    if (byte == 0x7f) {
      out += "\\u007f";
    } else if (byte == 0xc2 && static_cast<unsigned char>(raw[i + 1]) < 0xa0) {  // U+0080 to U+009F in UTF-8
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(raw[++i]));
    } else if (raw.compare(i, 3, "\xef\xbb\xbf") == 0) {  // a mark of byte order
      out += "\\ufeff";
      i += 2;
    } else {
      out += raw[i];
    }
  }
  return out;
}

/// Kubernetes replaces $(NAME) in values, and reads $$ as $.
std::string not_expanded(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '$' ? std::string("$$") : std::string(1, c);
  return out;
}

}  // namespace

std::string emit_k8s(const Emission& emission) {
  const std::int64_t cpus = std::max<std::int64_t>(emission.tuning.resources.usable_threads() / emission.instances, 1);
  std::string text = comments(emission, {"affinity", "memory_bind"}) + queue_comment(emission);
  text +=
      "# Part of a container. Whole CPUs that are requested and limited alike, memory too, are the container's own\n";
  text += "# where the kubelet's CPU manager is static.\n";
  if (emission.instances > 1)
    text += fmt::format("# One container for each instance: replicas: {}\n", emission.instances);
  text += fmt::format("resources:\n  requests:\n    cpu: \"{0}\"\n  limits:\n    cpu: \"{0}\"\n", cpus);
  const auto all = variables(emission);
  if (all.empty()) return text;
  text += "env:\n";
  for (const auto& [name, value] : all) {
    text += fmt::format("  - name: {}\n    value: {}\n", yaml_quoted(name), yaml_quoted(not_expanded(value)));
  }
  return text;
}

}  // namespace assay::tune
