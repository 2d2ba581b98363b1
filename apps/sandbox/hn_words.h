#pragma once

#include <string>
#include <vector>

#include "apps/sandbox/lot.h"

namespace hearth::sandbox {

// Words of our own: no persons, no companies; sites end in ".example", which nobody can own.
struct Headline {
  std::string title;
  std::string subject;  // What it is about, as a noun within a sentence: "lock-free queues".
};
Headline MakeTitle(Lot& lot);      // "Notes on lock-free queues"
Headline MakeShowTitle(Lot& lot);  // "Show HN: A tiny spreadsheet that runs offline"
Headline MakeQuestion(Lot& lot);   // "Ask HN: How do you test time zones?"
Headline MakeJobTitle(Lot& lot);   // "Copperleaf is hiring a database engineer (remote)"
std::string MakeUser(Lot& lot);    // "quietheron42"
std::string MakeSite(Lot& lot);    // "lanternworks.example"
std::string MakeRemark(Lot& lot);  // A sentence or two, by somebody who has read something.
// What else a question says.
std::string MakeQuestionText(Lot& lot, const std::string& subject);
std::string MakeSlug(const std::string& title);  // "notes-on-lock-free-queues"
// The paragraphs of an article.
std::vector<std::string> MakeArticle(Lot& lot, const std::string& subject);

}  // namespace hearth::sandbox
