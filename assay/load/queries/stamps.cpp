#include "assay/load/queries/stamps.hpp"

namespace assay::load {
namespace {

void append_stamp(std::string& out, const std::optional<std::int64_t>& value) {
  out += ',';
  if (value) out += std::to_string(*value);
}

}  // namespace

std::string requests_csv(const std::vector<Request>& requests) {
  std::string out =
      "due_ns,noticed_ns,connected_ns,sent_ns,first_byte_ns,first_token_ns,last_token_ns,finished_ns,outcome,status,"
      "warm_up,kept_connection,chunks,bytes,input_tokens,output_tokens,cached_tokens\n";
  for (const auto& r : requests) {
    out += std::to_string(r.due_ns);
    for (const auto& stamp :
         {r.noticed_ns, r.connected_ns, r.sent_ns, r.first_byte_ns, r.first_token_ns, r.last_token_ns, r.finished_ns}) {
      append_stamp(out, stamp);
    }
    out += fmt::format(",{},{},{},{},{},{}", name_of(r.outcome), r.status, r.warm_up, r.kept_connection, r.chunks,
                       r.bytes);
    for (const auto& count : {r.input_tokens, r.output_tokens, r.cached_tokens}) append_stamp(out, count);
    out += '\n';
  }
  return out;
}

}  // namespace assay::load
