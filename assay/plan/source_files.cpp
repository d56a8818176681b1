#include "assay/plan/source_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/json.hpp"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostModules = 2000;
constexpr std::size_t kMostSourceBytes = 16u << 20;  // what is larger is not a program that somebody wrote

constexpr std::array<std::string_view, 11> kInterpreters{"python", "pypy", "bash", "sh",      "dash", "zsh",
                                                         "perl",   "ruby", "node", "Rscript", "julia"};
constexpr std::array<std::string_view, 10> kStarters{"env",     "nice",   "ionice", "taskset", "numactl",
                                                     "timeout", "stdbuf", "chrt",   "setarch", "time"};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// The statements of a Python file that may import, each on one line: what follows "import" in brackets is joined.
std::vector<std::string> import_statements(const std::string& source) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < source.size();) {
    auto end = std::min(source.find('\n', at), source.size());
    const auto first = source.find_first_not_of(" \t", at);
    const std::string_view rest = std::string_view(source).substr(std::min(first, end), end - std::min(first, end));
    if (rest.starts_with("import ") || rest.starts_with("from ")) {
      if (rest.find('(') != std::string_view::npos) end = std::min(source.find(')', at), source.size());
      auto statement = source.substr(first, end - first);
      while (statement.ends_with('\\') && end < source.size()) {
        const auto next = std::min(source.find('\n', end + 1), source.size());
        statement.back() = ' ';
        statement += source.substr(end + 1, next - end - 1);
        end = next;
      }
      out.push_back(std::move(statement));
    }
    at = end + 1;
  }
  return out;
}

/// Names with dots, in the order written: "from .a import (b, c as d)" gives from, .a, import, b, c, as, d.
std::vector<std::string> words_of_statement(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_remark = false;
  for (const char c : text) {
    if (c == '#') in_remark = true;
    if (c == '\n') in_remark = false;
    if (!in_remark && (is_word_character(c) || c == '.')) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

/// Dotted names that a statement may import: of "from a import b" both a and a.b, since b may be a module.
std::vector<std::string> modules_named(const std::string& statement) {
  const auto words = words_of_statement(statement);
  std::vector<std::string> out;
  if (words.size() < 2) return out;
  const bool from = words[0] == "from";
  if (from) out.push_back(words[1]);
  for (std::size_t i = from ? 3 : 1; i < words.size(); ++i) {
    if (words[i] == "as") {
      ++i;
      continue;
    }
    out.push_back(from ? words[1] + (words[1].ends_with('.') ? "" : ".") + words[i] : words[i]);
  }
  return out;
}

/// A Python file with the modules below its folder that it imports.
class PythonFiles {
 public:
  explicit PythonFiles(const fs::path& path) : root_(path.parent_path()) { add(path); }

  /// Hashes by the path below the root.
  const std::map<std::string, std::string>& hashes() const { return hashes_; }

 private:
  void add(const fs::path& path) {
    std::error_code ignored;
    const auto name = path.lexically_relative(root_).generic_string();
    if (hashes_.size() >= kMostModules || hashes_.contains(name) || !fs::is_regular_file(path, ignored)) return;
    if (fs::file_size(path, ignored) > kMostSourceBytes) return;
    std::string source;
    try {
      source = read_file(path, kMostSourceBytes);
    } catch (const Error&) {
      return;  // who cannot read it cannot import it
    }
    hashes_[name] = hash_hex(source);
    for (const auto& statement : import_statements(source)) {
      for (const auto& module : modules_named(statement)) add_module(path.parent_path(), module);
    }
  }

  /// Every package on the way has code of its own: a.b.c runs a/__init__.py and a/b/__init__.py too.
  void add_module(fs::path folder, std::string_view module) {
    const auto dots = std::min(module.find_first_not_of('.'), module.size());
    if (dots == 0) folder = root_;
    for (std::size_t up = 1; up < dots; ++up) folder = folder.parent_path();
    const auto below = folder.lexically_relative(root_);
    if (below.empty() || *below.begin() == "..") return;
    module.remove_prefix(dots);
    while (!module.empty()) {
      const auto dot = std::min(module.find('.'), module.size());
      const std::string part(module.substr(0, dot));
      add(folder / (part + ".py"));
      folder /= part;
      add(folder / "__init__.py");
      module.remove_prefix(std::min(dot + 1, module.size()));
    }
  }

  fs::path root_;
  std::map<std::string, std::string> hashes_;
};

bool can_start(const fs::path& path) {
  std::error_code ignored;
  return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, ignored);
}

/// The file that a shell would start for this word, from the current folder.
std::optional<fs::path> program_named(const std::string& word) {
  if (word.empty() || word.front() == '-') return {};
  if (word.find('/') != std::string::npos) return can_start(word) ? std::optional<fs::path>(word) : std::nullopt;
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const auto end = std::min(folders.find(':', at), folders.size());
    const auto found = fs::path(end == at ? "." : folders.substr(at, end - at)) / word;
    if (can_start(found)) return found;
    at = end + 1;
  }
  return {};
}

/// "python3.11" is one by the name "python".
bool is_interpreter(const fs::path& program) {
  const auto name = program.filename().string();
  return std::any_of(kInterpreters.begin(), kInterpreters.end(), [&](std::string_view one) {
    return name.starts_with(one) && name.find_first_not_of("0123456789.", one.size()) == std::string::npos;
  });
}

bool is_starter(const fs::path& program) {
  return std::find(kStarters.begin(), kStarters.end(), program.filename().string()) != kStarters.end();
}

/// "python -m package.module" as a file below the current folder.
fs::path file_of_module(std::string module) {
  std::replace(module.begin(), module.end(), '.', '/');
  std::error_code ignored;
  const auto whole = fs::path(module) / "__main__.py";
  return fs::is_regular_file(whole, ignored) ? whole : fs::path(module + ".py");
}

/// The script that an interpreter is given: the first word after it that is not an option. Later words are the script's
/// own, and may name what it writes.
std::optional<std::string> hash_of_script(const std::vector<std::string>& argv, std::size_t from) {
  constexpr std::array<std::string_view, 3> kWithValue{"-W", "-X", "-o"};
  for (std::size_t i = from; i < argv.size(); ++i) {
    const auto& word = argv[i];
    const bool module = word == "-m" && i + 1 < argv.size();
    if (word == "-c" || word == "-e") return {};  // the program is in the command line itself
    if (std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end()) ++i;
    if (word.starts_with('-') && !module) continue;
    const fs::path file = module ? file_of_module(argv[i + 1]) : fs::path(word);
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return {};
    return file.extension() == ".py" ? hash_of_python(fs::absolute(file).lexically_normal()) : hash_hex_of_file(file);
  }
  return {};
}

}  // namespace

std::optional<std::string> hash_of_python(const fs::path& path) {
  const PythonFiles files(path);
  const auto& hashes = files.hashes();
  if (hashes.empty()) return {};
  return hashes.size() == 1 ? hashes.begin()->second : hash_hex(canonical_json(json(hashes)));
}

std::optional<std::string> hash_of_command(const std::vector<std::string>& argv) {
  json parts = json::array();
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const auto program = program_named(argv[i]);
    if (!program && parts.empty()) return {};
    if (!program) continue;
    const bool python = program->extension() == ".py";
    const auto hash = python ? hash_of_python(fs::absolute(*program).lexically_normal()) : hash_hex_of_file(*program);
    parts.push_back(hash ? json(*hash) : json());
    if (is_interpreter(*program)) {
      if (const auto script = hash_of_script(argv, i + 1)) parts.push_back(*script);
    }
    if (!is_starter(*program)) break;
  }
  if (parts.empty() || parts[0].is_null()) return {};
  return parts.size() == 1 ? parts[0].get<std::string>() : hash_hex(canonical_json(parts));
}

}  // namespace assay::plan
