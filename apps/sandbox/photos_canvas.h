#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/sandbox/lot.h"
#include "kit/images/images.h"

namespace hearth::sandbox {

// Linear colour, each channel from 0 to 1.
struct Color {
  float r = 0;
  float g = 0;
  float b = 0;
};

constexpr Color Hex(uint32_t rgb) {
  return {static_cast<float>((rgb >> 16) & 255) / 255, static_cast<float>((rgb >> 8) & 255) / 255,
          static_cast<float>(rgb & 255) / 255};
}
constexpr Color Mix(const Color& from, const Color& to, float share) {
  return {from.r + (to.r - from.r) * share, from.g + (to.g - from.g) * share,
          from.b + (to.b - from.b) * share};
}
// Interpolates along a row of colours; `share` from 0 to 1.
Color MixAlong(std::span<const Color> stops, float share);

// One height per column, from the top.
using Outline = std::vector<float>;

struct OutlineShape {
  float base = 0;          // The mean height.
  float amplitude = 0;     // The deviation in each direction.
  float period = 0;        // Of the slowest wave, in pixels.
  int octaves = 1;         // Each next one is twice as fast.
  float roughness = 0.5f;  // The amplitude of an octave relative to the one before.
};
Outline MakeOutline(Lot& lot, int width, const OutlineShape& shape);

struct Point {
  float x = 0;
  float y = 0;
};

// A canvas for painting layer over layer. Parts outside are clipped.
//
// Threads: one at a time.
class Canvas {
 public:
  Canvas(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  Color& at(int x, int y) {
    return pixels_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)];
  }
  void Blend(int x, int y, const Color& color, float alpha) {
    Color& pixel = at(x, y);
    pixel = Mix(pixel, color, alpha);
  }

  void FillGradient(float top, float bottom, std::span<const Color> stops);
  void FillRect(Point top_left, Point bottom_right, const Color& color, float alpha = 1);
  // `softness`: the width of the edge in pixels.
  void FillDisc(Point center, float radius, const Color& color, float alpha = 1,
                float softness = 1.5f);
  void FillRing(Point center, float radius, float thickness, const Color& color);
  void FillTriangle(Point a, Point b, Point c, const Color& color);
  void AddGlow(Point center, float radius, const Color& color, float strength);
  // Fills the area below the outline, down to `end`; the colour changes over `fade` pixels.
  void FillBelow(const Outline& outline, float end, const Color& top, const Color& bottom,
                 float fade);
  // An almond shape from `root` outwards, lighter along its middle.
  struct Petal {
    Point root;
    float angle;
    float length;
    float breadth;
    float hidden;  // The covered share of its length, which is not painted.
    Color inner;
    Color outer;
  };
  void FillPetal(const Petal& petal);

  // Eight bits per channel, with darker corners and grain that hides banding.
  kit::Image Develop(float grain, float vignette) const;

 private:
  struct Box {
    int left, top, right, bottom;  // The last two are exclusive.
  };
  Box Clip(float left, float top, float right, float bottom) const;

  const int width_;
  const int height_;
  std::vector<Color> pixels_;
};

}  // namespace hearth::sandbox
