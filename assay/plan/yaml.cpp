#include "assay/plan/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "assay/plan/located.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

[[noreturn]] void refuse(const std::string& file, int line, int column, const std::string& why) {
  throw LocatedError(fmt::format("{}:{}:{}", file, line, column), why);
}

/// Builds the tree from the parser's events, and stops the parser at the first thing that is not allowed.
class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& file, const YamlLimits& limits) : file_(file), limits_(limits) {}

  Yaml root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) refuse(mark, "a second document begins here. Write one campaign per file.");
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node(Yaml::Kind::null, mark, anchor, "?"));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }

  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_alias(mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Yaml scalar = node(Yaml::Kind::scalar, mark, anchor, tag);
    // Escapes such as "\0" or "\e" make bytes that the raw text did not have.
    if (const auto bad = find_bad_text(value, "\t\n\r")) {
      refuse(mark, fmt::format("{}: its byte {} {}. Write plain text.", shown(value), bad->offset + 1, bad->reason));
    }
    scalar.text = value;
    scalar.quoted = tag == "!";  // yaml-cpp's mark of a scalar that is not plain
    add(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(node(Yaml::Kind::list, mark, anchor, tag), mark);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(node(Yaml::Kind::map, mark, anchor, tag), mark);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Yaml node;
    std::unordered_set<std::string> keys;
    bool wants_key = true;
    Yaml key;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    plan::refuse(file_, mark.line + 1, mark.column + 1, why);
  }

  [[noreturn]] void refuse_alias(const YAML::Mark& mark) const {
    refuse(mark, "anchors (&name) and aliases (*name) are not taken. Write the value out, or quote it if it is text.");
  }

  Yaml node(Yaml::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag) {
    if (anchor != 0) refuse_alias(mark);
    if (tag != "?" && tag != "!" && !tag.empty()) {
      refuse(mark, fmt::format("the tag {} is not taken. Leave it out, or quote it if it is text.", shown(tag)));
    }
    if (++nodes_ > limits_.nodes)
      refuse(mark, fmt::format("there are more than {} values. Split the file.", limits_.nodes));
    Yaml out;
    out.kind = kind;
    out.line = mark.line + 1;
    out.column = mark.column + 1;
    return out;
  }

  void open(Yaml container, const YAML::Mark& mark) {
    if (stack_.size() >= limits_.depth) {
      refuse(mark, fmt::format("it is nested deeper than {} levels. A campaign needs 6.", limits_.depth));
    }
    if (!stack_.empty() && stack_.back().node.kind == Yaml::Kind::map && stack_.back().wants_key) {
      refuse(mark, "a list or a map cannot be a key. Close every bracket, and write a name in front of each colon.");
    }
    stack_.push_back({std::move(container), {}, true, {}});
  }

  void close() {
    Yaml done = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(done));
  }

  void add(Yaml value) {
    if (stack_.empty()) {
      root = std::move(value);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == Yaml::Kind::map && parent.wants_key) return take_key(parent, std::move(value));
    value.key = std::move(parent.key.text);
    value.key_line = parent.key.line;
    value.key_column = parent.key.column;
    parent.wants_key = true;
    parent.node.items.push_back(std::move(value));
  }

  void take_key(Open& parent, Yaml key) {
    if (key.kind != Yaml::Kind::scalar || key.text.empty()) {
      plan::refuse(file_, key.line, key.column, "a key is missing. Write a name in front of the colon.");
    }
    if (!parent.keys.insert(key.text).second) {
      plan::refuse(file_, key.line, key.column,
                   fmt::format("the key {} is here twice. Remove one of them.", shown(key.text)));
    }
    parent.key = std::move(key);
    parent.wants_key = false;
  }

  const std::string& file_;
  const YamlLimits& limits_;
  std::vector<Open> stack_;
  std::size_t nodes_ = 0;
  bool started_ = false;
};

/// Refuses at `offset` of the text.
[[noreturn]] void refuse_at(std::string_view text, std::size_t offset, const std::string& file,
                            const std::string& why) {
  const auto before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto column = offset - (before.find_last_of('\n') + 1) + 1;  // npos + 1 is 0
  refuse(file, static_cast<int>(line), static_cast<int>(column), why);
}

void check_marks(std::string_view text, std::string_view marks, std::size_t most, const char* what,
                 const std::string& file) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (marks.find(text[i]) == std::string_view::npos || ++seen <= most) continue;
    refuse_at(text, i, file, fmt::format("there are more than {} {} up to here. Split the file.", most, what));
  }
}

/// What can be refused by looking at bytes alone. yaml-cpp reads a whole flow list before its first event, at some
/// 200 bytes of memory for each token, so the number of tokens is bounded here: every value needs one of these marks.
void check_bytes(std::string_view text, const std::string& file, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    refuse(file, 1, 1,
           fmt::format("the file has {} bytes where at most {} are taken. Split it.", text.size(), limits.bytes));
  }
  if (const auto bad = find_bad_text(text, "\t\n\r")) {
    refuse_at(text, bad->offset, file,
              fmt::format("the byte 0x{:02x} {}. Save the file as plain UTF-8 text.",
                          static_cast<unsigned>(static_cast<unsigned char>(text[bad->offset])), bad->reason));
  }
  check_marks(text, ",:[]{}?&*!\n", limits.nodes, "lines and values", file);
  check_marks(text, "[{&*!", limits.nodes / 4, "brackets and *", file);  // these cost yaml-cpp most
}

}  // namespace

const Yaml* Yaml::find(std::string_view member) const {
  const auto it = std::find_if(items.begin(), items.end(), [&](const Yaml& item) { return item.key == member; });
  return kind == Kind::map && it != items.end() ? &*it : nullptr;
}

Yaml parse_yaml(std::string_view text, const std::string& file_name, const YamlLimits& limits) {
  check_bytes(text, file_name, limits);
  std::istringstream in{std::string(text)};
  Builder builder(file_name, limits);
  try {
    YAML::Parser parser(in);
    // The second call finds what follows the first document, if anything does; the builder refuses it.
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse(file_name, std::max(error.mark.line, 0) + 1, std::max(error.mark.column, 0) + 1,
           fmt::format("this is not YAML: {}. Look at the indentation, brackets and quotes here.", error.msg));
  }
  return std::move(builder.root);
}

}  // namespace assay::plan
