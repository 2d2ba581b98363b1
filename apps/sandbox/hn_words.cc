#include "apps/sandbox/hn_words.h"

#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace hearth::sandbox {
namespace {

constexpr std::string_view kTopics[] = {
    "lock-free queues",     "incremental parsing",
    "binary search",        "time zones",
    "write-ahead logs",     "hash tables",
    "text rendering",       "tail latency",
    "property-based tests", "type inference",
    "memory allocators",    "B-trees",
    "reproducible builds",  "colour spaces",
    "error messages",       "cache eviction",
    "regular expressions",  "floating-point numbers",
    "terminal emulators",   "bloom filters",
    "garbage collection",   "peer-to-peer sync",
    "command-line design",  "database indexes",
    "vector search",        "signed distance fields",
    "schema migrations",    "feature flags",
    "distributed clocks",   "keyboard layouts",
    "image compression",    "queueing theory",
    "static analysis",      "map projections",
    "small languages",      "offline-first apps",
    "boring technology",    "code review",
    "plain text",           "snapshot isolation",
};
constexpr std::string_view kThings[] = {
    "spreadsheet",      "text editor",     "static site generator",
    "key-value store",  "terminal",        "music sequencer",
    "reading list",     "weather station", "chess clock",
    "pixel editor",     "package manager", "search engine",
    "feed reader",      "ray tracer",      "shell",
    "note-taking app",  "tide calculator", "font editor",
    "bookmark manager", "bus timetable",   "typing tutor",
    "map viewer",       "synthesizer",     "diff viewer",
    "habit tracker",    "star chart",      "recipe box",
    "log viewer",       "virtual machine", "solar planner",
};
constexpr std::string_view kAdjectives[] = {
    "tiny",    "friendly", "fast",    "quiet",   "self-hosted", "minimal",  "portable",
    "curious", "modest",   "gentle",  "careful", "surprising",  "handmade", "sturdy",
    "playful", "simple",   "elegant", "humble",  "tidy",        "patient",
};
constexpr std::string_view kQualities[] = {
    "that runs offline",          "in 500 lines",
    "for the terminal",           "in the browser",
    "without dependencies",       "for small teams",
    "that fits on a floppy",      "with no build step",
    "for e-ink displays",         "that syncs over the local network",
    "you can read in an evening", "for slow connections",
    "with a single binary",       "that explains itself",
    "with undo for everything",   "for people who like paper",
};
constexpr std::string_view kDeeds[] = {
    "cut our build time in half",       "moved ten million rows without downtime",
    "deleted half of our code",         "found a bug that was nine years old",
    "stopped worrying about deadlocks", "made our tests deterministic",
    "taught a robot to water plants",   "replaced a cluster with one machine",
    "wrote our own scheduler",          "learned to love code review",
    "measured what our cache is worth", "mapped every bench in town",
    "shrank our container images",      "debugged a flaky sensor",
    "rewrote the parser, twice",        "got to sub-millisecond queries",
};
constexpr std::string_view kPlaces[] = {
    "a lighthouse",  "the night shift",   "a small library",    "a community garden",
    "a repair café", "a weather balloon", "the school network", "a public radio station",
    "a rail museum", "an island ferry",   "a bakery",           "the observatory",
};
constexpr std::string_view kQuestions[] = {
    "How do you test {}?",
    "What is the best introduction to {}?",
    "Does anyone still care about {}?",
    "What do you wish you had known about {}?",
    "How do you explain {} to beginners?",
    "Which book on {} would you read again?",
};
constexpr std::string_view kQuestionTexts[] = {
    "I have read a few articles about {} and would like to hear from people who work with it.",
    "We are about to start something new, and {} keeps coming up. What should we know first?",
    "Everything that I find about {} is either a sales page or ten years old.",
    "I have a free month and want to understand {} properly this time.",
    "At work we disagree about {}, politely. Your experience would help us.",
};
constexpr std::string_view kFirst[] = {
    "copper", "lantern", "quiet", "maple",  "harbor", "pebble", "willow", "cobalt",
    "amber",  "meadow",  "north", "paper",  "silver", "clover", "ember",  "tidal",
    "velvet", "juniper", "slate", "orchid", "bright", "hollow", "cedar",  "saffron",
};
constexpr std::string_view kSecond[] = {
    "leaf",  "works", "heron", "loop",  "bit",   "stack",  "field", "signal",
    "forge", "notes", "byte",  "path",  "owl",   "spark",  "mill",  "atlas",
    "river", "page",  "kite",  "stone", "cloud", "thread", "lab",   "fox",
};
constexpr std::string_view kRoles[] = {
    "a database engineer",         "a designer who codes",
    "a site reliability engineer", "a technical writer",
    "a compiler engineer",         "a support engineer",
    "a firmware developer",        "a data visualisation developer",
};
constexpr std::string_view kRemarks[] = {
    "This matches what we saw in production.",
    "The diagrams alone are worth the read.",
    "I tried this last year and the hard part was migration.",
    "Does anybody have numbers for larger inputs?",
    "Lovely write-up, thank you for sharing the failures too.",
    "The second approach also works well on small machines.",
    "I would add that measuring first saved us weeks.",
    "There is a nice connection to queueing theory here.",
    "We ended up with something simpler, and it held.",
    "Bookmarking this for the next rainy weekend.",
    "The trade-off with memory deserves a section of its own.",
    "Has anyone run this for longer than a month?",
    "We do the same at work, only with worse names.",
    "I expected the opposite result, so thanks for the numbers.",
    "The footnotes are the best part.",
    "Is there a reason not to do this at start-up?",
    "It took me two readings, and the second one was worth it.",
    "We keep a paper copy of something like this next to the printer.",
    "The hard part is convincing everybody to delete the old version.",
    "A smaller example would help people who are new to this.",
    "I wrote one of these years ago and still use it every day.",
    "The comparison is fair, which is rare.",
    "What happens when the disk is full?",
    "This is the first explanation that I could repeat to somebody else.",
    "Our tests found the same edge case, on a leap day of all days.",
    "I would love to see the version that did not work.",
    "Simple, and it survives a power cut. What more do you want?",
    "I disagree with the conclusion but enjoyed the way there.",
};

// Sentences of articles. "{}" stands for the subject.
constexpr std::string_view kOpenings[] = {
    "Most of what is written about {} starts with the answer. We would rather start with what "
    "went wrong.",
    "For a long time we thought that we understood {}. A quiet week and one strange graph proved "
    "otherwise.",
    "This began as a short note about {} for our own team, and grew because people kept asking.",
    "People who ask about {} usually have a deadline. This text is for those who have a weekend.",
};
constexpr std::string_view kSentences[] = {
    "The first version took an afternoon and worked by accident.",
    "The second version took a month, and it is the one that still runs today.",
    "Nothing about {} is difficult once the cases are written down; writing them down is the "
    "difficult part.",
    "We measured before every change and threw away the changes that did not show up in the "
    "numbers.",
    "Two of our assumptions about {} turned out to be habits.",
    "The part that readers ask about most is also the part with the least code.",
    "A table on paper found more mistakes than the debugger did.",
    "If you want to learn about {} yourself, begin with the smallest input that can go wrong.",
    "What surprised us most about {} was how little of it has to be fast.",
    "We keep the failed attempts in the repository, because they explain the one that stayed.",
    "There is room for improvement: memory use doubles at start-up, and we know why.",
    "The tests run in a second, so people run them.",
    "Half of the work on {} went into error messages, and nobody has regretted that.",
    "We tried a clever layout first; the plain one was faster on every machine that we own.",
};
constexpr std::string_view kClosings[] = {
    "If you know a simpler way to think about {}, write to us; the last three corrections came "
    "from readers.",
    "That is all that we know about {} so far. The next measurement will prove some of it wrong.",
    "There is more to say about {}, but this is where our notes end.",
};

std::string Capitalised(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

// A sentence with its "{}", if any, filled in.
std::string Filled(std::string_view pattern, std::string_view subject) {
  std::string text(pattern);
  const size_t at = text.find("{}");
  if (at != std::string::npos) text.replace(at, 2, subject);
  return text;
}

std::string WithArticle(std::string_view adjective, std::string_view noun) {
  const bool has_vowel = std::string_view("aeiou").find(adjective[0]) != std::string_view::npos;
  return std::string(has_vowel ? "An " : "A ") + std::string(adjective) + " " + std::string(noun);
}

}  // namespace

Headline MakeTitle(Lot& lot) {
  const std::string topic(Pick(lot, kTopics));
  const std::string adjective(Pick(lot, kAdjectives));
  switch (lot.Below(10)) {
    case 0:
      return {"Notes on " + topic, topic};
    case 1:
      return {WithArticle(adjective, "introduction to ") + topic, topic};
    case 2:
      return {"How we " + std::string(Pick(lot, kDeeds)), "this change"};
    case 3:
      return {Capitalised(topic) + ": lessons from " + std::string(Pick(lot, kPlaces)), topic};
    case 4:
      return {"What " + std::string(Pick(lot, kPlaces)) + " taught us about " + topic, topic};
    case 5:
      return {"Understanding " + topic + " by building a " + std::string(Pick(lot, kThings)),
              topic};
    case 6:
      return {"The " + adjective + " history of " + topic, topic};
    case 7: {
      const std::string thing(Pick(lot, kThings));
      return {"Building a " + thing + " " + std::string(Pick(lot, kQualities)), "the " + thing};
    }
    case 8:
      return {Capitalised(topic) + " from first principles", topic};
    default:
      return {"Rethinking " + topic + " for " + std::string(Pick(lot, kPlaces)), topic};
  }
}

Headline MakeShowTitle(Lot& lot) {
  const std::string_view adjective = Pick(lot, kAdjectives);
  const std::string thing(Pick(lot, kThings));
  return {"Show HN: " + WithArticle(adjective, thing) + " " + std::string(Pick(lot, kQualities)),
          "the " + thing};
}

Headline MakeQuestion(Lot& lot) {
  const std::string_view question = Pick(lot, kQuestions);
  const std::string topic(Pick(lot, kTopics));
  return {"Ask HN: " + Filled(question, topic), topic};
}

Headline MakeJobTitle(Lot& lot) {
  const std::string name = std::string(Pick(lot, kFirst)) + std::string(Pick(lot, kSecond));
  return {Capitalised(name) + " is hiring " + std::string(Pick(lot, kRoles)) + " (remote)",
          "this role"};
}

std::string MakeUser(Lot& lot) {
  std::string name = std::string(Pick(lot, kFirst)) + std::string(Pick(lot, kSecond));
  if (lot.OneIn(2)) name += std::to_string(lot.Below(100));
  return name;
}

std::string MakeSite(Lot& lot) {
  static constexpr std::string_view kPrefixes[] = {"", "", "", "blog.", "notes.", "www.", "dev."};
  return std::string(Pick(lot, kPrefixes)) + std::string(Pick(lot, kFirst)) +
         std::string(Pick(lot, kSecond)) + ".example";
}

std::string MakeRemark(Lot& lot) {
  std::string remark(Pick(lot, kRemarks));
  if (lot.OneIn(2)) remark += " " + std::string(Pick(lot, kRemarks));
  return remark;
}

std::string MakeQuestionText(Lot& lot, const std::string& subject) {
  return Filled(Pick(lot, kQuestionTexts), subject);
}

std::string MakeSlug(const std::string& title) {
  std::string slug;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

std::vector<std::string> MakeArticle(Lot& lot, const std::string& subject) {
  constexpr size_t kPerParagraph = 3;
  std::vector<std::string_view> left(std::begin(kSentences), std::end(kSentences));
  std::vector<std::string> paragraphs = {Filled(Pick(lot, kOpenings), subject)};
  for (uint64_t more = 2 + lot.Below(2); more > 0; --more) {
    std::string paragraph;
    for (size_t i = 0; i < kPerParagraph; ++i) {
      const auto drawn = left.begin() + static_cast<std::ptrdiff_t>(lot.Below(left.size()));
      paragraph += (paragraph.empty() ? "" : " ") + Filled(*drawn, subject);
      left.erase(drawn);
    }
    paragraphs.push_back(std::move(paragraph));
  }
  paragraphs.push_back(Filled(Pick(lot, kClosings), subject));
  return paragraphs;
}

}  // namespace hearth::sandbox
