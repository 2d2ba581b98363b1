#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "apps/sandbox/lot.h"
#include "apps/sandbox/photos_scenes.h"

namespace hearth::sandbox {

// Somebody who posts. Invented, all of them.
struct Person {
  std::string_view username;
  std::string_view display_name;
  std::string_view bio;
  std::array<Scene, 3> scenes;  // What they take pictures of; the first most often.
};

std::span<const Person> People();

// What somebody says of a picture of theirs; "" now and then.
std::string_view MakeCaption(Lot& lot, Scene scene);
// What others say of it.
std::string_view MakeComment(Lot& lot, Scene scene);

}  // namespace hearth::sandbox
