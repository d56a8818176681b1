#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "assay/predict/simulation/simulate.hpp"

namespace assay::predict {

/// What `act` returns in a process of its own, since SimGrid allows one engine in each.
inline json in_a_child(const std::function<json()>& act) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const auto pid = fork();
  if (pid == 0) {
    const auto text = act().dump();
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  return parse_json(text);
}

inline SimulationAnswer simulated(const SimulationRequest& request) {
  return from_json<SimulationAnswer>(in_a_child([&] { return to_json(simulate(request)); }));
}

}  // namespace assay::predict
