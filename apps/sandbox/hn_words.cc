#include "apps/sandbox/hn_words.h"

#include <cctype>
#include <span>
#include <string_view>

namespace hearth::sandbox {
namespace {

using Words = std::span<const std::string_view>;

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
};

std::string_view Pick(Lot& lot, Words words) { return words[lot.Below(words.size())]; }

std::string Capitalised(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string WithArticle(std::string_view adjective, std::string_view noun) {
  const bool has_vowel = std::string_view("aeiou").find(adjective[0]) != std::string_view::npos;
  return std::string(has_vowel ? "An " : "A ") + std::string(adjective) + " " + std::string(noun);
}

}  // namespace

// SplitMix64: one multiplication chain a number, and every seed is as good as another.
uint64_t Lot::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::string MakeTitle(Lot& lot) {
  const std::string topic(Pick(lot, kTopics));
  const std::string adjective(Pick(lot, kAdjectives));
  switch (lot.Below(10)) {
    case 0:
      return "Notes on " + topic;
    case 1:
      return WithArticle(adjective, "introduction to ") + topic;
    case 2:
      return "How we " + std::string(Pick(lot, kDeeds));
    case 3:
      return Capitalised(topic) + ": lessons from " + std::string(Pick(lot, kPlaces));
    case 4:
      return "What " + std::string(Pick(lot, kPlaces)) + " taught us about " + topic;
    case 5:
      return "Understanding " + topic + " by building a " + std::string(Pick(lot, kThings));
    case 6:
      return "The " + adjective + " history of " + topic;
    case 7:
      return "Building a " + std::string(Pick(lot, kThings)) + " " +
             std::string(Pick(lot, kQualities));
    case 8:
      return Capitalised(topic) + " from first principles";
    default:
      return "Rethinking " + topic + " for " + std::string(Pick(lot, kPlaces));
  }
}

std::string MakeShowTitle(Lot& lot) {
  const std::string_view adjective = Pick(lot, kAdjectives);
  const std::string_view thing = Pick(lot, kThings);
  return "Show HN: " + WithArticle(adjective, thing) + " " + std::string(Pick(lot, kQualities));
}

std::string MakeQuestion(Lot& lot) {
  std::string question(Pick(lot, kQuestions));
  question.replace(question.find("{}"), 2, Pick(lot, kTopics));
  return "Ask HN: " + question;
}

std::string MakeJobTitle(Lot& lot) {
  const std::string name = std::string(Pick(lot, kFirst)) + std::string(Pick(lot, kSecond));
  return Capitalised(name) + " is hiring " + std::string(Pick(lot, kRoles)) + " (remote)";
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

}  // namespace hearth::sandbox
