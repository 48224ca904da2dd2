// What the files of a checkpoint are called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapse {

// So many files are in one folder at most.
inline constexpr std::uint64_t kMaxFilesInFolder = 256;
inline constexpr std::string_view kCheckpointFileExtension = ".shards";
inline constexpr std::string_view kTemporaryExtension = ".tmp";

// A number that no other checkpoint or call has, almost surely.
std::uint64_t new_checkpoint_number();
// Of the file `index` of `files`, within the folder of the checkpoint with this number:
// "0123456789abcdef-7.shards", or "001/0123456789abcdef-300.shards" where there are many.
std::string checkpoint_file_name(std::uint64_t checkpoint, std::uint64_t index, std::uint64_t files);
// What names of files of this checkpoint begin with.
std::string checkpoint_file_prefix(std::uint64_t checkpoint);
// How many folders within that of the checkpoint have the files; 0 where there are few.
std::uint64_t checkpoint_subfolders(std::uint64_t files);
// "001"
std::string checkpoint_subfolder_name(std::uint64_t index);
bool is_checkpoint_subfolder(std::string_view name);
// Whether this library has given the file its name; other files are left alone.
bool is_checkpoint_file(std::string_view name);

}  // namespace lapse
