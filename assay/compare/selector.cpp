#include "assay/compare/selector.hpp"

#include <algorithm>
#include <set>

#include "assay/core/text/number.hpp"
#include "assay/network/network.hpp"

namespace assay::compare {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "2026-11-15", with or without what follows.
bool is_date(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !is_digit(text[i]) : text[i] != kForm[i]) return false;
  }
  return text.size() == kForm.size() || text[kForm.size()] == 'T' || text[kForm.size()] == ' ';
}

const store::CampaignRow* campaign_named(const std::string& named, const std::vector<store::CampaignRow>& campaigns) {
  std::string name = named;
  std::int64_t round = -1;  // the newest
  if (const auto at = named.rfind('@'); at != std::string::npos && at + 1 < named.size()) {
    const auto number = parse_number<std::int64_t>(std::string_view(named).substr(at + 1));
    if (number && *number >= 1) {
      name = named.substr(0, at);
      round = *number - 1;
    }
  }
  const auto newest = std::find_if(campaigns.rbegin(), campaigns.rend(), [&](const auto& row) {
    return (row.name == name || (name.size() >= 4 && row.id.starts_with(name))) && (round < 0 || row.round == round);
  });
  return newest == campaigns.rend() ? nullptr : &*newest;
}

/// The first few, so that a message can say what there is.
std::string some_of(const std::set<std::string>& names) {
  std::string out;
  std::size_t left = 5;
  for (const auto& name : names) {
    if (left-- == 0) return out + ", …";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out.empty() ? "none" : out;
}

/// "kind:rest" where kind is one of ours.
std::string rest_behind(const std::string& text, std::string_view kind) {
  if (!text.starts_with(kind) || text.size() <= kind.size() || text[kind.size()] != ':') return "";
  return text.substr(kind.size() + 1);
}

std::string setting_text(const Trial& trial, const std::string& name) {
  constexpr std::string_view kEnv = "env.";
  if (name.starts_with(kEnv)) {
    const auto it = trial.settings.env.find(name.substr(kEnv.size()));
    return it == trial.settings.env.end() ? "null" : it->second;
  }
  return plain_text(to_json(trial.settings).value(name, json()));
}

bool is_setting(const std::string& name) {
  return name.starts_with("env.") || (name != "env" && to_json(Settings{}).contains(name));
}

}  // namespace

Selector::Selector(const std::string& text, const std::vector<store::CampaignRow>& campaigns,
                   const std::vector<store::TrialRow>& trials)
    : text_(text) {
  std::set<std::string> workers;
  for (const auto& row : trials) workers.insert(row.trial.worker.name);
  const std::string worker = rest_behind(text, "worker");
  if (const auto rest = rest_behind(text, "platform"); !rest.empty()) {
    kind_ = Kind::platform;
    name_ = rest;
  } else if (const auto digits = rest_behind(text, "trial"); !digits.empty()) {
    kind_ = Kind::trial;
    name_ = digits;
  } else if (const auto equals = text.find("=="); equals != std::string::npos && equals > 0) {
    kind_ = Kind::release;
    name_ = text.substr(0, equals);
    value_ = text.substr(equals + 2);
  } else if (const auto sign = text.find('='); sign != std::string::npos && sign > 0) {
    kind_ = Kind::setting;
    name_ = text.substr(0, sign);
    value_ = text.substr(sign + 1);
    if (!is_setting(name_)) {
      fail(ErrorKind::usage, "{}: {} is not a setting. `assay run --help` lists them.", shown(text), shown(name_));
    }
  } else if (is_date(text)) {
    kind_ = Kind::date;
    name_ = text;
    std::replace(name_.begin(), name_.end(), ' ', 'T');
  } else if (!worker.empty() || (workers.contains(text) && campaign_named(text, campaigns) == nullptr)) {
    kind_ = Kind::worker;
    name_ = worker.empty() ? text : worker;
  } else {
    const auto named = rest_behind(text, "campaign");
    const auto* campaign = campaign_named(named.empty() ? text : named, campaigns);
    if (campaign == nullptr) {
      std::set<std::string> names;
      for (const auto& row : campaigns) names.insert(row.name);
      fail(ErrorKind::usage,
           "{} is not a campaign, worker or date of this store. It has the campaigns {} and the workers {}; a side may "
           "also "
           "be worker==release, setting=value, platform:ID or trial:ID.",
           shown(text), some_of(names), some_of(workers));
    }
    kind_ = Kind::campaign;
    name_ = campaign->id;
  }
}

bool Selector::matches_setting(const Trial& trial) const {
  return setting_text(trial, name_) == value_;
}

bool Selector::matches(const store::RunRow& row, const Trial& trial) const {
  switch (kind_) {
    case Kind::campaign:
      return row.campaign == name_;
    case Kind::release:
      return trial.worker.name == name_ && trial.worker.release == value_;
    case Kind::worker:
      return trial.worker.name == name_;
    case Kind::setting:
      return matches_setting(trial);
    case Kind::platform:
      return row.platform.starts_with(name_);
    case Kind::date:
      return row.started_utc.starts_with(name_);
    case Kind::trial:
      return row.trial.starts_with(name_);
  }
  return false;
}

void Selector::take_off(const Trial& trial, json& whole) const {
  if (whole.is_null()) return;  // another side has taken it all
  switch (kind_) {
    case Kind::release:
    case Kind::worker:
      whole.erase("worker");
      break;
    case Kind::setting:
      if (name_.starts_with("env.")) {
        whole["settings"]["env"].erase(name_.substr(4));
      } else {
        whole["settings"].erase(name_);
      }
      break;
    case Kind::trial:
      whole = nullptr;
      break;
    case Kind::campaign:
    case Kind::date:
      take_off_own_code(trial, whole);
      break;
    default:
      break;
  }
}

std::optional<store::CampaignRow> find_campaign(const std::string& named,
                                                const std::vector<store::CampaignRow>& campaigns) {
  const auto* found = campaign_named(named, campaigns);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool is_own_code(const Workload& workload) {
  return workload.graph && (workload.command || !network::is_network(workload.network));
}

void take_off_own_code(const Trial& trial, json& whole) {
  if (is_own_code(trial.workload)) whole["workload"].erase("graph");
}

std::pair<std::string, std::string> axis_of(const std::string& side) {
  if (side.find("==") != std::string::npos) return {"worker", side};
  if (const auto worker = rest_behind(side, "worker"); !worker.empty()) return {"worker", worker};
  if (const auto sign = side.find('='); sign != std::string::npos && sign > 0) {
    const auto name = side.substr(0, sign);
    if (is_setting(name)) return {"settings." + name, side.substr(sign + 1)};
  } else if (!is_date(side) && side.find(':') == std::string::npos) {
    return {"worker", side};
  }
  fail(ErrorKind::usage, "--run: {} cannot be measured again. Name worker==release, a worker, or setting=value.",
       shown(side));
}

}  // namespace assay::compare
