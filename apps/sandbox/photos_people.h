#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "apps/sandbox/lot.h"
#include "apps/sandbox/photos_scenes.h"

namespace hearth::sandbox {

// A person who posts. All are made up.
struct Person {
  std::string_view username;
  std::string_view display_name;
  std::string_view bio;
  std::array<Scene, 3> scenes;  // Subjects; the first is the most frequent.
};

std::span<const Person> People();

// The author's caption of a picture; sometimes "".
std::string_view MakeCaption(Lot& lot, Scene scene);
// A comment by another person.
std::string_view MakeComment(Lot& lot, Scene scene);

}  // namespace hearth::sandbox
