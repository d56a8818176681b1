#include <cmath>
#include <map>
#include <utility>

#include "assay/core/error.hpp"
#include "assay/core/text/items.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/load/server/null_server.hpp"

namespace assay::load {

NullService parse_null_service(const std::string& text) {
  NullService service;
  const std::map<std::string, std::int64_t NullService::*> numbers{{"port", &NullService::port},
                                                                   {"workers", &NullService::workers},
                                                                   {"chunks", &NullService::chunks},
                                                                   {"tokens", &NullService::tokens}};
  const std::map<std::string, std::int64_t NullService::*> times{{"service", &NullService::service_ns},
                                                                 {"gap", &NullService::gap_ns},
                                                                 {"stall-at", &NullService::stall_at_ns},
                                                                 {"stall", &NullService::stall_ns}};
  if (text.empty()) return service;
  for (const auto item : items_of(text)) {
    const std::string part(item);
    const auto equals = std::min(part.find('='), part.size());
    const auto name = part.substr(0, equals);
    const auto value = equals < part.size() ? part.substr(equals + 1) : "";
    if (const auto found = times.find(name); found != times.end()) {
      service.*found->second = std::llround(parse_seconds(value, "--null-server " + name) * 1e9);
      continue;
    }
    const auto found = numbers.find(name);
    const auto number = parse_number<std::int64_t>(value);
    const std::int64_t most = name == "port" ? 65535 : 100'000;
    if (found == numbers.end() || !number || *number < (name == "tokens" ? 1 : 0) || *number > most) {
      fail(ErrorKind::usage,
           "--null-server: {} is not valid. Write it as port=18080,workers=1,service=2ms,chunks=16,gap=5ms,tokens=1,"
           "stall-at=2s,stall=1s, or a part of it.",
           shown(part));
    }
    service.*found->second = *number;
  }
  return service;
}

}  // namespace assay::load
