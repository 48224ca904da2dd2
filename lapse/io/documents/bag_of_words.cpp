#include "lapse/io/documents/bag_of_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int32_t>::max();

class BagOfWordsParser {
 public:
  BagOfWordsParser(const Input& input, DocumentPart part) : reader_(input), part_(part) {
    if (part.count == 0 || part.index > part.count || part.width > part.count - part.index) {
      throw UsageError(fmt::format("parts {} to {} of {} parts of {}", part.index, part.index + part.width,
                                   part.count, reader_.path()));
    }
  }

  BagOfWords read() {
    try {
      const std::uint64_t documents = read_number("number of documents", kMaxNumber);
      const std::uint64_t words = read_number("number of different words", kMaxNumber);
      const std::uint64_t lines = read_number("number of lines", std::numeric_limits<std::uint64_t>::max());
      BagOfWords bag(words);
      read_entries(bag, documents, lines);
      return bag;
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(
          fmt::format("{}:{}: out of memory for more documents", reader_.path(), reader_.line_number()));
    }
  }

 private:
  bool next_line() {
    do {
      if (!reader_.next(line_)) return false;
    } while (trimmed(line_).empty());
    return true;
  }

  template <std::size_t N>
  std::array<std::string_view, N> split() const {
    Fields splitter(line_, detect_separator(line_) == Separator::tab ? Separator::tab : Separator::blanks);
    std::array<std::string_view, N> fields;
    std::size_t found = 0;
    while (found < N && splitter.next(fields[found])) ++found;
    found += splitter.count_rest();
    if (found != N) reader_.fail(wrong_number_of_fields(line_, found, N, "field", "blanks or tabs"), line_);
    return fields;
  }

  std::uint64_t parse(std::string_view field, std::string_view what, std::uint64_t least,
                      std::uint64_t most) const {
    std::uint64_t number = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || number < least || number > most)
      reader_.fail(fmt::format("{} '{}', expected an integer from {} to {}", what, shown(field), least, most),
                   field);
    return number;
  }

  std::uint64_t read_number(std::string_view what, std::uint64_t most) {
    if (!next_line())
      throw FileError(reader_.path(),
                      fmt::format("ends before its {}, expected three numbers: of documents, of different "
                                  "words, and of lines `document word count`",
                                  what));
    return parse(split<1>()[0], what, 1, most);
  }

  void read_entries(BagOfWords& bag, std::uint64_t documents, std::uint64_t lines) {
    std::vector<WordCount> of_document;
    std::uint64_t number = 0;  // of the document, from 1; 0 before the first
    const auto end_document = [&] {
      if (number != 0) bag.add(of_document, part_.has(number - 1));
      of_document.clear();
    };
    std::uint64_t read = 0;
    for (; next_line(); ++read) {
      const auto fields = split<3>();
      if (read == lines)
        reader_.fail(fmt::format("a line more than the {} that the third line announces", lines), line_);
      const std::uint64_t document = parse(fields[0], "document", 1, documents);
      const std::uint64_t word = parse(fields[1], "word", 1, bag.words()) - 1;
      const std::uint64_t count = parse(fields[2], "count", 1, kMaxCount);
      if (document != number) {
        if (document != number + 1) {
          reader_.fail(
              fmt::format("document {}, expected {} or {}: documents are in ascending order, and each "
                          "has words",
                          document, std::max<std::uint64_t>(number, 1), number + 1),
              fields[0]);
        }
        end_document();
        number = document;
      }
      of_document.push_back({static_cast<Vocabulary::Id>(word), static_cast<std::uint32_t>(count)});
    }
    end_document();
    if (read != lines) {
      throw FileError(reader_.path(), fmt::format("has {} lines `document word count`, and the third line "
                                                  "announces {}: is it cut off?",
                                                  read, lines));
    }
    if (number != documents)
      throw FileError(reader_.path(), fmt::format("document {} has no words", number + 1));
  }

  LineReader reader_;
  DocumentPart part_;
  std::string_view line_;
};

}  // namespace

void BagOfWords::add(std::span<const WordCount> words, bool keeps) {
  std::uint64_t length = 0;
  for (const WordCount& word : words) {
    length += word.count;
    checksum_ = mix_bits(checksum_ ^ ((std::uint64_t{word.word} << 32U) + word.count)) + kGoldenGamma;
  }
  checksum_ = mix_bits(checksum_ ^ length) + kGoldenGamma;
  lengths_.push_back(length);
  if (!keeps) return;
  tokens_ += length;
  numbers_.push_back(lengths_.size() - 1);
  entries_.insert(entries_.end(), words.begin(), words.end());
  ends_.push_back(entries_.size());
}

BagOfWords read_bag_of_words(const Input& input, DocumentPart part) {
  return BagOfWordsParser(input, part).read();
}

}  // namespace lapse::io
