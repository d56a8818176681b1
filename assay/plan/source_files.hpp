#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::plan {

/// Hash of a Python file and of the modules below its folder that it imports, directly or through each other. That of
/// the file's bytes alone where it imports none of them. Nothing where the file cannot be read.
std::optional<std::string> hash_of_python(const std::filesystem::path& path);

/// Hash of the program that a command line starts, and where that is an interpreter, of the script it is given; a
/// script in Python counts with its modules. Programs that start another, such as `nice`, are looked through. Nothing
/// where there is no such program here.
std::optional<std::string> hash_of_command(const std::vector<std::string>& argv);

}  // namespace assay::plan
