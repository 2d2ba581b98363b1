#include "apps/feed/demo.h"

#include <utility>

#include "base/status_macros.h"
#include "kit/web/json_fields.h"

namespace hearth::feed {
namespace {

// An array element of the service's response, which must be an object.
Result<kit::JsonFields> FieldsOf(const nlohmann::json& json) {
  if (!json.is_object()) return Status(Code::kDataLoss, "the demo data is malformed");
  return kit::JsonFields(json);
}

bool HasBeenThere(const Status& status) { return status.code() == Code::kAlreadyExists; }

}  // namespace

Demo::Demo(std::string url, const Collections& collections, FeedCore& core, MediaStore& media,
           kit::Outbound& outbound)
    : url_(std::move(url)),
      collections_(collections),
      core_(core),
      media_(media),
      outbound_(outbound) {}

Status Demo::Run(const std::atomic<bool>& stopping) {
  ASSIGN_OR_RETURN(int64_t last, LastNumber());
  if (last == 0) RETURN_IF_ERROR(BringAccounts());
  while (!stopping) {
    ASSIGN_OR_RETURN(const size_t brought, BringPosts(last, stopping));
    if (brought == 0) return Status();
    ASSIGN_OR_RETURN(last, LastNumber());
  }
  return Status();
}

Status Demo::BringAccounts() {
  ASSIGN_OR_RETURN(const nlohmann::json accounts, outbound_.FetchJson(url_ + "/accounts.json"));
  for (const nlohmann::json& account : accounts) {
    ASSIGN_OR_RETURN(kit::JsonFields fields, FieldsOf(account));
    const User user{.username = fields.Text("username", {}),
                    .display_name = fields.Text("display_name", {}),
                    .bio = fields.Text("bio", {}),
                    .is_new_user = false};
    RETURN_IF_ERROR(fields.status());
    const Status created = core_.users().Create(user).status();
    if (!created.ok() && !HasBeenThere(created)) return created;
  }
  for (const nlohmann::json& account : accounts) {
    ASSIGN_OR_RETURN(const User user,
                     core_.users().FindByName(account["username"].get<std::string>()));
    for (const nlohmann::json& name : account.value("follows", nlohmann::json::array())) {
      ASSIGN_OR_RETURN(const User followed, core_.users().FindByName(name.get<std::string>()));
      const Status status = core_.Follow(user.id, followed.id);
      if (!status.ok() && !HasBeenThere(status)) return status;
    }
  }
  return Status();
}

Result<size_t> Demo::BringPosts(int64_t after, const std::atomic<bool>& stopping) {
  ASSIGN_OR_RETURN(const nlohmann::json posts,
                   outbound_.FetchJson(url_ + "/posts.json?after=" + std::to_string(after) +
                                       "&limit=" + std::to_string(kPostsPerRequest)));
  size_t brought = 0;
  for (const nlohmann::json& post : posts) {
    if (stopping) break;
    RETURN_IF_ERROR(BringPost(post));
    ++brought;
  }
  return brought;
}

Status Demo::BringPost(const nlohmann::json& post) {
  ASSIGN_OR_RETURN(kit::JsonFields fields, FieldsOf(post));
  const int64_t number = fields.Integer("number", {.min = 1});
  const int64_t seconds = fields.Integer("time", {.min = 0});
  const std::string username = fields.Text("username", {});
  const std::string caption = fields.Text("caption", {});
  RETURN_IF_ERROR(fields.status());
  ASSIGN_OR_RETURN(const User author, core_.users().FindByName(username));
  MediaStore::Upload upload(media_, "demo");
  ASSIGN_OR_RETURN(const std::vector<Media> media, BringPictures(post, &upload));
  const Result<Post> answer = core_.CreatePost(author, caption, media, seconds);
  if (!answer.ok()) {
    if (MayHaveBeenCreated(answer.status())) upload.KeepInDoubt();
    return answer.status();
  }
  const Post& created = *answer;
  upload.Keep();
  for (const nlohmann::json& name : post.value("likes", nlohmann::json::array())) {
    ASSIGN_OR_RETURN(const User user, core_.users().FindByName(name.get<std::string>()));
    const Status liked = core_.Like(created.key.id, user.id);
    if (!liked.ok() && !HasBeenThere(liked)) return liked;
  }
  for (const nlohmann::json& comment : post.value("comments", nlohmann::json::array())) {
    ASSIGN_OR_RETURN(const User user,
                     core_.users().FindByName(comment.at("username").get<std::string>()));
    RETURN_IF_ERROR(core_.comments()
                        .Create({.post_id = created.key.id,
                                 .user_id = user.id,
                                 .username = user.username,
                                 .text = comment.at("text").get<std::string>()})
                        .status());
  }
  return collections_.demo().Set({{"last_number", number}}).status();
}

Result<std::vector<Media>> Demo::BringPictures(const nlohmann::json& post,
                                               MediaStore::Upload* upload) {
  // Picture paths are relative to the service: "pictures/12-0.webp".
  std::vector<Media> media;
  for (const nlohmann::json& path : post.value("pictures", nlohmann::json::array())) {
    ASSIGN_OR_RETURN(const kit::HttpResponse picture,
                     outbound_.Send({.url = url_ + "/" + path.get<std::string>()}));
    if (picture.status != 200) {
      return Status(Code::kUnavailable, "cannot fetch a picture for the demo");
    }
    ASSIGN_OR_RETURN(media.emplace_back(), upload->Add(picture.body));
  }
  return media;
}

Result<int64_t> Demo::LastNumber() const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot document, collections_.demo().Get());
  const std::optional<client::Value> number = document.Get("last_number");
  return number ? number->integer().value_or(0) : 0;
}

}  // namespace hearth::feed
