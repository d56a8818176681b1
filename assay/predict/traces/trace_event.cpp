#include "assay/predict/traces/trace_event.hpp"

#include <charconv>
#include <cmath>

#include "assay/core/text/utf8.hpp"

namespace assay::predict {
namespace {

constexpr double kLatestNanoseconds = 2.2e18;  // in 2039; the difference of sums of two fits in 64 bits
constexpr std::int64_t kLongestNanoseconds = 1'000'000'000'000'000;

double bytes_of_value(const std::string& type) {
  if (type == "double" || type == "Double" || type == "long int" || type == "long" || type == "Long") return 8;
  if (type == "c10::BFloat16" || type == "BFloat16" || type == "c10::Half" || type == "Half") return 2;
  if (type == "unsigned char" || type == "signed char" || type == "Byte" || type == "Char" || type == "bool") return 1;
  return 4;
}

/// Microseconds as the file writes them, without the rounding of a double; 0 for what is not a time.
std::int64_t nanoseconds_of(const std::string& text, double value) {
  if (!(value >= 0 && value * 1000 < kLatestNanoseconds)) return 0;
  const auto point = text.find('.');
  std::int64_t whole = 0;
  const auto* begin = text.data();
  const auto* middle = begin + (point == std::string::npos ? text.size() : point);
  const auto read = std::from_chars(begin, middle, whole);
  const bool plain = text.find_first_of("eE") == std::string::npos && read.ptr == middle && read.ec == std::errc();
  if (!plain) return std::llround(value * 1000);
  std::int64_t thousandths = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto at = point == std::string::npos ? text.size() : point + 1 + i;
    thousandths = 10 * thousandths + (at < text.size() ? text[at] - '0' : 0);
  }
  return 1000 * whole + thousandths;
}

/// Takes the parser's events and keeps one event of the trace at a time.
class EventBuilder {
 public:
  EventBuilder(const JsonLimits& limits, const std::function<void(const WrittenEvent&)>& take)
      : limits_(limits), take_(take) {}

  bool null() { return count(); }
  bool boolean(bool) { return count(); }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value), value, std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;  // nodes without a number have more
    return number(static_cast<double>(value), value > kLargest ? -1 : static_cast<std::int64_t>(value),
                  std::to_string(value));
  }
  bool number_float(double value, const std::string& text) { return number(value, -1, text); }

  bool string(std::string& value) {
    if (!count()) return false;
    if (in_events_ && depth_ == 3) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
      if (key_ == "tid") event_.thread = static_cast<std::int64_t>(std::hash<std::string>{}(value) >> 1);
    } else if (in_args_ && depth_ == 4) {
      if (key_ == "Collective name") event_.collective = value;
      if (key_ == "Process Group Name") event_.group = value;
      if (key_ == "dtype") event_.value_type = value;
    } else if (in_args_ && depth_ == 5) {
      if (key_ == "Input type" && elements_ == 0) event_.first_input_type = value;
      ++elements_;
    }
    return true;
  }

  bool binary(json::binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    // Keys of values inside of an argument are not ours: the argument's own name is needed after them.
    if (!in_args_ || depth_ <= 4) key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    const std::string text = error.what();  // "[json.exception.…] parse error at …: what"
    const auto at = text.find("] ");
    if (problem_.empty()) {
      problem_ =
          fmt::format("byte {}: {}", position, printable(at == std::string::npos ? text : text.substr(at + 2), 200));
    }
    return false;
  }

  const std::string& problem() const { return problem_; }
  bool has_events() const { return has_events_; }
  const TraceHead& head() const { return head_; }

 private:
  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  bool count() { return ++values_ <= limits_.values || refuse(fmt::format("more than {} values", limits_.values)); }

  bool open(bool array) {
    if (!count()) return false;
    if (depth_ >= limits_.depth) return refuse(fmt::format("nested deeper than {} levels", limits_.depth));
    if (depth_ == 1) {
      in_events_ = array && key_ == "traceEvents";
      in_head_ = !array && key_ == "distributedInfo";
      has_events_ = has_events_ || in_events_;
    } else if (in_events_ && depth_ == 2) {
      event_ = {};
      is_event_ = !array;
    } else if (in_events_ && depth_ == 3) {
      in_args_ = is_event_ && !array && key_ == "args";
    } else if (in_args_ && depth_ == 4) {
      elements_ = 0;
    } else if (in_args_ && depth_ == 5) {
      if (elements_++ == 0 && array && key_ == "Input Dims") event_.first_input_values = 1;
    }
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    if (depth_ == 1) in_events_ = in_head_ = false;
    if (depth_ == 3) in_args_ = false;
    if (in_events_ && depth_ == 2 && is_event_) {
      take_(event_);
      is_event_ = false;
    }
    return true;
  }

  bool number(double value, std::int64_t integer, const std::string& text) {
    if (!count()) return false;
    if (in_head_ && depth_ == 2 && integer >= 0) {
      if (key_ == "rank") head_.rank = integer;
      if (key_ == "world_size") head_.job_ranks = integer;
    }
    if (in_events_ && depth_ == 3) {
      if (key_ == "ts") event_.begin_ns = nanoseconds_of(text, value);
      if (key_ == "dur") event_.length_ns = std::min(kLongestNanoseconds, nanoseconds_of(text, value));
      if (key_ == "tid") event_.thread = integer;
    } else if (in_args_ && depth_ == 4) {
      argument(value, integer);
    } else if (in_args_ && depth_ == 6 && elements_ == 1 && key_ == "Input Dims" && event_.first_input_values) {
      *event_.first_input_values *= value;
    }
    return true;
  }

  void argument(double value, std::int64_t integer) {
    if (key_ == "correlation") event_.correlation = integer;
    if (key_ == "stream") event_.stream = integer;
    if (key_ == "device") event_.device = integer;
    if (key_ == "External id" || key_ == "external id") event_.external = integer;
    if (key_ == "Sequence number") event_.sequence = integer;
    if (key_ == "wait_on_stream") event_.source_stream = integer;
    if (key_ == "wait_on_cuda_event_record_corr_id") event_.record_correlation = integer;
    if (key_ == "In msg nelems") event_.message_values = value;
  }

  const JsonLimits& limits_;
  const std::function<void(const WrittenEvent&)>& take_;
  WrittenEvent event_;
  TraceHead head_;
  std::string key_;
  std::string problem_;
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
  std::size_t elements_ = 0;  // of the list that is an argument
  bool in_events_ = false;
  bool in_head_ = false;
  bool in_args_ = false;
  bool is_event_ = false;
  bool has_events_ = false;
};

}  // namespace

double WrittenEvent::first_input_bytes() const {
  if (!first_input_values || first_input_type == "") return 0;
  const double bytes = *first_input_values * bytes_of_value(first_input_type.value_or("float"));
  return bytes > 0 && std::isfinite(bytes) ? bytes : 0;
}

double WrittenEvent::message_bytes() const {
  const double bytes = message_values * bytes_of_value(value_type);
  return bytes > 0 && std::isfinite(bytes) ? bytes : 0;
}

TraceHead read_events(std::string_view text, const JsonLimits& limits,
                      const std::function<void(const WrittenEvent&)>& take) {
  if (text.size() > limits.bytes) {
    fail(ErrorKind::bad_input, "it is larger than {} MiB. Profile fewer steps.", limits.bytes >> 20);
  }
  EventBuilder builder(limits, take);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) fail(ErrorKind::bad_input, "{}", builder.problem());
  if (!builder.has_events()) {
    fail(ErrorKind::bad_input, "it has no traceEvents. Write it with profiler.export_chrome_trace().");
  }
  return builder.head();
}

}  // namespace assay::predict
