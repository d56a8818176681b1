#include "assay/report/report.hpp"

namespace assay::report {
namespace {

json campaign_json(const store::CampaignRow& campaign, const ReportData& data) {
  const auto set_aside = data.set_aside.find(campaign.id);
  const auto& p = campaign.progress;
  return {{"id", campaign.id},
          {"name", campaign.name},
          {"round", campaign.round},
          {"created_utc", campaign.created_utc},
          {"seed", campaign.seed},
          {"lockstep", campaign.lockstep},
          {"measure", to_json(campaign.measure)},
          {"set_aside", set_aside == data.set_aside.end() ? json::object() : json(set_aside->second)},
          {"progress",
           {{"runs", p.runs},
            {"ready", p.ready},
            {"leased", p.leased},
            {"done", p.done},
            {"failed", p.failed},
            {"set_aside", p.set_aside}}}};
}

json failures_json(const Result& result) {
  json out = json::object();
  for (const auto& [kind, failures] : result.failures) {
    out[name_of(kind)] = {{"runs", failures.runs}, {"message", failures.message}};
  }
  return out;
}

json effective_json(const Details& details) {
  json out = json::object();
  for (const auto& [name, values] : details.effective) {
    out[name] = json::array();
    for (const auto& [value, runs] : values) out[name].push_back({{"value", value}, {"runs", runs}});
  }
  return out;
}

json validity_json(const Details& details) {
  json out = json::array();
  for (const auto& reason : details.reasons) {
    out.push_back(
        {{"code", reason.code}, {"passing", reason.passing}, {"runs", reason.runs}, {"message", reason.message}});
  }
  return out;
}

json steady_json(const Details& details) {
  json out = json::object();
  for (const auto& [kind, runs] : details.steady) out[name_of(kind)] = runs;
  return out;
}

json phases_json(const Details& details) {
  if (!details.phases) return nullptr;
  return {{"seconds", details.phases->seconds}, {"sum_over_step", to_json(details.phases->sum_over_step)}};
}

json result_json(const Result& r) {
  json interval = nullptr;
  if (r.median_interval)
    interval = {{"low_ns", r.median_interval->low}, {"high_ns", r.median_interval->high}, {"confidence", 0.95}};
  return {{"trial_id", r.trial_id},
          {"trial", to_json(r.trial)},
          {"platform", r.platform},
          {"runs", r.runs},
          {"ok", r.ok},
          {"untrusted", r.untrusted},
          {"left_out", r.left_out},
          {"failures", failures_json(r)},
          {"median_ns", to_json(r.median_ns)},
          {"median_interval", interval},
          {"interval_reason", to_json(r.interval_reason)},
          {"p90_ns", to_json(r.p90_ns)},
          {"p99_ns", to_json(r.p99_ns)},
          {"samples_per_second", to_json(r.samples_per_second)},
          {"watts", to_json(r.watts)},
          {"samples_per_joule", to_json(r.samples_per_joule)},
          {"flops_per_second", to_json(r.flops_per_second)},
          {"bytes_per_second", to_json(r.bytes_per_second)},
          {"share_of_peak", to_json(r.share_of_peak)},
          {"peak_trial", to_json(r.peak_trial)},
          {"share_reason", to_json(r.share_reason)},
          {"share_of_roofline", to_json(r.share_of_roofline)},
          {"effective", effective_json(r.details)},
          {"validity", validity_json(r.details)},
          {"steady", steady_json(r.details)},
          {"autocorrelation", to_json(r.details.autocorrelation)},
          {"peak_memory_bytes", to_json(r.details.peak_memory_bytes)},
          {"phases", phases_json(r.details)},
          {"layers_over_step", to_json(r.details.layers_over_step)}};
}

}  // namespace

json json_report(const ReportData& data) {
  json out = {{"result_version", kResultVersion}, {"campaigns", json::array()}, {"results", json::array()}};
  for (const auto& campaign : data.campaigns) out["campaigns"].push_back(campaign_json(campaign, data));
  for (const auto& result : data.results) out["results"].push_back(result_json(result));
  return out;
}

}  // namespace assay::report
