#pragma once

#include <string>

#include "assay/core/error.hpp"

namespace assay::store::postgres {

/// Where an answer of a server came from. Nothing here is secret.
struct Circumstances {
  std::string store;       ///< its name for messages
  std::string doing;       ///< completes "while …"
  std::string role;        ///< that is connected; empty where that is not known
  bool has_worked = true;  ///< this connection was used before
};

/// What a refused statement or connection means for the user. `state` is its SQLSTATE, empty where nobody answered;
/// `text` holds no secret.
///
/// Only what the same call would meet for good is a failure: a right that is missing, or data that the server does not
/// take. A user, password or database that is wrong at the first connection is one too. All else is Error{away}: an
/// agent waits, and keeps what it has finished.
Error error_for(const std::string& state, const std::string& text, const Circumstances& circumstances);

/// Two transactions were in each other's way: the same again will do.
bool is_collision(const std::string& state);

/// Whether a connection that gave this state is of no more use: it is gone, or leads to a server that takes no writes.
bool needs_new_connection(const std::string& state);

/// The server's words in one line.
std::string in_one_line(std::string text);

/// The last SQLSTATE in what libpq says of a connection that failed, with verbose errors; empty where no server
/// refused it.
std::string state_in(const std::string& text);

}  // namespace assay::store::postgres
