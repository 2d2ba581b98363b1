#include "apps/sandbox/photos_landscapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace hearth::sandbox {
namespace {

// Colours of a time of day: the sky from the top down, the sun, and the far and near ground.
struct Light {
  std::array<Color, 4> sky;
  Color sun;
  Color far;
  Color near;
};
constexpr Light kLights[] = {
    // Dusk, in violet and orange.
    {{Hex(0x2b2d5b), Hex(0x7a4a86), Hex(0xe0787a), Hex(0xffd08a)},
     Hex(0xfff0c2),
     Hex(0xb5708c),
     Hex(0x1d1a36)},
    // A clear morning.
    {{Hex(0x5d9fcf), Hex(0x93c4e0), Hex(0xcfe4ea), Hex(0xfbead0)},
     Hex(0xfffbe8),
     Hex(0xa3c0d0),
     Hex(0x1f3d4d)},
    // The last red.
    {{Hex(0x1b1f3f), Hex(0x5b2b52), Hex(0xc2434f), Hex(0xf79a4f)},
     Hex(0xffdf9a),
     Hex(0x96405a),
     Hex(0x160f24)},
    // Mist, rose and grey.
    {{Hex(0x9fb3c4), Hex(0xc6c9d2), Hex(0xead6d0), Hex(0xf7e6d8)},
     Hex(0xffffff),
     Hex(0xbcc2cf),
     Hex(0x3d4a5c)},
    // The blue hour.
    {{Hex(0x0d1b3d), Hex(0x1f4272), Hex(0x4f7fa8), Hex(0xa9c6cf)},
     Hex(0xf3f6ee),
     Hex(0x4d779c),
     Hex(0x0a1a2e)},
    // Afternoon, green and gold.
    {{Hex(0x3f8f9f), Hex(0x8cc3b4), Hex(0xe6e2ae), Hex(0xf9cf7e)},
     Hex(0xfff6cf),
     Hex(0x8fb3a0),
     Hex(0x1c3a34)},
};

void PaintSky(Canvas& canvas, float horizon, const Light& light) {
  const auto height = static_cast<float>(canvas.height());
  canvas.FillRect({0, horizon}, {static_cast<float>(canvas.width()), height}, light.sky[3]);
  canvas.FillGradient(0, horizon, light.sky);
}

// Rows of hills or trees. Nearer ones cover what is below their tops.
struct Row {
  Outline outline;
  Color top;
  Color bottom;
  float fade;
};
void PaintRows(Canvas& canvas, std::span<const Row> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_last = i + 1 == rows.size();
    const float end =
        is_last ? static_cast<float>(canvas.height()) : std::ranges::max(rows[i + 1].outline) + 1;
    canvas.FillBelow(rows[i].outline, end, rows[i].top, rows[i].bottom, rows[i].fade);
  }
}

void PaintSun(Canvas& canvas, Point sun, float radius, const Light& light) {
  canvas.AddGlow(sun, radius * 11, light.sun, 0.5f);
  canvas.AddGlow(sun, radius * 4, light.sun, 0.55f);
  canvas.FillDisc(sun, radius, light.sun, 1, 3);
}

void PaintBirds(Canvas& canvas, Lot& lot, float top, float bottom, const Color& color) {
  const float x = Between(lot, 0.15f, 0.75f) * static_cast<float>(canvas.width());
  const float y = Between(lot, top, bottom);
  for (int bird = Count(lot, 3, 7); bird > 0; --bird) {
    const Point at = {x + Between(lot, 0, 190), y + Between(lot, 0, 110)};
    const float span = Between(lot, 8, 17);
    for (const float side : {-1.0f, 1.0f}) {
      canvas.FillTriangle(at, {at.x + side * span, at.y - span * 0.55f},
                          {at.x + side * span * 0.5f, at.y - span * 0.15f}, color);
    }
  }
}

// Adds firs to the outline of the ground.
void GrowTrees(Lot& lot, Outline& ground, float tallest, float spacing) {
  const Outline before = ground;
  const auto width = static_cast<float>(ground.size());
  for (float x = -spacing; x < width + spacing; x += spacing * Between(lot, 0.35f, 1.2f)) {
    const float tall = tallest * Between(lot, 0.35f, 1);
    const float half = tall * Between(lot, 0.16f, 0.22f);
    const float step = half / 5;
    const int left = std::max(0, static_cast<int>(x - half));
    const int right = std::min(static_cast<int>(width) - 1, static_cast<int>(x + half));
    for (int column = left; column <= right; ++column) {
      const float away = std::abs(static_cast<float>(column) - x) / half;
      // Branches: each one droops outwards until the next begins.
      const float branch = std::fmod(away * half, step) / step;
      const float top = tall * (1 - away) * (1 - 0.10f * branch) - 0.05f * tall * branch;
      const auto index = static_cast<size_t>(column);
      ground[index] = std::min(ground[index], before[index] - std::max(top, 0.0f));
    }
  }
}

// The water mirrors the sky, darker and distorted by waves, with the sun's reflection.
void PaintWater(Canvas& canvas, Lot& lot, float horizon, float sun_x, const Light& light) {
  const int width = canvas.width();
  const auto height = static_cast<float>(canvas.height());
  const Outline waver = MakeOutline(
      lot, canvas.height(), {.amplitude = 1, .period = 24, .octaves = 3, .roughness = 0.7f});
  for (int y = static_cast<int>(horizon); y < canvas.height(); ++y) {
    const float depth = (static_cast<float>(y) - horizon) / (height - horizon);
    const Color mirrored = MixAlong(light.sky, 1 - depth * 0.9f);
    const float wave = waver[static_cast<size_t>(y)];
    const Color water = Mix(mirrored, light.near, 0.28f + 0.42f * depth + 0.06f * wave);
    std::fill_n(&canvas.at(0, y), width, water);
    const float path = static_cast<float>(width) * (0.025f + 0.13f * depth);
    const float shift = sun_x + wave * path * 0.5f;
    for (int x = 0; x < width; ++x) {
      const float away = (static_cast<float>(x) - shift) / path;
      const float shine = std::exp(-away * away) * (0.62f + 0.3f * wave) * (1 - 0.55f * depth);
      canvas.Blend(x, y, light.sun, std::clamp(shine, 0.0f, 1.0f));
    }
  }
  for (int glint = 0; glint < 420; ++glint) {
    const float depth = Between(lot, 0.01f, 1);
    const float y = horizon + (height - horizon) * depth * depth;
    const float length = (8 + 90 * depth) * Between(lot, 0.4f, 1.2f);
    const float x = Between(lot, -length, static_cast<float>(width));
    const bool is_bright = lot.OneIn(2);
    canvas.FillRect({x, y}, {x + length, y + 1 + 3.2f * depth},
                    is_bright ? light.sky[3] : light.near, is_bright ? 0.16f : 0.14f);
  }
}

// One row of trees in fog: paler towards the ground.
struct Fog {
  Color top;
  Color bottom;
  float begin;
  float fade;

  Color At(int y) const {
    return Mix(top, bottom, std::clamp((static_cast<float>(y) - begin) / fade, 0.0f, 1.0f));
  }
};

// Tiers of branches, each wider than the one above, with uneven sides.
void PaintFir(Canvas& canvas, Lot& lot, Point foot, float tall, const Fog& fog) {
  const auto tiers = static_cast<float>(Count(lot, 7, 11));
  const float breadth = tall * Between(lot, 0.17f, 0.23f);
  const float top = foot.y - tall;
  const int end = std::min(canvas.height(), static_cast<int>(foot.y));
  for (int y = std::max(0, static_cast<int>(std::ceil(top))); y < end; ++y) {
    const float share = (static_cast<float>(y) - top) / tall;
    const float within_tier = share * tiers - std::floor(share * tiers);
    const float half = 1 + breadth * (0.6f * share + 0.4f * within_tier * (0.2f + share));
    const float left = foot.x - half * Between(lot, 0.88f, 1.08f);
    const float right = foot.x + half * Between(lot, 0.88f, 1.08f);
    canvas.FillRect({left, static_cast<float>(y)}, {right, static_cast<float>(y) + 1}, fog.At(y));
  }
}

void PaintGround(Canvas& canvas, const Outline& ground, const Fog& fog) {
  for (int y = std::max(0, static_cast<int>(std::ranges::min(ground))); y < canvas.height(); ++y) {
    const Color color = fog.At(y);
    for (int x = 0; x < canvas.width(); ++x) {
      const float depth = static_cast<float>(y) - ground[static_cast<size_t>(x)] + 0.5f;
      if (depth > 0) canvas.Blend(x, y, color, std::min(depth, 1.0f));
    }
  }
}

struct Sands {
  std::array<Color, 3> sky;
  Color sun;
  Color lit;
  Color shade;
};
constexpr Sands kSands[] = {
    {{Hex(0x4f8fb8), Hex(0x9cc5d3), Hex(0xf6e3c5)}, Hex(0xfffdf0), Hex(0xf0c27c), Hex(0x9a5a35)},
    {{Hex(0x3a2c5c), Hex(0xb35a6e), Hex(0xf9b27a)}, Hex(0xffe7b5), Hex(0xe8895a), Hex(0x5a2745)},
    {{Hex(0xc7a9a0), Hex(0xe8cdb9), Hex(0xf9ead3)}, Hex(0xffffff), Hex(0xe9c6a4), Hex(0xa87460)},
};

void PaintDune(Canvas& canvas, Lot& lot, const Sands& sands, const Outline& crest, float end,
               float nearness) {
  const auto width = static_cast<float>(canvas.width());
  const float bend = Between(lot, 0.15f, 0.3f) * width;
  const float period = Between(lot, 170, 280);
  const Outline fold = MakeOutline(lot, canvas.height(),
                                   {.base = width * Between(lot, 0.3f, 0.7f),
                                    .amplitude = bend,
                                    .period = period * 1.7f,
                                    .octaves = 2,
                                    .roughness = 0.3f});
  const Color air = sands.sky[2];
  const Color lit = Mix(Mix(sands.lit, air, 0.45f), sands.lit, nearness);
  const Color shade = Mix(Mix(sands.shade, air, 0.45f), sands.shade, nearness);
  const int top = std::max(0, static_cast<int>(std::ranges::min(crest)) - 1);
  const int bottom = std::min(canvas.height(), static_cast<int>(end) + 2);
  for (int y = top; y < bottom; ++y) {
    const float ridge = fold[static_cast<size_t>(y)];
    for (int x = 0; x < canvas.width(); ++x) {
      const float depth = static_cast<float>(y) - crest[static_cast<size_t>(x)] + 0.5f;
      if (depth <= 0) continue;
      // The fold down from the crest separates light from shadow, sharply at its top.
      const float side = (static_cast<float>(x) - ridge) / (4 + depth * 0.35f);
      const float dark = std::clamp(0.5f + side * 0.5f, 0.0f, 1.0f);
      const float fade = std::min(depth / (static_cast<float>(canvas.height()) * 0.35f), 1.0f);
      Color color = Mix(lit, shade, dark * (0.85f - 0.45f * fade));
      color = Mix(color, shade, 0.25f * fade);
      canvas.Blend(x, y, color, std::min(depth, 1.0f));
    }
  }
}

}  // namespace

void PaintMountains(Canvas& canvas, Lot& lot) {
  const Light& light = Pick(lot, kLights);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  const float horizon = height * Between(lot, 0.5f, 0.62f);
  PaintSky(canvas, horizon, light);
  PaintSun(canvas, {width * Between(lot, 0.2f, 0.8f), horizon * Between(lot, 0.4f, 0.8f)},
           width * Between(lot, 0.03f, 0.055f), light);
  if (lot.OneIn(2)) PaintBirds(canvas, lot, horizon * 0.2f, horizon * 0.6f, light.near);
  const int ridges = Count(lot, 5, 7);
  std::vector<Row> rows;
  for (int i = 0; i < ridges; ++i) {
    const float nearness = static_cast<float>(i) / static_cast<float>(ridges - 1);
    Outline outline = MakeOutline(lot, canvas.width(),
                                  {.base = horizon + (height * 0.93f - horizon) * nearness,
                                   .amplitude = height * (0.11f - 0.035f * nearness),
                                   .period = width * (0.33f + 0.25f * nearness),
                                   .octaves = 7 - i / 2,
                                   .roughness = 0.47f});
    if (i >= ridges - 2) GrowTrees(lot, outline, height * (0.03f + 0.05f * nearness), 24);
    const Color color = Mix(light.far, light.near, nearness * nearness * 0.6f + nearness * 0.4f);
    // Mist lies in the valleys.
    rows.push_back({.outline = std::move(outline),
                    .top = color,
                    .bottom = Mix(color, light.sky[3], 0.5f * (1 - nearness)),
                    .fade = height * 0.2f});
  }
  PaintRows(canvas, rows);
}

void PaintSea(Canvas& canvas, Lot& lot) {
  const Light& light = Pick(lot, kLights);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  const float horizon = height * Between(lot, 0.46f, 0.6f);
  canvas.FillGradient(0, horizon, light.sky);
  const float sun_x = width * Between(lot, 0.25f, 0.75f);
  PaintSun(canvas, {sun_x, horizon - height * Between(lot, 0.01f, 0.16f)},
           width * Between(lot, 0.04f, 0.065f), light);
  const Outline coast = MakeOutline(lot, canvas.width(),
                                    {.base = horizon + height * 0.005f,
                                     .amplitude = height * 0.035f,
                                     .period = width * 0.4f,
                                     .octaves = 5,
                                     .roughness = 0.45f});
  canvas.FillBelow(coast, horizon, Mix(light.far, light.near, 0.25f), light.far, height * 0.05f);
  PaintWater(canvas, lot, horizon, sun_x, light);
  if (lot.OneIn(2)) PaintBirds(canvas, lot, horizon * 0.25f, horizon * 0.6f, light.near);
  if (!lot.OneIn(3)) {  // A boat.
    const float x = width * Between(lot, 0.15f, 0.85f);
    const float y = horizon + height * Between(lot, 0.03f, 0.1f);
    const float size = height * Between(lot, 0.035f, 0.06f);
    const Color sail = Mix(light.near, light.sky[3], 0.25f);
    canvas.FillTriangle({x, y - size * 1.6f}, {x, y}, {x + size * 0.75f, y}, sail);
    canvas.FillTriangle({x - 3, y - size * 1.3f}, {x - 3, y}, {x - size * 0.5f, y}, sail);
    canvas.FillTriangle({x - size * 0.6f, y + 3}, {x + size * 0.85f, y + 3}, {x, y + size * 0.35f},
                        light.near);
    canvas.FillRect({x - size * 0.4f, y + 3}, {x + size * 0.6f, y + size * 0.22f}, light.near);
  }
  if (lot.OneIn(2)) {  // The near shore.
    const Outline shore = MakeOutline(lot, canvas.width(),
                                      {.base = height * 0.97f,
                                       .amplitude = height * 0.055f,
                                       .period = width * 0.6f,
                                       .octaves = 7,
                                       .roughness = 0.5f});
    canvas.FillBelow(shore, height, Mix(light.near, light.far, 0.12f), light.near, height * 0.05f);
  }
}

void PaintForest(Canvas& canvas, Lot& lot) {
  const Light& light = Pick(lot, kLights);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  PaintSky(canvas, height * 0.6f, light);
  PaintSun(canvas, {width * Between(lot, 0.25f, 0.75f), height * Between(lot, 0.18f, 0.4f)},
           width * Between(lot, 0.025f, 0.05f), light);
  if (lot.OneIn(3)) PaintBirds(canvas, lot, height * 0.1f, height * 0.25f, light.near);
  constexpr int kRows = 6;
  for (int row = 0; row < kRows; ++row) {
    const float nearness = static_cast<float>(row) / (kRows - 1);
    const float base = height * (0.56f + 0.46f * nearness);
    const float tallest = height * (0.08f + 0.34f * nearness * nearness);
    const Outline ground = MakeOutline(lot, canvas.width(),
                                       {.base = base,
                                        .amplitude = height * 0.04f,
                                        .period = width * 0.5f,
                                        .octaves = 3,
                                        .roughness = 0.4f});
    const Color color = Mix(Mix(light.far, light.sky[3], 0.3f), light.near, nearness);
    const Fog fog = {.top = color,
                     .bottom = Mix(color, light.sky[3], 0.7f * (1 - nearness)),
                     .begin = base - tallest * 0.7f,
                     .fade = tallest * 0.7f + height * 0.1f};
    PaintGround(canvas, ground, fog);
    const float spacing = tallest * 0.24f;
    for (float x = Between(lot, -spacing, 0); x < width; x += spacing * Between(lot, 0.4f, 1.7f)) {
      const auto column = static_cast<size_t>(std::clamp(x, 0.0f, width - 1));
      PaintFir(canvas, lot, {x, ground[column] + height * 0.02f}, tallest * Between(lot, 0.45f, 1),
               fog);
    }
  }
}

void PaintDunes(Canvas& canvas, Lot& lot) {
  const Sands& sands = Pick(lot, kSands);
  const auto width = static_cast<float>(canvas.width());
  const auto height = static_cast<float>(canvas.height());
  const float horizon = height * Between(lot, 0.42f, 0.55f);
  canvas.FillGradient(0, horizon * 1.2f, sands.sky);
  const Point sun = {width * Between(lot, 0.15f, 0.6f), horizon * Between(lot, 0.35f, 0.75f)};
  canvas.AddGlow(sun, width * 0.5f, sands.sun, 0.5f);
  canvas.FillDisc(sun, width * Between(lot, 0.03f, 0.05f), sands.sun, 1, 3);
  constexpr int kRows = 4;
  std::array<Outline, kRows> crests;
  for (int row = 0; row < kRows; ++row) {
    const float nearness = static_cast<float>(row) / (kRows - 1);
    crests[static_cast<size_t>(row)] =
        MakeOutline(lot, canvas.width(),
                    {.base = horizon + (height * 0.82f - horizon) * nearness,
                     .amplitude = height * (0.04f + 0.07f * nearness),
                     .period = width * (0.35f + 0.3f * nearness),
                     .octaves = 2,
                     .roughness = 0.3f});
  }
  for (size_t row = 0; row < kRows; ++row) {
    const float end = row + 1 == kRows ? height : std::ranges::max(crests[row + 1]);
    PaintDune(canvas, lot, sands, crests[row], end, static_cast<float>(row) / (kRows - 1));
  }
}

}  // namespace hearth::sandbox
