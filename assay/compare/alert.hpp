#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/compare/history.hpp"

namespace assay::compare {

constexpr std::int64_t kAlertVersion = 1;

/// A series whose newest change is a slow-down.
struct AlertedSeries {
  std::string title;     ///< workload, worker, settings and platform, for a person
  std::string message;   ///< how much slower, since when, and which campaign is the first bad one
  std::string trial;     ///< id, of the first bad point
  std::string platform;  ///< id
  double ratio = 1;      ///< new over old time: 1.04 is 4 % slower
  double low = 1;        ///< its 95 % interval
  double high = 1;
  HistoryPoint before;  ///< the last good point
  HistoryPoint first;   ///< the first bad point
};

template <typename V>
void describe(V& v, AlertedSeries& s) {
  required(v, "title", s.title);
  required(v, "message", s.message);
  required(v, "trial", s.trial);
  required(v, "platform", s.platform);
  required(v, "ratio", s.ratio);
  required(v, "low", s.low);
  required(v, "high", s.high);
  required(v, "before", s.before);
  required(v, "first", s.first);
}

/// What `assay history --gate --notify` gives to a command, docs/formats/alert.schema.json.
struct Alert {
  std::int64_t alert_version = kAlertVersion;
  std::string store;  ///< where it was found, without a password
  Over over = Over::dates;
  std::vector<AlertedSeries> slowdowns;  ///< the largest first
};

template <typename V>
void describe(V& v, Alert& a) {
  required(v, "alert_version", a.alert_version);
  required(v, "store", a.store);
  required(v, "over", a.over);
  required(v, "slowdowns", a.slowdowns);
}

}  // namespace assay::compare
