#include "apps/sandbox/photos_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "apps/sandbox/photos_canvas.h"
#include "apps/sandbox/photos_landscapes.h"

namespace hearth::sandbox {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;

struct Size {
  int width;
  int height;
};
constexpr Size kSizes[] = {{1080, 1080}, {1080, 1350}, {1080, 1350}, {1350, 1080}};

struct Night {
  std::array<Color, 3> sky;
  Color far;
  Color near;
};
constexpr Night kNights[] = {
    {{Hex(0x070b1f), Hex(0x1a2350), Hex(0x6d4a7c)}, Hex(0x3a3563), Hex(0x0a0c1c)},
    {{Hex(0x061421), Hex(0x123a52), Hex(0x3f7f86)}, Hex(0x24505f), Hex(0x05101a)},
    {{Hex(0x140a1e), Hex(0x44204f), Hex(0xc0605a)}, Hex(0x5d3359), Hex(0x100818)},
};
constexpr Color kWindows[] = {Hex(0xffd27a), Hex(0xffe6b0), Hex(0xffb35c), Hex(0xbfe3ff),
                              Hex(0xffd27a)};

void PaintTower(Canvas& canvas, Lot& lot, Point top_left, float right, float bottom,
                const Color& wall, float light) {
  canvas.FillRect(top_left, {right, bottom}, wall);
  if (lot.OneIn(4)) {
    const float middle = (top_left.x + right) / 2;
    canvas.FillRect({middle - 2, top_left.y - 46}, {middle + 2, top_left.y}, wall);
    canvas.FillDisc({middle, top_left.y - 47}, 3, Hex(0xff5a4f), light);
  }
  const float step_x = Between(lot, 13, 19);
  const float step_y = Between(lot, 17, 25);
  const float share = Between(lot, 0.25f, 0.6f);
  for (float y = top_left.y + 14; y < bottom - 10; y += step_y) {
    for (float x = top_left.x + 9; x < right - 12; x += step_x) {
      if (static_cast<float>(lot.Share()) > share) continue;
      canvas.FillRect({x, y}, {x + step_x * 0.5f, y + step_y * 0.48f}, Pick(lot, kWindows),
                      light * Between(lot, 0.45f, 1));
    }
  }
}

void PaintCity(Canvas& canvas, Lot& lot) {
  const Night& night = Pick(lot, kNights);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  const float quay = height * Between(lot, 0.68f, 0.78f);
  canvas.FillGradient(0, quay, night.sky);
  for (int star = Count(lot, 60, 160); star > 0; --star) {
    canvas.FillDisc({Between(lot, 0, width), Between(lot, 0, quay * 0.6f)},
                    Between(lot, 0.4f, 1.3f), {1, 1, 1}, Between(lot, 0.2f, 0.8f));
  }
  const Point moon = {width * Between(lot, 0.15f, 0.85f), height * Between(lot, 0.08f, 0.22f)};
  const float radius = width * Between(lot, 0.025f, 0.045f);
  canvas.AddGlow(moon, radius * 7, Hex(0xfff4d8), 0.4f);
  canvas.FillDisc(moon, radius, Hex(0xfff4d8), 1, 2);
  canvas.AddGlow({width / 2, quay}, width * 0.8f, Hex(0xff9a5a), 0.4f);
  for (int row = 0; row < 3; ++row) {
    const float nearness = static_cast<float>(row) / 2;
    const Color wall = Mix(night.far, night.near, nearness);
    for (float x = -20; x < width;) {
      const float right = x + Between(lot, 60, 130) * (0.75f + 0.4f * nearness);
      const float tall = height * Between(lot, 0.12f, 0.46f) * (1 - 0.38f * nearness);
      PaintTower(canvas, lot, {x, quay - tall}, right, quay, wall, 0.4f + 0.6f * nearness);
      x = right + Between(lot, -8, 26);
    }
  }
  // The river reflects it all, in pieces.
  const Outline waver = MakeOutline(
      lot, canvas.height(), {.amplitude = 1, .period = 14, .octaves = 3, .roughness = 0.8f});
  for (int y = static_cast<int>(quay); y < canvas.height(); ++y) {
    const float depth = (static_cast<float>(y) - quay) / (height - quay);
    const int from = std::max(0, static_cast<int>(2 * quay - static_cast<float>(y) * 1.0f) - 1);
    const auto shift = static_cast<int>(waver[static_cast<size_t>(y)] * (3 + 22 * depth));
    for (int x = 0; x < canvas.width(); ++x) {
      const int column = std::clamp(x + shift, 0, canvas.width() - 1);
      canvas.at(x, y) = Mix(canvas.at(column, from), night.near, 0.3f + 0.35f * depth);
    }
  }
  canvas.FillRect({0, quay - 3}, {width, quay + 4}, night.near);
}

struct Bed {
  Color ground;
  Color ground_far;
  std::array<Color, 3> inner;
  std::array<Color, 3> outer;
  Color heart;
};
constexpr Bed kBeds[] = {
    {Hex(0x1f3b2f),
     Hex(0x4d7358),
     {Hex(0xb3264b), Hex(0xc2476b), Hex(0x8f1d4a)},
     {Hex(0xff8fa3), Hex(0xffc2cf), Hex(0xf2668b)},
     Hex(0xf5c45a)},
    {Hex(0xf2e4d4),
     Hex(0xfbf4ea),
     {Hex(0xd9722e), Hex(0xe39a3b), Hex(0xb8502b)},
     {Hex(0xffc06b), Hex(0xffe0a3), Hex(0xf59a62)},
     Hex(0x6b3a1e)},
    {Hex(0x22284a),
     Hex(0x47538a),
     {Hex(0x5a3fa0), Hex(0x7b62c9), Hex(0x3f4fb0)},
     {Hex(0xc9b6ff), Hex(0xe8defc), Hex(0x9db4ff)},
     Hex(0xffdf80)},
    {Hex(0xcfdccf),
     Hex(0xeef2e6),
     {Hex(0xd7c6b4), Hex(0xe6b9b0), Hex(0xcfd0c0)},
     {Hex(0xffffff), Hex(0xfff1ec), Hex(0xfdfbf2)},
     Hex(0xe9b949)},
};

void PaintBlossom(Canvas& canvas, Lot& lot, const Bed& bed, Point center, float radius) {
  const size_t kind = lot.Below(3);
  const int rows = Count(lot, 3, 5);
  const int petals = Count(lot, 11, 16);
  canvas.FillDisc({center.x + radius * 0.05f, center.y + radius * 0.1f}, radius * 0.8f,
                  Mix(bed.ground, {0, 0, 0}, 0.4f), 0.45f, radius * 0.5f);
  for (int row = 0; row < rows; ++row) {
    const float share = static_cast<float>(row) / static_cast<float>(rows);
    const float length = radius * (1 - 0.72f * share);
    const float turn = Between(lot, 0, kTurn);
    for (int petal = 0; petal < petals; ++petal) {
      const float angle = turn + kTurn * (static_cast<float>(petal) + Between(lot, -0.12f, 0.12f)) /
                                     static_cast<float>(petals);
      const Color inner = Mix(bed.inner[kind], {0, 0, 0}, 0.25f * (1 - share));
      canvas.FillPetal(
          {.root = center,
           .angle = angle,
           .length = length * Between(lot, 0.92f, 1.04f),
           .breadth = length * kTurn / static_cast<float>(petals) * 1.25f,
           .hidden = row + 1 == rows ? 0 : 0.6f * (1 - 0.72f / static_cast<float>(rows)),
           .inner = inner,
           .outer = bed.outer[kind]});
    }
  }
  const float heart = radius * Between(lot, 0.1f, 0.17f);
  canvas.FillDisc(center, heart, Mix(bed.heart, bed.inner[kind], 0.35f), 1, 3);
  for (int seed = 0; seed < 90; ++seed) {  // Arranged as in sunflowers.
    const float away = heart * std::sqrt(static_cast<float>(seed) / 90);
    const float angle = static_cast<float>(seed) * 2.39996f;
    canvas.FillDisc({center.x + std::cos(angle) * away, center.y + std::sin(angle) * away},
                    heart * 0.075f, bed.heart);
  }
}

void PaintFlowers(Canvas& canvas, Lot& lot) {
  const Bed& bed = Pick(lot, kBeds);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  const Color ground[] = {bed.ground_far, bed.ground};
  canvas.FillGradient(0, height, ground);
  for (int spot = Count(lot, 14, 26); spot > 0; --spot) {  // Out of focus.
    const Point at = {Between(lot, 0, width), Between(lot, 0, height)};
    const size_t shade = static_cast<size_t>(spot) % bed.outer.size();
    canvas.FillDisc(at, Between(lot, 25, 105), lot.OneIn(2) ? bed.ground_far : bed.outer[shade],
                    Between(lot, 0.06f, 0.2f), 16);
  }
  const Color leaf = Mix(Hex(0x4f7a4a), bed.ground, 0.35f);
  const Point center = {width * Between(lot, 0.4f, 0.6f), height * Between(lot, 0.4f, 0.58f)};
  const float radius = std::min(width, height) * Between(lot, 0.27f, 0.36f);
  for (int i = Count(lot, 6, 9); i > 0; --i) {
    const float angle = Between(lot, 0, kTurn);
    canvas.FillPetal({.root = center,
                      .angle = angle,
                      .length = radius * Between(lot, 1.15f, 1.6f),
                      .breadth = radius * Between(lot, 0.3f, 0.45f),
                      .hidden = 0.4f,
                      .inner = Mix(leaf, {0, 0, 0}, 0.35f),
                      .outer = leaf});
  }
  for (int small = Count(lot, 3, 5); small > 0; --small) {
    const float angle = Between(lot, 0, kTurn);
    const float away = radius * Between(lot, 1.25f, 1.75f);
    PaintBlossom(canvas, lot, bed,
                 {center.x + std::cos(angle) * away, center.y + std::sin(angle) * away},
                 radius * Between(lot, 0.28f, 0.55f));
  }
  PaintBlossom(canvas, lot, bed, center, radius);
}

using Inks = std::array<Color, 5>;  // The paper first.
constexpr Inks kInks[] = {
    {Hex(0xf3ead8), Hex(0xd9482b), Hex(0xf0b02f), Hex(0x20506b), Hex(0x1e1f26)},
    {Hex(0xf5eee6), Hex(0xe58f7b), Hex(0xf3c9b5), Hex(0x5b8a80), Hex(0x23403d)},
    {Hex(0xefe9f4), Hex(0x6c4fa3), Hex(0xf29cb7), Hex(0xf7c948), Hex(0x2a2350)},
    {Hex(0xe9f0ee), Hex(0x2f7f8f), Hex(0x9cc9c1), Hex(0xf08a4b), Hex(0x12313c)},
};

void PaintTile(Canvas& canvas, Lot& lot, const Inks& inks, Point at, float size) {
  const size_t back = lot.Below(inks.size());
  const Color& ground = inks[back];
  const Color& ink = inks[(back + 1 + lot.Below(inks.size() - 1)) % inks.size()];
  Canvas tile(static_cast<int>(size), static_cast<int>(size));  // Clips shapes at its edges.
  tile.FillRect({0, 0}, {size, size}, ground);
  const Point corner = {lot.OneIn(2) ? 0 : size, lot.OneIn(2) ? 0 : size};
  switch (lot.Below(7)) {
    case 0:
      tile.FillDisc(corner, size, ink);
      break;
    case 1:
      tile.FillDisc({size / 2, corner.y}, size / 2, ink);
      break;
    case 2:
      tile.FillDisc({size / 2, size / 2}, size * 0.36f, ink);
      tile.FillDisc({size / 2, size / 2}, size * 0.16f, ground);
      break;
    case 3:
      for (int ring = 0; ring < 4; ++ring) {
        tile.FillRing(corner, size * (1 - 0.25f * static_cast<float>(ring)), size * 0.125f, ink);
      }
      break;
    case 4:
      tile.FillTriangle(corner, {size - corner.x, corner.y}, {corner.x, size - corner.y}, ink);
      break;
    case 5:
      for (int stripe = 0; stripe < 4; ++stripe) {
        const float top = size * 0.25f * static_cast<float>(stripe);
        tile.FillRect({0, top}, {size, top + size * 0.125f}, ink);
      }
      break;
    default:
      tile.FillDisc({0, size / 2}, size / 2, ink);
      tile.FillDisc({size, size / 2}, size / 2, ink);
  }
  for (int y = 0; y < tile.height(); ++y) {
    for (int x = 0; x < tile.width(); ++x) {
      canvas.at(static_cast<int>(at.x) + x, static_cast<int>(at.y) + y) = tile.at(x, y);
    }
  }
}

void PaintPoster(Canvas& canvas, Lot& lot) {
  const Inks& inks = Pick(lot, kInks);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  canvas.FillRect({0, 0}, {width, height}, inks[0]);
  const int across = Count(lot, 3, 5);
  const float margin = width * 0.07f;
  const float size = std::floor((width - 2 * margin) / static_cast<float>(across));
  const int down = static_cast<int>((height - 2 * margin) / size);
  const float left = std::floor((width - size * static_cast<float>(across)) / 2);
  const float top = std::floor((height - size * static_cast<float>(down)) / 2);
  for (int row = 0; row < down; ++row) {
    for (int column = 0; column < across; ++column) {
      PaintTile(canvas, lot, inks,
                {left + size * static_cast<float>(column), top + size * static_cast<float>(row)},
                size);
    }
  }
}

}  // namespace

kit::Image PaintScene(Scene scene, uint64_t seed) {
  Lot lot(seed);
  const Size& size = Pick(lot, kSizes);
  Canvas canvas(size.width, size.height);
  switch (scene) {
    case Scene::kMountains:
      PaintMountains(canvas, lot);
      break;
    case Scene::kSea:
      PaintSea(canvas, lot);
      break;
    case Scene::kCity:
      PaintCity(canvas, lot);
      break;
    case Scene::kFlowers:
      PaintFlowers(canvas, lot);
      break;
    case Scene::kPoster:
      PaintPoster(canvas, lot);
      return canvas.Develop(0.03f, 0.04f);
    case Scene::kForest:
      PaintForest(canvas, lot);
      break;
    case Scene::kDunes:
      PaintDunes(canvas, lot);
      break;
  }
  return canvas.Develop(0.022f, 0.16f);
}

}  // namespace hearth::sandbox
