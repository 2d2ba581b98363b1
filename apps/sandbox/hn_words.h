#pragma once

#include <string>
#include <vector>

#include "apps/sandbox/lot.h"

namespace hearth::sandbox {

// Made-up texts: no real persons or companies; sites end in ".example", which is reserved.
struct Headline {
  std::string title;
  std::string subject;  // As a noun within a sentence: "lock-free queues".
};
Headline MakeTitle(Lot& lot);      // "Notes on lock-free queues"
Headline MakeShowTitle(Lot& lot);  // "Show HN: A tiny spreadsheet that runs offline"
Headline MakeQuestion(Lot& lot);   // "Ask HN: How do you test time zones?"
Headline MakeJobTitle(Lot& lot);   // "Copperleaf is hiring a database engineer (remote)"
std::string MakeUser(Lot& lot);    // "quietheron42"
std::string MakeSite(Lot& lot);    // "lanternworks.example"
std::string MakeRemark(Lot& lot);  // A sentence or two, as a comment on an article.
// The body of a question.
std::string MakeQuestionText(Lot& lot, const std::string& subject);
std::string MakeSlug(const std::string& title);  // "notes-on-lock-free-queues"
// The paragraphs of an article.
std::vector<std::string> MakeArticle(Lot& lot, const std::string& subject);

}  // namespace hearth::sandbox
