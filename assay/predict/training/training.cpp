#include "assay/predict/training/training.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kUsualRestart = 600;
constexpr double kCheckpointBytes =
    14;  // of a parameter: bf16 weights, and the optimizer's master copy and two moments
constexpr int kCourses = 200;
constexpr std::size_t kMostDays = 1000;
constexpr double kRangeTail = .05;

/// Seconds that a checkpoint stops work for, and where that is from.
double checkpoint_seconds(const TrainingQuestion& q, const Cluster& part, std::vector<std::string>& assumptions) {
  if (q.file.checkpoint_seconds) return *q.file.checkpoint_seconds;
  if (!q.cluster.storage) {
    fail(ErrorKind::usage,
         "how long a checkpoint takes is not known: add checkpoint: {{time: 30 s}} to the training, or storage: to {}.",
         q.cluster.name);
  }
  const double writers = q.cluster.storage->per == Sharing::node ? static_cast<double>(part.nodes) : 1;
  const double bytes = kCheckpointBytes * static_cast<double>(parameters_of(q.model));
  const double seconds = bytes / (q.cluster.storage->bytes_per_second * writers);
  assumptions.push_back(fmt::format(
      "A checkpoint of {:.0f} bytes a parameter ({:.4g} TB) takes {:.3g} s at the rate of the cluster's storage, and "
      "work stops meanwhile.",
      kCheckpointBytes, 1e-12 * bytes, seconds));
  return seconds;
}

/// A stated split with what follows from it.
Split completed(const TrainingStage& stage, std::int64_t devices, std::size_t number) {
  auto split = *stage.split;
  const auto groups = split.tensor * split.pipeline * split.context;
  if (devices % groups != 0) {
    fail(ErrorKind::usage, "stage {}: tensor {} x pipeline {} x context {} do not divide {} devices.", number,
         split.tensor, split.pipeline, split.context, devices);
  }
  split.data = devices / groups;
  const auto passed = split.data * split.microbatch;
  if (stage.batch % passed != 0) {
    fail(ErrorKind::usage, "stage {}: data {} x microbatch {} do not divide the batch of {} sequences.", number,
         split.data, split.microbatch, stage.batch);
  }
  split.microbatches = stage.batch / passed;
  return split;
}

JudgedSplit split_of(const TrainingQuestion& q, const SplitQuestion& question, const TrainingStage& stage,
                     std::size_t number, const StepBasis& basis) {
  if (stage.split) {
    const auto split = completed(stage, question.devices, number);
    if (const auto why = why_not(question, split); !why.empty()) {
      fail(ErrorKind::usage, "stage {}: {}.", number, why);
    }
    check(job_of(question, split));
    return judge_split(question, basis, split);
  }
  const auto found = search_splits(question, basis, 1);
  if (found.ranked.empty()) fail(ErrorKind::usage, "stage {} of {}: {}.", number, q.file.name, found.reason);
  return found.ranked.front();
}

/// Everything of a stage but its failures.
struct Stage {
  StagePlan plan;
  SplitQuestion question;
  Cluster part;
  FailurePractice practice;
  double interval = 0;
  double work = 0;
};

Stage stage_of(const TrainingQuestion& q, std::size_t number, const StepBasis& basis,
               std::vector<std::string>& assumptions) {
  const auto& asked = q.file.stages[number];
  Stage stage;
  const auto devices = asked.devices ? *asked.devices : q.file.devices.value_or(q.cluster.devices());
  stage.question = split_question(q.model, q.cluster, devices, q.reserve);
  stage.question.practice = q.practice;
  stage.question.practice.sequence = asked.sequence;
  stage.question.practice.precision = q.file.precision;
  stage.question.global_batch = asked.batch;
  stage.part = part_of(q.cluster, devices);
  auto& plan = stage.plan;
  plan.tokens = asked.tokens;
  plan.sequence = asked.sequence;
  plan.batch = asked.batch;
  plan.devices = devices;
  plan.searched = !asked.split;
  plan.best = split_of(q, stage.question, asked, number + 1, basis);
  stage.work = asked.tokens / plan.best.tokens_per_second;
  auto& practice = stage.practice;
  practice.failures_per_second = failures_per_second(stage.part);
  practice.restart_seconds = q.file.restart_seconds.value_or(kUsualRestart);
  practice.spare_nodes = q.file.spare_nodes;
  practice.repair_seconds = q.file.repair_seconds.value_or(0);
  if (practice.failures_per_second > 0 || q.file.checkpoint_seconds) {
    practice.checkpoint_seconds = checkpoint_seconds(q, stage.part, assumptions);
  }
  stage.interval = std::min(stage.work, q.file.interval_seconds.value_or(
                                            best_interval(practice.failures_per_second, practice.checkpoint_seconds)));
  plan.time = expected_time(stage.work, stage.interval, practice);
  plan.bill = bill_of(stage.part, q.file.spare_nodes.value_or(0), plan.time, busy_share(plan.best.step));
  return stage;
}

/// The bill where every step takes `factor` times as long.
Bill bill_at(const Stage& stage, double factor) {
  const auto time = expected_time(factor * stage.work, std::min(factor * stage.work, stage.interval), stage.practice);
  return bill_of(stage.part, stage.practice.spare_nodes.value_or(0), time, busy_share(stage.plan.best.step));
}

void add_time(TrainingTime& all, const TrainingTime& more) {
  all.seconds += more.seconds;
  all.useful_seconds += more.useful_seconds;
  all.checkpoint_seconds += more.checkpoint_seconds;
  all.lost_seconds += more.lost_seconds;
  all.restart_seconds += more.restart_seconds;
  all.waiting_seconds += more.waiting_seconds;
  all.failures += more.failures;
}

/// Takes `seconds` from `from` on off the days' goodput.
void take_off(std::vector<TrainingDay>& days, double from, double to) {
  while (from < to) {
    const auto day = static_cast<std::size_t>(from / kSecondsPerDay);
    if (day >= days.size()) return;
    const double end = std::min(to, static_cast<double>(day + 1) * kSecondsPerDay);
    days[day].goodput = std::max(0.0, days[day].goodput - (end - from) / kSecondsPerDay);
    from = std::max(end, std::nextafter(from, to));
  }
}

std::vector<TrainingDay> calendar_of(const std::vector<Stage>& stages, std::uint64_t seed) {
  std::vector<std::pair<double, SimulatedTraining>> courses;
  double begin = 0;
  for (const auto& stage : stages) {
    courses.emplace_back(begin,
                         simulate_training(stage.work, stage.interval, stage.practice, seed + courses.size(), true));
    begin += courses.back().second.time.seconds;
  }
  const auto count = std::min(kMostDays, static_cast<std::size_t>(std::ceil(begin / kSecondsPerDay)));
  std::vector<TrainingDay> days(count);
  for (std::size_t i = 0; i < days.size(); ++i) {
    days[i].goodput = std::min(1.0, begin / kSecondsPerDay - static_cast<double>(i));
  }
  for (const auto& [start, course] : courses) {
    for (const auto& failure : course.failures) {
      const double at = start + failure.at_seconds;
      const auto day = static_cast<std::size_t>(at / kSecondsPerDay);
      if (day < days.size()) ++days[day].failures;
      take_off(days, std::max(0.0, at - failure.lost_seconds), start + failure.back_seconds);
    }
  }
  const auto& longest = stages.back();
  const double saving = longest.interval / (longest.interval + longest.practice.checkpoint_seconds);
  for (auto& day : days) day.goodput *= saving;
  return days;
}

/// Courses of the whole training with other seeds: mean, and the ends of the middle 90 %.
void add_chance(const std::vector<Stage>& stages, std::uint64_t seed, TrainingPlan& plan) {
  std::vector<double> seconds;
  double sum = 0;
  for (int i = 0; i < kCourses; ++i) {
    double all = 0;
    std::uint64_t own = seed + 1000 * static_cast<std::uint64_t>(i);
    for (const auto& stage : stages) {
      all += simulate_training(stage.work, stage.interval, stage.practice, own++, false).time.seconds;
    }
    seconds.push_back(all);
    sum += all;
  }
  std::sort(seconds.begin(), seconds.end());
  const auto last = static_cast<double>(seconds.size() - 1);
  const double low = seconds[static_cast<std::size_t>(kRangeTail * last)];
  const double high = seconds[static_cast<std::size_t>((1 - kRangeTail) * last)];
  plan.simulated_courses = kCourses;
  plan.simulated_seconds = sum / kCourses;
  plan.chance_share = (high - low) / 2 / plan.simulated_seconds;
}

void scale(Bill& bill, double factor) {
  bill.hours *= factor;
  bill.device_hours *= factor;
  for (auto* part : {&bill.price, &bill.energy_kwh, &bill.carbon_kg}) {
    if (*part) **part *= factor;
  }
}

/// Steps are all too fast or too slow together; failures are chance, which is independent of that.
void add_range(const std::vector<Stage>& stages, TrainingPlan& plan) {
  for (const bool is_low : {true, false}) {
    std::optional<Bill> all;
    for (const auto& stage : stages) {
      const auto& best = stage.plan.best;
      const auto bill = bill_at(stage, (is_low ? best.low_seconds : best.high_seconds) / best.seconds);
      if (all) {
        *all += bill;
      } else {
        all = bill;
      }
    }
    const double steps = std::abs(std::log(all->hours / plan.bill.hours));
    const double both = std::sqrt(steps * steps + plan.chance_share * plan.chance_share);
    scale(*all, std::exp((is_low ? -1 : 1) * (both - steps)));
    (is_low ? plan.low : plan.high) = *all;
  }
}

std::vector<GoodputCell> goodput_grid(const Stage& stage) {
  std::vector<GoodputCell> cells;
  for (const double checkpoint : {10.0, 30.0, 60.0, 120.0, 300.0}) {
    for (const double restart : {60.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0}) {
      auto practice = stage.practice;
      practice.checkpoint_seconds = checkpoint;
      practice.restart_seconds = restart;
      const double interval = std::min(stage.work, best_interval(practice.failures_per_second, checkpoint));
      cells.push_back({checkpoint, restart, interval, expected_time(stage.work, interval, practice).goodput()});
    }
  }
  return cells;
}

const Stage& longest_of(const std::vector<Stage>& stages) {
  return *std::max_element(stages.begin(), stages.end(),
                           [](const auto& a, const auto& b) { return a.plan.time.seconds < b.plan.time.seconds; });
}

/// Stages whose stated split takes more of a device than may be used, or than there is. Searched ones always fit.
void add_memory(const TrainingQuestion& q, const std::vector<Stage>& stages, std::vector<std::string>& said) {
  struct Tight {
    std::vector<std::size_t> stages;
    double bytes = 0;
  };
  Tight within;
  Tight beyond;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto& memory = stages[i].plan.best.memory;
    auto whole = stages[i].question.device;
    if (fits(memory, whole)) continue;
    whole.sheet.memory_bytes /= 1 - q.reserve;
    auto& tight = fits(memory, whole) ? within : beyond;
    tight.stages.push_back(i + 1);
    tight.bytes = std::max(tight.bytes, memory.total());
  }
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  const double sold = 1e-9 * stages.front().question.device.sheet.memory_bytes / (1 - q.reserve);
  const auto note = [&](const Tight& tight, const std::string& what) {
    if (tight.stages.empty()) return;
    const bool many = tight.stages.size() > 1;
    said.push_back(fmt::format("Stage{} {} take{} up to {:.1f} GiB of a device's {:.0f} GiB, as stated: {}.",
                               many ? "s" : "", fmt::join(tight.stages, ", "), many ? "" : "s", tight.bytes / kGibibyte,
                               sold, what));
  };
  note(within, fmt::format("that leaves less free than the {:.0f} % of --reserve", 100 * q.reserve));
  note(beyond, "it would not fit");
}

void add_assumptions(const TrainingQuestion& q, const Stage& longest, const StepBasis& basis, TrainingPlan& plan) {
  auto& said = plan.assumptions;
  said.push_back(basis.sentence());
  const double rate = longest.practice.failures_per_second;
  if (rate > 0) {
    said.push_back(fmt::format(
        "Failures come at random, one in {:.3g} h on {} devices (failures: in the cluster file); each loses what was "
        "done since the last checkpoint.",
        1 / rate / 3600, longest.plan.devices));
    said.push_back(fmt::format("{} of work between checkpoints of {:.3g} s ({}); a restart takes {:.3g} min{}.",
                               fmt::format("{:.3g} min", longest.interval / 60), longest.practice.checkpoint_seconds,
                               q.file.interval_seconds ? "stated" : "the best interval",
                               longest.practice.restart_seconds / 60,
                               q.file.restart_seconds ? "" : ", which was not stated"));
  } else {
    said.push_back("The cluster file states no failures: none are counted.");
  }
  said.push_back(q.file.spare_nodes
                     ? fmt::format("{} spare node{}; a broken one is back after {:.3g} h.", *q.file.spare_nodes,
                                   *q.file.spare_nodes == 1 ? " waits" : "s wait", *q.file.repair_seconds / 3600)
                     : "A broken node always has a replacement: spares were not stated.");
  if (q.cluster.power) {
    said.push_back("A device draws busy_watts while it computes and idle_watts while it waits, sends or saves.");
  }
}

}  // namespace

TrainingPlan plan_training(const TrainingQuestion& q, const StepBasis& basis) {
  TrainingPlan plan;
  plan.name = q.file.name;
  plan.model = q.model.name;
  plan.parameters = parameters_of(q.model);
  plan.cluster = q.cluster.name;
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < q.file.stages.size(); ++i) {
    std::vector<std::string> own;
    stages.push_back(stage_of(q, i, basis, own));
    for (const auto& one : own) {
      if (std::find(plan.assumptions.begin(), plan.assumptions.end(), one) == plan.assumptions.end()) {
        plan.assumptions.push_back(one);
      }
    }
  }
  add_memory(q, stages, plan.assumptions);
  for (const auto& stage : stages) {
    plan.stages.push_back(stage.plan);
    add_time(plan.time, stage.plan.time);
    if (&stage == &stages.front()) {
      plan.bill = stage.plan.bill;
    } else {
      plan.bill += stage.plan.bill;
    }
  }
  const auto& longest = longest_of(stages);
  plan.time.interval_seconds = longest.interval;
  plan.goodput = plan.time.goodput();
  add_chance(stages, q.seed, plan);
  add_range(stages, plan);
  plan.calendar = calendar_of(stages, q.seed);
  if (longest.practice.failures_per_second > 0) plan.goodputs = goodput_grid(longest);
  add_assumptions(q, longest, basis, plan);
  return plan;
}

const StagePlan& longest_stage(const TrainingPlan& plan) {
  return *std::max_element(plan.stages.begin(), plan.stages.end(),
                           [](const auto& a, const auto& b) { return a.time.seconds < b.time.seconds; });
}

StepJob longest_job(const TrainingQuestion& q, const TrainingPlan& plan) {
  const auto& longest = longest_stage(plan);
  auto question = split_question(q.model, q.cluster, longest.devices, q.reserve);
  question.practice = q.practice;
  question.practice.sequence = longest.sequence;
  question.practice.precision = q.file.precision;
  question.global_batch = longest.batch;
  return job_of(question, longest.best.split);
}

TrainingPlans plan_trainings(const std::vector<TrainingQuestion>& questions, const StepBasis& basis) {
  TrainingPlans all;
  for (const auto& question : questions) all.plans.push_back(plan_training(question, basis));
  for (std::size_t i = 1; i < all.plans.size(); ++i) {
    const auto step =
        basis.ratio_of(longest_job(questions.front(), all.plans.front()), longest_job(questions[i], all.plans[i]));
    const auto& first = all.plans.front();
    const auto& other = all.plans[i];
    TrainingRatio r;
    r.cluster = other.cluster;
    r.beside = first.cluster;
    r.hours = other.bill.hours / first.bill.hours;
    r.hours_low = r.hours * step.low / step.ratio;
    r.hours_high = r.hours * step.high / step.ratio;
    r.rests_on = step.rests_on;
    const auto ratio = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? std::optional(*b / *a) : std::nullopt;
    };
    r.price = ratio(first.bill.price, other.bill.price);
    r.energy = ratio(first.bill.energy_kwh, other.bill.energy_kwh);
    r.carbon = ratio(first.bill.carbon_kg, other.bill.carbon_kg);
    all.ratios.push_back(r);
  }
  return all;
}

}  // namespace assay::predict
