// predict_search: seconds and counts of a search over every split of Llama 3.1 405B on 1,024 devices, as one line of
// JSON. Run by bench/predict_search.
#include <cstdio>

#include "assay/core/clock.hpp"
#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/search/search.hpp"
#include "assay/predict/step/usual_practice.hpp"

int main() {
  using namespace assay;
  predict::SplitQuestion question;
  question.model = predict::model_named("llama3-405b");
  question.device = predict::step_device("h100");
  question.devices = 1024;
  question.global_batch = 2048;
  question.practice = predict::usual_practice();
  question.practice.sequence = 8192;
  const predict::StepBasis basis;
  const auto begin_ns = monotonic_ns();
  const auto found = search_splits(question, basis, 10);
  const double seconds = 1e-9 * static_cast<double>(monotonic_ns() - begin_ns);
  const json line{{"splits", found.splits},
                  {"fitting", found.fitting},
                  {"judged", found.judged},
                  {"seconds", seconds},
                  {"best", found.ranked.empty() ? std::string() : text_of(found.ranked.front().split)}};
  std::printf("%s\n", line.dump().c_str());
  return found.ranked.empty() ? 1 : 0;
}
