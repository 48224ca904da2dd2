// The names of the files of a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapse {

// The largest number of files in one folder.
inline constexpr std::uint64_t kMaxFilesInFolder = 256;
inline constexpr std::string_view kCheckpointFileExtension = ".shards";
inline constexpr std::string_view kTemporaryExtension = ".tmp";

// Returns a random 64-bit id, unique with high probability.
std::uint64_t new_checkpoint_number();
// Returns the name of file `index` of `files`, within the folder of the checkpoint with this number:
// "0123456789abcdef-7.shards", or "001/0123456789abcdef-300.shards" if there are many files.
std::string checkpoint_file_name(std::uint64_t checkpoint, std::uint64_t index, std::uint64_t files);
// Returns the prefix of the file names of this checkpoint.
std::string checkpoint_file_prefix(std::uint64_t checkpoint);
// Returns the number of subfolders that contain the files; 0 if there are few files.
std::uint64_t checkpoint_subfolders(std::uint64_t files);
// Returns a name such as "001".
std::string checkpoint_subfolder_name(std::uint64_t index);
bool is_checkpoint_subfolder(std::string_view name);
// Returns true if this library has named the file; it leaves other files alone.
bool is_checkpoint_file(std::string_view name);

}  // namespace lapse
