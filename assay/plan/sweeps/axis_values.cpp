#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/plan/located.hpp"
#include "assay/plan/sweeps/axis.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr std::size_t kLongestMember = 200;
constexpr std::int64_t kMostRanksPerNode = 65536;

[[noreturn]] void refuse_many(const std::string& what) {
  fail(ErrorKind::usage, "{}: more than {} values. Use larger steps or split the sweep.", what, kMostSweepValues);
}

void check_member(const Axis& axis, const std::string& member) {
  const auto allowed = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '.' || c == '-');
  };
  if (!member.empty() && member.size() <= kLongestMember && std::all_of(member.begin(), member.end(), allowed)) return;
  fail(ErrorKind::usage, "{}{}: {} cannot be a name here. Write at most {} letters, digits and _.-", axis.name,
       shown(member), member.empty() ? "nothing" : "this", kLongestMember);
}

/// "1" is a number, "1.5" too, "true" a truth value, "wide" a word; in the manner of YAML.
Scalar read_scalar(const std::string& text, const std::string& what) {
  if (text == "true" || text == "false") return text == "true";
  std::string_view digits = text;
  if (digits.front() == '+') digits.remove_prefix(1);
  double number = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  const bool dotted_word = text.size() > 3 && (text.ends_with(".inf") || text.ends_with(".nan"));
  if (!dotted_word && (parsed.ec == std::errc::invalid_argument || parsed.ptr != end)) return text;
  if (dotted_word || parsed.ec != std::errc() || !std::isfinite(number)) {
    fail(ErrorKind::usage, "{}: {} is not a finite number that a computer can hold. Quote it where you mean text.",
         what, shown(text));
  }
  if (digits.find_first_of(".eE") != std::string_view::npos) return number;
  std::int64_t whole = 0;
  const bool fits = std::from_chars(digits.data(), end, whole).ec == std::errc();
  if (!fits || whole > kLargestNumber || whole < -kLargestNumber) {
    fail(ErrorKind::usage, "{}: {} is beyond {}. Quote it where you mean text.", what, shown(text), kLargestNumber);
  }
  return whole;
}

Scalar read_word(const Axis& axis, const std::string& word, const std::string& what) {
  if (word.empty()) fail(ErrorKind::usage, "{}: the text is empty. Write a value or leave it out.", what);
  check_text(word, what);
  if (!axis.choices.empty() && std::find(axis.choices.begin(), axis.choices.end(), word) == axis.choices.end()) {
    fail(ErrorKind::usage, "{}: {} is not one of its values. {}", what, shown(word), suggestion(word, axis.choices));
  }
  return word;
}

Scalar read_flag(const std::string& word, const std::string& what) {
  if (word == "true" || word == "false") return word == "true";
  fail(ErrorKind::usage, "{}: {} is neither true nor false. Write one of the two.", what, shown(word));
}

using Values = std::vector<std::optional<Scalar>>;

bool is_numeric(const Axis& axis) {
  return axis.kind == AxisKind::numbers || axis.kind == AxisKind::sizes;
}

/// A quoted text is one item, unless numbers are wanted; other text is a comma list.
std::vector<std::string> items_of(const Axis& axis, const Written& written, const std::string& what) {
  if (axis.kind == AxisKind::verbatim || (written.quoted && !is_numeric(axis))) return {written.text};
  return sweep_words(written.text, what);
}

void add_numbers(Values& out, const std::vector<std::int64_t>& numbers) {
  out.insert(out.end(), numbers.begin(), numbers.end());
}

Scalar read_text(const std::string& item, const std::string& what, std::string_view allowed) {
  check_text(item, what, allowed);
  return item;
}

void add_item(Values& out, const Axis& axis, const std::string& item, bool quoted, const std::string& what) {
  switch (axis.kind) {
    case AxisKind::numbers:
      return add_numbers(out, sweep_numbers(item, what));
    case AxisKind::sizes:
      return add_numbers(out, sweep_sizes(item, what));
    case AxisKind::flag:
      out.emplace_back(read_flag(item, what));
      return;
    case AxisKind::words:
      out.emplace_back(read_word(axis, item, what));
      return;
    case AxisKind::verbatim:
      out.emplace_back(read_text(item, what, "\t\n"));
      return;
    case AxisKind::scalars:
      if (!quoted && is_range(item)) return add_numbers(out, sweep_numbers(item, what));
      out.emplace_back(quoted ? read_text(item, what, "") : read_scalar(item, what));
      if (!quoted) check_text(item, what);
  }
}

Values read_written(const Axis& axis, const Written& written, const std::string& what) {
  Values out;
  for (const auto& item : items_of(axis, written, what)) {
    if (!written.quoted && (item == "null" || item == "~")) {
      out.emplace_back();
    } else {
      add_item(out, axis, item, written.quoted, what);
    }
    if (out.size() > kMostSweepValues) refuse_many(what);
  }
  return out;
}

/// A rate, a wait and a limit need the scenario server, and that a rate; a wait is for a batch.
void complete_server(const AxisName& name, const Scalar& value, Trial& trial) {
  const bool is_server = name.text() == "scenario" && value == Scalar(std::string(name_of(ScenarioKind::server)));
  const bool needs_one = name.text() == "rate" || name.text() == "batch_wait" || name.text() == "slo";
  if (!is_server && !needs_one) return;
  if (name.text() == "batch_wait") trial.workload.batch = 2;
  auto& load = trial.workload.load.emplace();
  load.server = kInProcess;
  load.api = name_of(ScenarioKind::server);
  load.rate_per_second = 1;
}

/// How it is learnt needs an end, and digits need to be learnt.
void complete_end(const AxisName& name, const Scalar& value, Trial& trial) {
  const auto field = name.text();
  const bool learns = field == "until" || field == "epochs" || field == "optimizer" || field == "learning_rate";
  if (!learns && !(field == "data" && value == Scalar(std::string(kDigits)))) return;
  complete_learning(trial.workload);
  trial.workload.options["until"] = std::string("accuracy>=100%");
}

/// Tries a value on a trial that is right in every other way, so that its place can be named.
void check_value(const AxisName& name, const std::optional<Scalar>& value) {
  if (!value) {
    if (name.axis().nullable) return;
    fail(ErrorKind::usage, "{}: a value is missing. Write one or leave the key out.", name.text());
  }
  Trial trial;
  trial.workload.network = trial.worker.name = "any";
  trial.workload.data = "files";  // which has all fields
  complete_server(name, *value, trial);
  complete_end(name, *value, trial);
  name.axis().apply(trial, name.member, *value);
  check(trial);
  const auto& per_node = trial.placement.ranks_per_node;
  if (per_node && (*per_node < 1 || *per_node > kMostRanksPerNode)) {
    fail(ErrorKind::usage, "placement.ranks_per_node: {} is outside 1 to {}.", *per_node, kMostRanksPerNode);
  }
}

/// Equal for values that make the same trial: 1 and 1.0 are one number in JSON.
std::string identity(const std::optional<Scalar>& value) {
  return value ? canonical_json(mapping::scalar_to_json(*value)) : "null";
}

}  // namespace

AxisName axis_name(const std::string& text) {
  for (std::size_t i = 0; i < axes().size(); ++i) {
    const auto& axis = axes()[i];
    const bool has_members = axis.name.back() == '.';
    if (has_members && text.starts_with(axis.name)) {
      AxisName name{i, text.substr(axis.name.size())};
      check_member(axis, name.member);
      return name;
    }
    if (!has_members && text == axis.name) return {i, ""};
  }
  std::vector<std::string> known;
  for (const auto& axis : axes()) known.push_back(axis.name.back() == '.' ? axis.name + "NAME" : axis.name);
  fail(ErrorKind::usage, "{} is nothing that can be set. {}", shown(text), suggestion(text, known));
}

std::vector<AxisValue> axis_values(const AxisName& name, const std::vector<Written>& written) {
  std::vector<AxisValue> out;
  std::unordered_set<std::string> seen;
  for (const auto& source : written) {
    located(source.place, [&] {
      for (auto& value : read_written(name.axis(), source, name.text())) {
        check_value(name, value);
        if (!seen.insert(identity(value)).second) continue;
        if (out.size() == kMostSweepValues) refuse_many(name.text());
        out.push_back({std::move(value), &source});
      }
    });
  }
  return out;
}

}  // namespace assay::plan
