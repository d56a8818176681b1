#include "assay/predict/threads/settings_prediction.hpp"

#include <algorithm>

namespace assay::predict {

void predict_settings(SettingsPrediction& prediction, const ThreadChoices& choices) {
  auto settings = choices.settings;
  std::optional<std::size_t> guideline;
  if (choices.guideline) {
    const auto found = std::find(settings.begin(), settings.end(), *choices.guideline);
    guideline = static_cast<std::size_t>(found - settings.begin());
    if (found == settings.end()) settings.push_back(*choices.guideline);
  }
  for (const auto& quota : choices.quotas) {
    const auto first = prediction.predictions.size();
    std::vector<ThreadPrediction> ones;
    for (auto setting : settings) {
      setting.quota = quota;
      ones.push_back(schedule_step(prediction.operators, prediction.laws, prediction.machine, setting));
    }
    ChosenSetting chosen{quota, static_cast<std::int64_t>(first + fastest_setting(ones)), {}};
    if (guideline) chosen.guideline = static_cast<std::int64_t>(first + *guideline);
    prediction.chosen.push_back(chosen);
    prediction.predictions.insert(prediction.predictions.end(), ones.begin(), ones.end());
  }
}

}  // namespace assay::predict
