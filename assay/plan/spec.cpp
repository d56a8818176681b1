#include "assay/plan/spec.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "assay/core/text/file.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/located.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/plan/text.hpp"
#include "assay/plan/yaml.hpp"

namespace assay::plan {
namespace {

using Names = std::vector<std::string>;

std::string kind_name(const Yaml& node) {
  switch (node.kind) {
    case Yaml::Kind::null:
      return "nothing";
    case Yaml::Kind::scalar:
      return shown(node.text);
    case Yaml::Kind::list:
      return "a list";
    default:
      return "a map of keys";
  }
}

/// The members of axes that begin with `prefix`: "settings." gives instances, inter_op, …, env.
Names members_of(std::string_view prefix) {
  Names out;
  for (const auto& axis : axes()) {
    if (!axis.name.starts_with(prefix)) continue;
    const std::string rest = axis.name.substr(prefix.size());
    out.push_back(rest.substr(0, rest.find('.')));
  }
  return out;
}

/// Reads whole numbers, seconds, truth values and sizes into a struct that has describe().
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  std::string place(const Yaml& node) const { return fmt::format("{}:{}:{}", file_, node.line, node.column); }

  std::string key_place(const Yaml& node) const {
    return fmt::format("{}:{}:{}", file_, node.key_line, node.key_column);
  }

  void expect(const Yaml& node, Yaml::Kind kind, const std::string& what, const char* fix) const {
    if (node.kind == kind) return;
    throw LocatedError(place(node), fmt::format("{}: {} is not allowed here. {}", what, kind_name(node), fix));
  }

  void check_keys(const Yaml& map, const std::string& what, const Names& known) const {
    for (const auto& item : map.items) {
      if (std::find(known.begin(), known.end(), item.key) != known.end()) continue;
      throw LocatedError(key_place(item), fmt::format("{}: the key {} is not known. {}", what, shown(item.key),
                                                      suggestion(item.key, known)));
    }
  }

  void read(const Yaml& node, const std::string& what, std::int64_t& out) const {
    const auto& text = scalar(node, what, "Write a whole number.");
    out = located(place(node), [&] { return single(sweep_numbers(text, what), text, what); });
  }

  void read(const Yaml& node, const std::string& what, std::optional<std::int64_t>& out) const {
    if (node.kind == Yaml::Kind::null) return;
    const auto& text = scalar(node, what, "Write a size, such as 4GiB.");
    out = located(place(node), [&] { return single(sweep_sizes(text, what), text, what); });
  }

  void read(const Yaml& node, const std::string& what, double& out) const {
    const auto& text = scalar(node, what, "Write a duration, such as 200ms or 2.");
    out = located(place(node), [&] { return parse_seconds(text, what); });
  }

  void read(const Yaml& node, const std::string& what, std::optional<double>& out) const {
    if (node.kind != Yaml::Kind::null) read(node, what, out.emplace());
  }

  double read_share(const Yaml& node, const std::string& what) const {
    const auto& text = scalar(node, what, "Write a share, such as 1%.");
    return located(place(node), [&] { return parse_share(text, what); });
  }

  void read(const Yaml& node, const std::string& what, bool& out) const {
    const auto& text = scalar(node, what, "Write true or false.");
    if (node.quoted || (text != "true" && text != "false")) {
      throw LocatedError(place(node),
                         fmt::format("{}: {} is neither true nor false. Write one of the two.", what, shown(text)));
    }
    out = text == "true";
  }

  void read(const Yaml& node, const std::string& what, std::optional<bool>& out) const {
    if (node.kind != Yaml::Kind::null) read(node, what, out.emplace());
  }

  void read(const Yaml& node, const std::string& what, std::string& out) const {
    out = scalar(node, what, "Write text.");
  }

  void read(const Yaml& node, const std::string& what, std::optional<std::string>& out) const {
    if (node.kind != Yaml::Kind::null) read(node, what, out.emplace());
  }

 private:
  const std::string& scalar(const Yaml& node, const std::string& what, const char* fix) const {
    expect(node, Yaml::Kind::scalar, what, fix);
    return node.text;
  }

  static std::int64_t single(const std::vector<std::int64_t>& values, const std::string& text,
                             const std::string& what) {
    if (values.size() != 1) fail(ErrorKind::usage, "{}: {} is a sweep. Write one number.", what, shown(text));
    return values[0];
  }

  const std::string& file_;
};

struct FieldNames {
  Names names;
  template <typename T>
  void operator()(const char* field, T&) {
    names.push_back(field);
  }
  void operator()(const char* /*field*/, std::optional<Stop>& /*value*/) {}  // a key of the campaign itself
};

/// Fills the fields of Measure by describe(), so that a field added to core can be written at once.
struct MeasureFields {
  const Reader& reader;
  const Yaml& map;
  template <typename T>
  void operator()(const char* field, T& value) {
    if (const Yaml* node = map.find(field)) reader.read(*node, std::string("measure.") + field, value);
  }
  void operator()(const char* /*field*/, std::optional<Stop>& /*value*/) {}
};

void read_measure(const Reader& reader, const Yaml& node, Measure& measure) {
  reader.expect(node, Yaml::Kind::map, "measure", "Write keys and values, such as {seconds: 2}.");
  FieldNames known;
  describe(known, measure);
  reader.check_keys(node, "measure", known.names);
  MeasureFields fields{reader, node};
  describe(fields, measure);
  located(reader.place(node), [&] { check(measure); });
}

void read_stop(const Reader& reader, const Yaml& node, Measure& measure) {
  reader.expect(node, Yaml::Kind::map, "stop", "Write keys and values, such as {half_width: 1%}.");
  reader.check_keys(node, "stop", {"half_width", "most_runs", "seconds"});
  auto& stop = measure.stop.emplace();
  if (const Yaml* half_width = node.find("half_width"))
    stop.half_width = reader.read_share(*half_width, "stop.half_width");
  if (const Yaml* runs = node.find("most_runs")) reader.read(*runs, "stop.most_runs", stop.most_runs);
  if (const Yaml* seconds = node.find("seconds")) reader.read(*seconds, "stop.seconds", stop.seconds);
  located(reader.place(node), [&] { check(measure); });
}

/// Adds a scalar or a list of scalars to an axis.
void read_axis(const Reader& reader, const Yaml& node, const std::string& axis, TrialSweep& sweep) {
  const AxisName name = located(reader.key_place(node), [&] { return axis_name(axis); });
  auto& values = sweep.values[name];
  const auto add = [&](const Yaml& value) {
    if (value.kind == Yaml::Kind::list || value.kind == Yaml::Kind::map) {
      reader.expect(value, Yaml::Kind::scalar, axis, "Write one value, a list of values, or a sweep such as 1-64*2.");
    }
    const bool null = value.kind == Yaml::Kind::null;
    values.push_back({null ? "null" : value.text, value.quoted, reader.place(value)});
  };
  if (node.kind != Yaml::Kind::list) return add(node);
  for (const auto& item : node.items) add(item);
  if (node.items.empty()) {
    throw LocatedError(reader.place(node), fmt::format("{}: the list is empty. Write a value or leave it out.", axis));
  }
}

void read_command(const Reader& reader, const Yaml& node, TrialSweep& sweep) {
  constexpr const char* kFix = "Write the program and its arguments as a list: [python3, train.py, \"{batch}\"].";
  reader.expect(node, Yaml::Kind::list, "command", kFix);
  sweep.command.emplace();
  for (const auto& item : node.items) {
    reader.expect(item, Yaml::Kind::scalar, "command", kFix);
    located(reader.place(item), [&] { check_text(item.text, "command", "\t\n"); });
    sweep.command->push_back(item.text);
  }
}

void read_group(const Reader& reader, const Yaml& node, const std::string& group, TrialSweep& sweep) {
  if (node.kind == Yaml::Kind::null) return;  // a key with everything below it commented out
  reader.expect(node, Yaml::Kind::map, group, "Write keys and values, such as {name: 1}.");
  const std::string prefix = group + ".";
  const bool open = group == "options" || group == "settings.env";
  if (!open) reader.check_keys(node, group, members_of(prefix));
  for (const auto& item : node.items) {
    if (group == "settings" && item.key == "env") {
      read_group(reader, item, "settings.env", sweep);
    } else {
      read_axis(reader, item, prefix + item.key, sweep);
    }
  }
}

TrialSweep read_entry(const Reader& reader, const Yaml& node) {
  static const Names kKnown{
      "network",         "worker",    "mode",        "batch",         "precision",     "data",
      "data_count",      "data_side", "data_chunks", "prompt_tokens", "output_tokens", "sequences",
      "cache_precision", "tokens",    "scenario",    "rate",          "batch_wait",    "slo",
      "until",           "epochs",    "optimizer",   "learning_rate", "options",       "settings",
      "placement",       "command"};
  reader.expect(node, Yaml::Kind::map, "trials", "Write keys and values, such as {network: toy, worker: fake}.");
  reader.check_keys(node, "trials", kKnown);
  TrialSweep sweep;
  sweep.place = reader.place(node);
  for (const auto& item : node.items) {
    if (item.key == "command") {
      read_command(reader, item, sweep);
    } else if (item.key == "options" || item.key == "settings" || item.key == "placement") {
      read_group(reader, item, item.key, sweep);
    } else {
      read_axis(reader, item, item.key, sweep);
    }
  }
  return sweep;
}

std::vector<TrialSweep> read_trials(const Reader& reader, const Yaml& root) {
  constexpr const char* kFix = "Write a list of trials, such as '- {network: toy, worker: fake}'.";
  const Yaml* trials = root.find("trials");
  if (trials == nullptr) throw LocatedError(reader.place(root), std::string("the key 'trials' is missing. ") + kFix);
  reader.expect(*trials, Yaml::Kind::list, "trials", kFix);
  if (trials->items.empty())
    throw LocatedError(reader.place(*trials), std::string("trials: the list is empty. ") + kFix);
  std::vector<TrialSweep> sweeps;
  for (const auto& item : trials->items) sweeps.push_back(read_entry(reader, item));
  return sweeps;
}

/// The place of a field that check(Campaign) may name: its key where it is written, or the document.
std::string blamed_place(const Reader& reader, const Yaml& root, const std::string& message) {
  const Yaml* node = root.find(message.substr(0, message.find_first_of(".:")));
  return reader.place(node != nullptr ? *node : root);
}

}  // namespace

Campaign read_spec(std::string_view text, const std::string& file_name, const Catalog& catalog,
                   const SweepLimits& limits) {
  const Reader reader(file_name);
  const Yaml root = parse_yaml(text, file_name);
  reader.expect(root, Yaml::Kind::map, "campaign", "Write keys and values; 'trials' is the one that must be there.");
  reader.check_keys(root, "campaign", {"name", "seed", "runs", "lockstep", "measure", "stop", "trials"});
  Campaign campaign;
  campaign.name = std::filesystem::path(file_name).stem().string();
  if (const Yaml* node = root.find("name")) reader.read(*node, "name", campaign.name);
  if (const Yaml* node = root.find("seed")) reader.read(*node, "seed", campaign.seed);
  if (const Yaml* node = root.find("runs")) reader.read(*node, "runs", campaign.runs);
  if (const Yaml* node = root.find("lockstep")) reader.read(*node, "lockstep", campaign.lockstep);
  if (const Yaml* node = root.find("measure")) read_measure(reader, *node, campaign.measure);
  if (const Yaml* node = root.find("stop")) read_stop(reader, *node, campaign.measure);
  try {
    campaign.trials = expand(read_trials(reader, root), campaign.runs, catalog, limits);
    check(campaign, catalog);
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    throw LocatedError(blamed_place(reader, root, error.what()), error.what());
  }
  return campaign;
}

Campaign read_spec_file(const std::filesystem::path& path, const Catalog& catalog) {
  std::string text;
  try {
    text = read_file(path, YamlLimits{}.bytes);
  } catch (const FileError& error) {
    fail(ErrorKind::usage, "{}: the file cannot be read: {}. Check its name and permissions.", path.string(),
         std::strerror(error.number()));
  }
  return read_spec(text, path.string(), catalog);
}

}  // namespace assay::plan
