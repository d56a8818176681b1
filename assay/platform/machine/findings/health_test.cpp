#include "assay/platform/machine/findings/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <set>

namespace assay::platform {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kGiB = 1LL << 30;

/// A quiet server of 8 cores, half a second watched. Each test changes one thing.
Situation healthy() {
  Situation s;
  s.identity.cores = s.identity.threads = s.about.machine_cpus = 8;
  s.about.memory_bytes = 64 * kGiB;
  s.about.cpu_list = "0-7";
  s.state.governor = "performance";
  s.state.turbo = false;
  s.state.huge_pages = "madvise";
  s.state.clocksource = "tsc";
  s.state.memory_available_bytes = 60 * kGiB;
  s.state.swap_total_bytes = s.state.swap_used_bytes = 0;
  s.state.throttled_periods = 0;
  s.watch.window_ns = 500 * kMs;
  s.watch.cpus = 8;
  s.watch.self_ns = 490 * kMs;
  s.watch.busy_ns = 500 * kMs;
  s.watch.steal_ns = 0;
  s.watch.probe_ns.assign(250, 2 * kMs);
  s.store_folder = "/data";
  s.disk_free_bytes = 100 * kGiB;
  s.host_lock_held = false;
  s.workers = {{"fake", "1.0.0"}};
  return s;
}

std::optional<Finding> found(const Situation& s, const std::string& code) {
  for (auto& finding : examine(s)) {
    if (finding.code == code) return finding;
  }
  return std::nullopt;
}

/// The finding of a healthy machine with one change; it is the only one that is not well.
Finding only(const std::string& code, Severity severity, const std::function<void(Situation&)>& change) {
  Situation s = healthy();
  change(s);
  for (const auto& finding : examine(s)) {
    EXPECT_EQ(finding.severity, finding.code == code ? severity : Severity::ok) << finding.code << ": " << finding.seen;
    EXPECT_EQ(finding.severity == Severity::ok, !finding.why && !finding.mend) << finding.code;
  }
  return found(s, code).value_or(Finding{});
}

TEST(Health, a_healthy_machine_has_nothing_to_mend) {
  const auto findings = examine(healthy());
  EXPECT_EQ(findings.size(), 17u);  // all but GPUs
  std::set<std::string> codes;
  for (const auto& finding : findings) {
    EXPECT_EQ(finding.severity, Severity::ok) << finding.code << ": " << finding.seen;
    EXPECT_FALSE(finding.seen.empty()) << finding.code;
    codes.insert(finding.code);
  }
  EXPECT_EQ(codes.size(), findings.size());
}

TEST(Health, what_cannot_be_read_is_not_spoken_of) {
  for (const auto& finding : examine(Situation{})) {
    EXPECT_THAT(finding.code, testing::AnyOf("workers", "quota", "cpuset", "smt", "virtual_machine", "allocators"));
  }
}

TEST(Health, a_quota_below_the_cpus_names_the_setting_to_use) {
  const auto f = only("quota", Severity::warning, [](Situation& s) { s.identity.cpu_quota = 2.5; });
  EXPECT_THAT(f.seen, AllOf(HasSubstr("2.5 CPUs"), HasSubstr("8 CPUs"), Not(HasSubstr("stopped"))));
  EXPECT_THAT(*f.mend, HasSubstr("--intra-op 2,"));
  const auto stopped = only("quota", Severity::warning, [](Situation& s) {
    s.identity.cpu_quota = 0.5;
    s.state.throttled_periods = 17;
  });
  EXPECT_THAT(stopped.seen, HasSubstr("17 times"));
  EXPECT_THAT(*stopped.mend, HasSubstr("--intra-op 1,")) << "less than one CPU is still one thread";
}

TEST(Health, fewer_cpus_than_the_machine_has_are_listed) {
  const auto f = only("cpuset", Severity::note, [](Situation& s) {
    s.about.machine_cpus = 96;
    s.about.cpu_list = "8-15";
  });
  EXPECT_EQ(f.seen, "8 of the machine's 96 CPUs (8-15)");
  EXPECT_THAT(*f.mend, HasSubstr("--intra-op 8"));
}

TEST(Health, second_threads_are_noted_and_those_of_others_warned_of) {
  const auto own = only("smt", Severity::note, [](Situation& s) { s.identity.cores = 4; });
  EXPECT_EQ(own.seen, "8 threads on 4 cores");
  EXPECT_THAT(*own.mend, HasSubstr("--intra-op 4 with --intra-op 8"));
  const auto others = only("smt", Severity::warning, [](Situation& s) { s.cores_shared = 3; });
  EXPECT_THAT(others.seen, HasSubstr("3 of 8 cores"));
}

TEST(Health, governors_and_turbo) {
  EXPECT_EQ(only("governor", Severity::warning, [](Situation& s) { s.state.governor = "performance,powersave"; }).seen,
            "performance,powersave");
  EXPECT_EQ(only("turbo", Severity::note, [](Situation& s) { s.state.turbo = true; }).seen, "on");
}

TEST(Health, clocks_that_are_slow_to_read_are_warned_of_and_those_of_hypervisors_noted) {
  only("clocksource", Severity::warning, [](Situation& s) { s.state.clocksource = "hpet"; });
  only("clocksource", Severity::warning, [](Situation& s) { s.state.clocksource = "acpi_pm"; });
  only("clocksource", Severity::note, [](Situation& s) { s.state.clocksource = "kvm-clock"; });
  only("clocksource", Severity::note, [](Situation& s) { s.state.clocksource = "hyperv_clocksource_tsc_page"; });
  only("clocksource", Severity::ok, [](Situation& s) { s.state.clocksource = "arch_sys_counter"; });
}

TEST(Health, busy_neighbours_are_named_with_what_they_use) {
  // 8 CPUs for 500 ms are 4000 ms; others used 2490 - 490 = 2000 ms: 4 CPUs, 50 %.
  const auto f = only("neighbours", Severity::warning, [](Situation& s) {
    s.watch.busy_ns = 2490 * kMs;
    s.watch.processes = {
        {41, "cc1plus", 500 * kMs}, {42, "python3", 450 * kMs}, {43, "ld", 350 * kMs}, {44, "sh", 5 * kMs}};
  });
  EXPECT_EQ(f.seen, "others use 4 of 8 CPUs (50 %): cc1plus (41) 100 %, python3 (42) 90 %, ld (43) 70 % of a CPU");
}

TEST(Health, neighbours_that_no_process_accounts_for_are_said_to_be_out_of_sight) {
  const auto hidden = only("neighbours", Severity::warning, [](Situation& s) { s.watch.busy_ns = 2490 * kMs; });
  EXPECT_EQ(hidden.seen, "others use 4 of 8 CPUs (50 %): processes that cannot be seen from here");
}

TEST(Health, few_percent_of_neighbours_are_noted_and_ticks_are_not) {
  // 4000 ms in all: 6 % are 240 ms, 4 % are 160 ms.
  only("neighbours", Severity::note, [](Situation& s) { s.watch.busy_ns = (490 + 240) * kMs; });
  only("neighbours", Severity::ok, [](Situation& s) { s.watch.busy_ns = (490 + 160) * kMs; });
  // One CPU: a single tick of 10 ms in 100 ms is 10 %, and says nothing.
  only("neighbours", Severity::ok, [](Situation& s) {
    s.watch.cpus = 1;
    s.watch.window_ns = 100 * kMs;
    s.watch.self_ns = 95 * kMs;
    s.watch.busy_ns = 110 * kMs;
  });
  only("neighbours", Severity::ok,
       [](Situation& s) { s.watch.busy_ns = 480 * kMs; });  // ticks are inexact: less than self
}

TEST(Health, steal_counts_against_the_time_that_was_wanted) {
  // 50 of 550 ms wanted: 9.1 %, although of all 8 CPUs it would be 1.2 %.
  const auto f = only("steal", Severity::warning, [](Situation& s) { s.watch.steal_ns = 50 * kMs; });
  EXPECT_THAT(f.seen, HasSubstr("9.1 %"));
  only("steal", Severity::ok, [](Situation& s) { s.watch.steal_ns = 10 * kMs; });  // one tick
}

TEST(Health, a_probe_that_changes_its_speed_is_seen_between_quarters) {
  const auto mixed = [](std::int64_t slow_ns, int slow) {
    return [=](Situation& s) {
      for (int i = 0; i < slow; ++i) s.watch.probe_ns[static_cast<std::size_t>(i * 250 / slow)] = slow_ns;
    };
  };
  const auto f = only("probe", Severity::warning, mixed(3 * kMs, 100));  // 40 % of the probes take half as long again
  EXPECT_EQ(f.seen, "2 ms to 3 ms in the middle half of 250 probes (+50 %)");
  only("probe", Severity::note, mixed(2300 * kMs / 1000, 100));
  only("probe", Severity::ok, mixed(2100 * kMs / 1000, 100));
  only("probe", Severity::ok, mixed(9 * kMs, 50));  // a fifth is outside the middle half
  Situation few = healthy();
  few.watch.probe_ns = {2 * kMs, 3 * kMs};
  EXPECT_FALSE(found(few, "probe").has_value());
}

TEST(Health, memory_is_warned_of_within_the_limit_of_its_group) {
  only("memory", Severity::warning, [](Situation& s) { s.state.memory_available_bytes = 6 * kGiB; });  // below a tenth
  only("memory", Severity::ok, [](Situation& s) { s.state.memory_available_bytes = 7 * kGiB; });
  const auto f = only("memory", Severity::warning, [](Situation& s) { s.memory_limit_bytes = 1 * kGiB; });
  EXPECT_EQ(f.seen, "1 GiB of 64 GiB free, within a limit of 1 GiB");
  only("memory", Severity::ok, [](Situation& s) { s.memory_limit_bytes = 8 * kGiB; });
}

TEST(Health, swap_in_use_is_a_warning_and_swap_that_could_be_used_a_note) {
  only("swap", Severity::warning, [](Situation& s) {
    s.state.swap_total_bytes = 8 * kGiB;
    s.state.swap_used_bytes = 1;
  });
  only("swap", Severity::note, [](Situation& s) { s.state.swap_total_bytes = 8 * kGiB; });
  only("swap", Severity::ok, [](Situation& s) {
    s.state.swap_total_bytes = 8 * kGiB;
    s.memory_limit_bytes = 32 * kGiB;
  });
}

TEST(Health, the_rest_of_what_is_looked_at) {
  only("huge_pages", Severity::note, [](Situation& s) { s.state.huge_pages = "always"; });
  only("huge_pages", Severity::note, [](Situation& s) { s.state.huge_pages = "never"; });
  EXPECT_THAT(only("disk", Severity::warning, [](Situation& s) { s.disk_free_bytes = kGiB / 2; }).seen,
              AllOf(HasSubstr("512 MiB"), HasSubstr("/data")));
  EXPECT_EQ(only("virtual_machine", Severity::note, [](Situation& s) { s.identity.virtual_machine = "kvm"; }).seen,
            "kvm");
  only("host_lock", Severity::warning, [](Situation& s) { s.host_lock_held = true; });
  EXPECT_EQ(only("allocators", Severity::note,
                 [](Situation& s) {
                   s.missing_allocators = {"tcmalloc", "jemalloc"};
                 })
                .seen,
            "no tcmalloc, no jemalloc");
  only("workers", Severity::warning, [](Situation& s) { s.workers.clear(); });
  EXPECT_EQ(only("workers", Severity::note, [](Situation& s) { s.workers_to_install = {"pytorch"}; }).mend,
            "assay worker install pytorch");
  EXPECT_THAT(only("workers", Severity::warning, [](Situation& s) { s.worker_problems = {"x/worker.json: bad"}; }).seen,
              HasSubstr("x/worker.json"));
  EXPECT_THAT(*only("gpus", Severity::note,
                    [](Situation& s) {
                      s.identity.gpus = {{"A100", 40 * kGiB}};
                    })
                   .why,
              HasSubstr("never on a GPU"));
}

/// One change for each case that examine() can meet.
std::map<FindingCase, std::function<void(Situation&)>> changes() {
  return {{FindingCase::broken_worker, [](Situation& s) { s.worker_problems = {"x: bad"}; }},
          {FindingCase::no_worker, [](Situation& s) { s.workers.clear(); }},
          {FindingCase::no_environment, [](Situation& s) { s.workers_to_install = {"{pytorch}"}; }},
          {FindingCase::host_lock, [](Situation& s) { s.host_lock_held = true; }},
          {FindingCase::quota, [](Situation& s) { s.identity.cpu_quota = 2; }},
          {FindingCase::neighbours, [](Situation& s) { s.watch.busy_ns = 2490 * kMs; }},
          {FindingCase::steal, [](Situation& s) { s.watch.steal_ns = 50 * kMs; }},
          {FindingCase::probe, [](Situation& s) { s.watch.probe_ns = {1, 1, 1, 1, 3, 3, 3, 3}; }},
          {FindingCase::governor, [](Situation& s) { s.state.governor = "powersave"; }},
          {FindingCase::cpuset, [](Situation& s) { s.about.machine_cpus = 96; }},
          {FindingCase::shared_cores, [](Situation& s) { s.cores_shared = 1; }},
          {FindingCase::second_threads, [](Situation& s) { s.identity.cores = 4; }},
          {FindingCase::memory, [](Situation& s) { s.state.memory_available_bytes = 1; }},
          {FindingCase::swap, [](Situation& s) { s.state.swap_total_bytes = s.state.swap_used_bytes = 1; }},
          {FindingCase::disk, [](Situation& s) { s.disk_free_bytes = 1; }},
          {FindingCase::clock_of_hypervisor, [](Situation& s) { s.state.clocksource = "kvm-clock"; }},
          {FindingCase::slow_clock, [](Situation& s) { s.state.clocksource = "hpet"; }},
          {FindingCase::turbo, [](Situation& s) { s.state.turbo = true; }},
          {FindingCase::virtual_machine, [](Situation& s) { s.identity.virtual_machine = "kvm"; }},
          {FindingCase::huge_pages_by_luck, [](Situation& s) { s.state.huge_pages = "always"; }},
          {FindingCase::no_huge_pages, [](Situation& s) { s.state.huge_pages = "never"; }},
          {FindingCase::allocators, [](Situation& s) { s.missing_allocators = {"jemalloc"}; }},
          {FindingCase::gpus, [](Situation& s) {
             s.identity.gpus = {{"A100", 40 * kGiB}};
           }}};
}

TEST(Health, every_explained_case_is_met_and_a_finding_says_what_its_explanation_says) {
  const auto texts = finding_texts();
  const auto met = changes();
  // All but the rate of requests, which is asked for by a flag.
  ASSERT_EQ(met.size() + 1, texts.size());
  for (const auto& [which, change] : met) {
    const auto& text = texts[static_cast<std::size_t>(which)];
    Situation s = healthy();
    change(s);
    const auto finding = examine(s).front();
    EXPECT_EQ(finding.code, text.code);
    EXPECT_EQ(finding.why, text.why);
    EXPECT_TRUE(finding.severity == Severity::note ? text.note : text.warning) << text.code;
    EXPECT_THAT(text.mend, Not(HasSubstr("{"))) << text.code;
    // A mend is that of the explanation, or it has figures in place of its words.
    EXPECT_EQ(finding.mend->substr(0, 6), text.mend.substr(0, 6));
  }
}

TEST(Health, figures_stand_in_place_of_the_words_of_a_cure) {
  const auto f = found(FindingCase::second_threads, Severity::note, "x", {{"CORES", "{THREADS}"}, {"THREADS", "8"}});
  EXPECT_EQ(f.mend,
            "compare --intra-op {THREADS} with --intra-op 8; --affinity compact keeps instances on cores of "
            "their own");
  EXPECT_DEATH(static_cast<void>(found(FindingCase::cpuset, Severity::note, "x")), "internal error");
}

TEST(Health, the_worst_comes_first) {
  Situation s = healthy();
  s.missing_allocators = {"jemalloc"};  // a note
  s.disk_free_bytes = 0;                // a warning
  const auto findings = examine(s);
  EXPECT_EQ(findings[0].code, "disk");
  EXPECT_EQ(findings[1].code, "allocators");
  EXPECT_EQ(findings[2].severity, Severity::ok);
}

TEST(Watch, sees_its_own_work_and_some_probes) {
  const auto seen = watch({0}, 0.05);
  EXPECT_GE(seen.window_ns, 50 * kMs);
  EXPECT_EQ(seen.cpus, 1);
  ASSERT_FALSE(seen.probe_ns.empty());
  ASSERT_TRUE(seen.self_ns.has_value());
  EXPECT_GT(*seen.self_ns, 0);
  for (const auto& process : seen.processes) EXPECT_NE(process.pid, getpid());
}

}  // namespace
}  // namespace assay::platform
