#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <string>

#include "assay/core/text/json.hpp"
#include "assay/report/document.hpp"

namespace assay::cli {

/// How a command's answer is wanted.
struct AnswerFlags {
  bool json = false;
  std::string markdown;  ///< a file that gets it as Markdown too
};

/// Declares --json and --markdown.
void add_answer_flags(CLI::App& command, AnswerFlags& flags);

/// Prints a document for the terminal that stdout is.
void print_document(const report::Document& document);

/// Prints JSON, whatever bytes its text holds.
void print_json(const json& value);

/// Writes the Markdown file that was asked for; nothing where none was.
void write_markdown(const std::string& path, const report::Document& document);

/// The answer as it is wanted; `as_json` is called only where it is.
template <typename Json>
void answer(const AnswerFlags& flags, const report::Document& document, const Json& as_json) {
  write_markdown(flags.markdown, document);
  flags.json ? print_json(as_json()) : print_document(document);
}

/// The same where `document` makes the document, and is called only where one is wanted.
template <std::invocable Make, typename Json>
void answer(const AnswerFlags& flags, const Make& document, const Json& as_json) {
  if (flags.json && flags.markdown.empty()) return print_json(as_json());
  answer(flags, document(), as_json);
}

}  // namespace assay::cli
