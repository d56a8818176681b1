#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/settings.hpp"
#include "assay/tune/goal.hpp"
#include "assay/tune/search/search.hpp"

namespace assay::tune {

/// A ratio of costs with its interval at 95 %: 1.2 is a fifth more than the best costs.
struct Ratio {
  std::optional<double> value;
  std::optional<double> low;  ///< null below two pairs
  std::optional<double> high;
  std::int64_t pairs = 0;  ///< lock-step pairs it rests on, none of which the search had seen
};

template <typename V>
void describe(V& v, Ratio& r) {
  v("value", r.value);
  v("low", r.low);
  v("high", r.high);
  required(v, "pairs", r.pairs);
}

/// What the best settings gain over those that somebody recommends.
struct Gain {
  std::string baseline;
  std::string says;
  Settings settings;                 ///< as far as they act
  std::vector<std::string> inert;    ///< what the guide says and nothing reads, each with the reason
  bool same = false;                 ///< the best settings are these
  Ratio gain;                        ///< cost of the baseline over that of the best
  std::optional<double> detectable;  ///< the smallest true difference, as a share, that so many pairs would find here
};

template <typename V>
void describe(V& v, Gain& g) {
  required(v, "baseline", g.baseline);
  required(v, "says", g.says);
  required(v, "settings", g.settings);
  v("inert", g.inert);
  required(v, "same", g.same);
  required(v, "gain", g.gain);
  v("detectable", g.detectable);
}

/// One step on the way from framework-default to the best: what one kind of settings gains, those before it in place.
struct GainFactor {
  std::string name;      ///< scheduler pools, operator threads, prompts, library, placement, computation
  std::string settings;  ///< "intra_op=1": what it changed
  Ratio gain;
};

template <typename V>
void describe(V& v, GainFactor& f) {
  required(v, "name", f.name);
  required(v, "settings", f.settings);
  required(v, "gain", f.gain);
}

/// A candidate that was measured.
struct Tried {
  std::string trial;  ///< its id
  std::string title;  ///< settings, with precision and batch where they vary
  Settings settings;
  std::vector<double> seconds;             ///< cost of each evaluation
  std::optional<double> expected_seconds;  ///< by the model at the end
};

template <typename V>
void describe(V& v, Tried& t) {
  required(v, "trial", t.trial);
  required(v, "title", t.title);
  required(v, "settings", t.settings);
  v("seconds", t.seconds);
  v("expected_seconds", t.expected_seconds);
}

/// A line of the journal: what was done, why, and what was decided.
struct Entry {
  std::string why;   ///< seed, grid, improvement or race
  std::string what;  ///< the candidate
  std::optional<std::string> against;
  std::optional<double> seconds;  ///< measured
  std::optional<double> ratio;    ///< of a race, to `against`
  std::optional<double> expected_seconds;
  std::string decision;
};

template <typename V>
void describe(V& v, Entry& e) {
  required(v, "why", e.why);
  required(v, "what", e.what);
  v("against", e.against);
  v("seconds", e.seconds);
  v("ratio", e.ratio);
  v("expected_seconds", e.expected_seconds);
  v("decision", e.decision);
}

/// How the best settings stand to the limit of the goal.
struct LimitOutcome {
  std::int64_t samples = 0;                      ///< steps of the best, in the search and after it
  std::int64_t over = 0;                         ///< of those: took longer than the limit
  stats::Kept verdict = stats::Kept::undecided;  ///< by the binomial bound, at 99 % confidence
};

template <typename V>
void describe(V& v, LimitOutcome& l) {
  required(v, "samples", l.samples);
  required(v, "over", l.over);
  required(v, "verdict", l.verdict);
}

/// What a tuning found out besides the settings.
struct Results {
  std::int64_t candidates = 0;
  std::vector<std::string> varied;
  std::vector<std::string> left_out;
  std::string rule;              ///< the paper's, for this network and machine, in words
  std::int64_t search_runs = 0;  ///< until the choice was made, the race included
  double search_seconds = 0;
  std::int64_t verify_runs = 0;  ///< measured again afterwards, for gains without selection bias
  /// Cost of the best, of a step, or of a sample or token where throughput or tokens were the goal: that of
  /// framework-default over the gain.
  std::optional<double> seconds;
  bool within_limit = true;           ///< no more of the best's steps than allowed took longer than the limit
  std::optional<LimitOutcome> limit;  ///< whether that is proved; null where the goal has no limit
  std::vector<Gain> gains;
  std::vector<GainFactor> factors;  ///< empty where less than two kinds of settings differ from framework-default
  std::vector<Tried> tried;
  std::vector<Entry> journal;
};

template <typename V>
void describe(V& v, Results& r) {
  required(v, "candidates", r.candidates);
  v("varied", r.varied);
  v("left_out", r.left_out);
  v("rule", r.rule);
  required(v, "search_runs", r.search_runs);
  required(v, "search_seconds", r.search_seconds);
  required(v, "verify_runs", r.verify_runs);
  v("seconds", r.seconds);
  required(v, "within_limit", r.within_limit);
  v("limit", r.limit);
  v("gains", r.gains);
  v("factors", r.factors);
  v("tried", r.tried);
  v("journal", r.journal);
}

}  // namespace assay::tune
