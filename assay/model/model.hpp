#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/law.hpp"
#include "assay/model/tables/table.hpp"

namespace assay::model {

constexpr std::int64_t kModelVersion = 2;  ///< 2: laws with constants of levels; others are still of version 1

/// What was seen of a factor that was varied.
struct Range {
  std::string factor;
  Role role = Role::intrinsic;
  double low = 0;
  double high = 0;
  std::int64_t levels = 0;
  std::optional<std::vector<std::string>> names = std::nullopt;  ///< of the levels of a factor of text
};

template <typename V>
void describe(V& v, Range& r) {
  required(v, "factor", r.factor);
  required(v, "role", r.role);
  required(v, "low", r.low);
  required(v, "high", r.high);
  required(v, "levels", r.levels);
  v("names", r.names);
}

/// A factor that was seen at one level only: nothing is known of another.
struct Fixed {
  std::string factor;
  double value = 0;
};

template <typename V>
void describe(V& v, Fixed& f) {
  required(v, "factor", f.factor);
  required(v, "value", f.value);
}

/// A constant of the law with its interval, and what it says.
struct Constant {
  std::string name;
  double value = 0;
  std::optional<double> low;  ///< null where there are too few points to draw from
  std::optional<double> high;
  std::string sentence;
  std::string level = {};  ///< whose it is; empty: of all
};

template <typename V>
void describe(V& v, Constant& c) {
  required(v, "name", c.name);
  required(v, "value", c.value);
  v("low", c.low);
  v("high", c.high);
  v("sentence", c.sentence);
  v("level", c.level);
}

/// How one family did. An error is how far off a time typically is: exp(mean |ln(said / measured)|) - 1 over points.
struct Candidate {
  std::string family;
  std::optional<std::string> refused;  ///< why it was not fitted
  std::optional<Law> law;
  std::int64_t constants = 0;
  std::optional<double> error_inside;    ///< on the points it was fitted to
  std::optional<double> error_held_out;  ///< on the largest scales, held out factor by factor; what it is chosen by
};

template <typename V>
void describe(V& v, Candidate& c) {
  required(v, "family", c.family);
  v("refused", c.refused);
  v("law", c.law);
  v("constants", c.constants);
  v("error_inside", c.error_inside);
  v("error_held_out", c.error_held_out);
}

/// How sure the law is of a time, as spreads of its logarithm.
struct Uncertainty {
  double confidence = 0.9;
  double inside = 0;               ///< half-width within what was seen, by conformal residuals
  double per_doubling = 0;         ///< grows by this with each doubling beyond it, from the scales held out
  std::vector<Law> draws;          ///< the law of data drawn from the data again
  std::vector<Law> rivals;         ///< of other families that the scales held out cannot tell from it
  std::optional<double> coverage;  ///< of points held out, by intervals that had not seen their fold
};

template <typename V>
void describe(V& v, Uncertainty& u) {
  required(v, "confidence", u.confidence);
  required(v, "inside", u.inside);
  required(v, "per_doubling", u.per_doubling);
  v("draws", u.draws);
  v("rivals", u.rivals);
  v("coverage", u.coverage);
}

/// A law of the time of a step, with what it was made from and how far it can be trusted.
struct Model {
  std::int64_t model_version = 1;
  std::string name;
  std::string created_utc;
  std::string data;  ///< identity of the table it was fitted to
  std::int64_t rows = 0;
  std::int64_t points = 0;
  std::string family;
  Law law;
  std::vector<Range> ranges;
  std::vector<Fixed> fixed;  ///< factors seen at one level only
  std::vector<Constant> constants;
  std::vector<std::string> notes;  ///< what dominates where, and what could not be done
  std::vector<Candidate> candidates;
  Uncertainty uncertainty;
};

template <typename V>
void describe(V& v, Model& m) {
  required(v, "model_version", m.model_version);
  v("name", m.name);
  v("created_utc", m.created_utc);
  required(v, "data", m.data);
  v("rows", m.rows);
  v("points", m.points);
  required(v, "family", m.family);
  required(v, "law", m.law);
  required(v, "ranges", m.ranges);
  v("fixed", m.fixed);
  v("constants", m.constants);
  v("notes", m.notes);
  v("candidates", m.candidates);
  required(v, "uncertainty", m.uncertainty);
}

/// Throws Error{bad_input} where the version is newer than this program knows, or the law names a factor without range.
void check(const Model& model);

/// A model as `assay fit --out` wrote it, at most 16 MiB; `name` stands for the text in messages. Throws Error.
Model parse_model(std::string_view text, const std::string& name);

/// The same from a file.
Model read_model(const std::string& path);

/// The factors that were varied.
std::vector<Factor> factors_of(const Model& model);

}  // namespace assay::model

namespace assay {

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<model::Model>(const model::Model&);
extern template void from_json_value<model::Model>(const json&, const std::string&, model::Model&);

}  // namespace assay
