#include "apps/sandbox/hn_pages.h"

#include <utility>

namespace hearth::sandbox {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// "2,408 comments"; `count` is not negative.
std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string Ago(int64_t time, int64_t now) {
  const int64_t minutes = (now - time) / 60;
  if (minutes < 1) return "just now";
  if (minutes < 60) return Counted(minutes, "minute") + " ago";
  if (minutes < 24 * 60) return Counted(minutes / 60, "hour") + " ago";
  return Counted(minutes / (24 * 60), "day") + " ago";
}

std::string Element(std::string_view tag, std::string_view content) {
  return "<" + std::string(tag) + ">" + std::string(content) + "</" + std::string(tag) + ">";
}

std::string LinkTo(std::string_view page, int64_t id, std::string_view text) {
  return "<a href=\"" + std::string(page) + "?id=" + std::to_string(id) + "\">" + Escaped(text) +
         "</a>";
}

std::string Page(std::string_view title, std::string_view site, std::string_view content) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<title>" +
         Escaped(title) +
         "</title><link rel=\"icon\" href=\"data:,\">"
         "<link rel=\"stylesheet\" href=\"style.css\"></head><body>"
         "<header><span>" +
         Escaped(site) +
         "</span><span class=\"note\">made up by Hearth’s sandbox</span></header><main>" +
         std::string(content) + "</main></body></html>\n";
}

std::string CommentElement(const HnStoryPage::Comment& comment, int64_t now) {
  const std::string open = "<li class=\"depth-" + std::to_string(comment.depth) + "\">";
  if (comment.by.empty()) return open + "<p class=\"meta\">[deleted]</p></li>";
  return open + "<p class=\"meta\">" + Escaped(comment.by) + ", " + Ago(comment.time, now) +
         "</p><p>" + Escaped(comment.text) + "</p></li>";
}

}  // namespace

std::string MakeItemPage(const HnStoryPage& story, int64_t now) {
  if (story.is_removed) {
    return MakeMessagePage(story.title, "This story has been removed, and its comments with it.");
  }
  std::string content = Element(
      "h1", story.site.empty() ? Escaped(story.title) : LinkTo("article", story.id, story.title));
  if (!story.site.empty()) content += "<p class=\"meta\">" + Escaped(story.site) + "</p>";
  content += "<p class=\"meta\">" + Counted(story.score, "point") + " by " + Escaped(story.by) +
             ", " + Ago(story.time, now) + "</p>";
  if (!story.text.empty()) content += Element("p", Escaped(story.text));
  content += Element("h2", story.comments.empty()
                               ? "No comments yet"
                               : Counted(static_cast<int64_t>(story.comments.size()), "comment"));
  std::string comments;
  for (const HnStoryPage::Comment& comment : story.comments) {
    comments += CommentElement(comment, now);
  }
  if (!comments.empty()) content += "<ol class=\"comments\">" + comments + "</ol>";
  return Page(story.title, "Hacker News", content);
}

std::string MakeArticlePage(const HnStoryPage& story) {
  std::string content = Element("h1", Escaped(story.title));
  for (const std::string& paragraph : story.article) content += Element("p", Escaped(paragraph));
  content += "<p class=\"meta\">" + LinkTo("item", story.id, "Comments on this story") + "</p>";
  return Page(story.title, story.site, content);
}

std::string MakeMessagePage(std::string_view title, std::string_view message) {
  return Page(title, "Hacker News", Element("h1", Escaped(title)) + Element("p", Escaped(message)));
}

std::string_view PageStyle() {
  return R"(:root {
  color-scheme: light dark;
  --paper: light-dark(#fcfbf9, #17181a);
  --ink: light-dark(#24262a, #e4e6e9);
  --soft: light-dark(#5d6269, #a4abb5);
  --line: light-dark(#dcd9d3, #34373c);
  --step: 1.25rem;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 Georgia, "Noto Serif", serif; }
header, main { max-inline-size: 42rem; margin-inline: auto; padding-inline: 1.25rem; }
header {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.25rem 1rem; padding-block: 1rem;
  border-block-end: 1px solid var(--line); color: var(--soft); font: 0.875rem/1.5 system-ui, sans-serif;
}
main { padding-block: 1.5rem 4rem; overflow-wrap: break-word; }
h1 { margin: 0 0 0.75rem; font-size: 1.75rem; line-height: 1.25; text-wrap: balance; }
h2 { margin: 2rem 0 0.5rem; font: 600 1rem/1.5 system-ui, sans-serif; }
a { color: inherit; text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
p { margin: 0 0 1.1rem; }
.meta { margin: 0 0 0.25rem; color: var(--soft); font: 0.875rem/1.5 system-ui, sans-serif; }
main > .meta + p:not(.meta) { margin-block-start: 0.75rem; }
.comments { margin: 0; padding: 0; list-style: none; font: 0.9375rem/1.5 system-ui, sans-serif; }
.comments li { padding-block: 0.75rem; border-block-start: 1px solid var(--line); }
.comments p { margin: 0; }
.depth-1 { margin-inline-start: var(--step); }
.depth-2 { margin-inline-start: calc(2 * var(--step)); }
.depth-3 { margin-inline-start: calc(3 * var(--step)); }
.depth-4 { margin-inline-start: calc(4 * var(--step)); }
.depth-5 { margin-inline-start: calc(5 * var(--step)); }
@media (max-width: 30rem) {
  :root { --step: 0.75rem; }
}
)";
}

}  // namespace hearth::sandbox
