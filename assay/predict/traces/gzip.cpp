#include "assay/predict/traces/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kPiece = 1u << 18;

/// zlib's state, freed whatever happens.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) fail(ErrorKind::failure, "zlib has no memory for its state.");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::string unpack_gzip(std::string_view bytes, std::size_t most_bytes) {
  Inflater inflater;
  auto& stream = inflater.stream();
  std::string text;
  std::string piece(kPiece, '\0');
  std::size_t given = 0;
  while (true) {
    if (stream.avail_in == 0) {
      const auto next = std::min<std::size_t>(bytes.size() - given, std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));  // zlib only reads it
      stream.avail_in = static_cast<uInt>(next);
      given += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
    if (text.size() > most_bytes) {
      fail(ErrorKind::bad_input, "it is larger than {} MiB when unpacked. Profile fewer steps.", most_bytes >> 20);
    }
    const bool all_given = stream.avail_in == 0 && given == bytes.size();
    if (outcome == Z_STREAM_END) {
      if (all_given) return text;
      if (inflateReset(&stream) != Z_OK) fail(ErrorKind::failure, "zlib lost its state.");
    } else if (outcome == Z_BUF_ERROR && all_given) {
      fail(ErrorKind::bad_input, "the gzip file is cut off. Copy it again.");
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      fail(ErrorKind::bad_input, "the gzip file is damaged: {}. Copy it again.",
           stream.msg != nullptr ? stream.msg : "zlib cannot read it");
    }
  }
}

}  // namespace assay::predict
