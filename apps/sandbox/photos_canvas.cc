#include "apps/sandbox/photos_canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth::sandbox {
namespace {

float Smooth(float share) { return share * share * (3 - 2 * share); }
float Clamp01(float share) { return std::clamp(share, 0.0f, 1.0f); }

uint8_t ToByte(float part) { return static_cast<uint8_t>(Clamp01(part) * 255 + 0.5f); }

// The signed distance of a point from the line through `a` and `b`.
float SideOf(Point a, Point b, float x, float y) {
  const float length = std::hypot(b.x - a.x, b.y - a.y);
  return ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / std::max(length, 1e-3f);
}

struct Span {
  float begin;
  float end;
};
// The part of a span where `slope` times the position lies between two numbers.
Span Narrow(const Span& span, float slope, float low, float high) {
  if (std::abs(slope) < 1e-4f) return span;
  const float a = low / slope;
  const float b = high / slope;
  return {std::max(span.begin, std::min(a, b)), std::min(span.end, std::max(a, b))};
}

}  // namespace

Color MixAlong(std::span<const Color> stops, float share) {
  const float place = Clamp01(share) * static_cast<float>(stops.size() - 1);
  const size_t index = std::min(static_cast<size_t>(place), stops.size() - 2);
  return Mix(stops[index], stops[index + 1], place - static_cast<float>(index));
}

Outline MakeOutline(Lot& lot, int width, const OutlineShape& shape) {
  Outline outline(static_cast<size_t>(width), shape.base);
  float amplitude = shape.amplitude;
  float period = shape.period;
  for (int octave = 0; octave < shape.octaves; ++octave) {
    std::vector<float> knots(static_cast<size_t>(static_cast<float>(width) / period) + 3);
    for (float& knot : knots) knot = static_cast<float>(lot.Share()) * 2 - 1;
    const auto shift = static_cast<float>(lot.Share());
    for (int x = 0; x < width; ++x) {
      const float place = static_cast<float>(x) / period + shift;
      const auto index = static_cast<size_t>(place);
      const float share = Smooth(place - static_cast<float>(index));
      outline[static_cast<size_t>(x)] +=
          amplitude * (knots[index] + (knots[index + 1] - knots[index]) * share);
    }
    amplitude *= shape.roughness;
    period /= 2;
  }
  return outline;
}

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)) {}

Canvas::Box Canvas::Clip(float left, float top, float right, float bottom) const {
  const auto within = [](float place, int size) {
    return static_cast<int>(std::clamp(place, 0.0f, static_cast<float>(size)));
  };
  return {within(left, width_), within(top, height_), within(right + 1, width_),
          within(bottom + 1, height_)};
}

void Canvas::FillGradient(float top, float bottom, std::span<const Color> stops) {
  const Box box = Clip(0, top, static_cast<float>(width_), bottom);
  for (int y = box.top; y < box.bottom; ++y) {
    const Color color = MixAlong(stops, (static_cast<float>(y) - top) / (bottom - top));
    std::fill_n(&at(0, y), width_, color);
  }
}

void Canvas::FillRect(Point top_left, Point bottom_right, const Color& color, float alpha) {
  const Box box = Clip(top_left.x, top_left.y, bottom_right.x - 1, bottom_right.y - 1);
  for (int y = box.top; y < box.bottom; ++y) {
    for (int x = box.left; x < box.right; ++x) Blend(x, y, color, alpha);
  }
}

void Canvas::FillDisc(Point center, float radius, const Color& color, float alpha, float softness) {
  const float reach = radius + softness / 2;
  const float full = std::max(0.0f, radius - softness / 2);
  const Box box = Clip(center.x - reach, center.y - reach, center.x + reach, center.y + reach);
  for (int y = box.top; y < box.bottom; ++y) {
    const float dy = static_cast<float>(y) - center.y;
    for (int x = box.left; x < box.right; ++x) {
      const float dx = static_cast<float>(x) - center.x;
      const float square = dx * dx + dy * dy;
      if (square >= reach * reach) continue;
      const bool is_full = square <= full * full;
      const float cover = is_full ? 1 : Clamp01((radius - std::sqrt(square)) / softness + 0.5f);
      Blend(x, y, color, cover * alpha);
    }
  }
}

void Canvas::FillRing(Point center, float radius, float thickness, const Color& color) {
  const Box box = Clip(center.x - radius, center.y - radius, center.x + radius, center.y + radius);
  for (int y = box.top; y < box.bottom; ++y) {
    const float dy = static_cast<float>(y) - center.y;
    for (int x = box.left; x < box.right; ++x) {
      const float dx = static_cast<float>(x) - center.x;
      const float distance = std::sqrt(dx * dx + dy * dy);
      const float inside = std::min(radius - distance, distance - (radius - thickness));
      const float cover = Clamp01(inside + 0.5f);
      if (cover > 0) Blend(x, y, color, cover);
    }
  }
}

void Canvas::FillTriangle(Point a, Point b, Point c, const Color& color) {
  if (SideOf(a, b, c.x, c.y) < 0) std::swap(b, c);
  const Box box = Clip(std::min({a.x, b.x, c.x}) - 1, std::min({a.y, b.y, c.y}) - 1,
                       std::max({a.x, b.x, c.x}) + 1, std::max({a.y, b.y, c.y}) + 1);
  for (int y = box.top; y < box.bottom; ++y) {
    for (int x = box.left; x < box.right; ++x) {
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      const float inside =
          std::min({SideOf(a, b, fx, fy), SideOf(b, c, fx, fy), SideOf(c, a, fx, fy)});
      const float cover = Clamp01(inside + 0.5f);
      if (cover > 0) Blend(x, y, color, cover);
    }
  }
}

void Canvas::AddGlow(Point center, float radius, const Color& color, float strength) {
  const Box box = Clip(center.x - radius, center.y - radius, center.x + radius, center.y + radius);
  const float inverse = 1 / (radius * radius);
  for (int y = box.top; y < box.bottom; ++y) {
    const float dy = static_cast<float>(y) - center.y;
    for (int x = box.left; x < box.right; ++x) {
      const float dx = static_cast<float>(x) - center.x;
      const float near = 1 - (dx * dx + dy * dy) * inverse;
      if (near <= 0) continue;
      // Additive light, bounded by white.
      Color& pixel = at(x, y);
      const float light = near * near * near * strength;
      pixel.r += (1 - pixel.r) * color.r * light;
      pixel.g += (1 - pixel.g) * color.g * light;
      pixel.b += (1 - pixel.b) * color.b * light;
    }
  }
}

void Canvas::FillBelow(const Outline& outline, float end, const Color& top, const Color& bottom,
                       float fade) {
  const float highest = std::ranges::min(outline);
  const Box box = Clip(0, highest - 1, static_cast<float>(width_), end);
  for (int y = box.top; y < box.bottom; ++y) {
    const auto fy = static_cast<float>(y);
    Color* const row = &at(0, y);
    for (int x = 0; x < width_; ++x) {
      const float depth = fy - outline[static_cast<size_t>(x)] + 0.5f;
      if (depth <= 0) continue;
      const Color color = Mix(top, bottom, std::min(depth / fade, 1.0f));
      row[x] = depth < 1 ? Mix(row[x], color, depth) : color;
    }
  }
}

void Canvas::FillPetal(const Petal& petal) {
  const Point root = petal.root;
  const float cosine = std::cos(petal.angle);
  const float sine = std::sin(petal.angle);
  const float half_max = petal.breadth / 2;
  const auto reach = [&](float root_place, float direction, float across) {
    const float from = root_place + direction * petal.length * petal.hidden;
    const float to = root_place + direction * petal.length;
    const float side = std::abs(across) * half_max + 2;
    return std::pair(std::min(from, to) - side, std::max(from, to) + side);
  };
  const auto [left, right] = reach(root.x, cosine, sine);
  const auto [top, bottom] = reach(root.y, sine, cosine);
  const Box box = Clip(left, top, right, bottom);
  for (int y = box.top; y < box.bottom; ++y) {
    const float dy = static_cast<float>(y) - root.y;
    // Most of the box lies outside the petal, especially if it is slanted.
    Span span = {static_cast<float>(box.left) - root.x, static_cast<float>(box.right) - root.x};
    span = Narrow(span, sine, dy * cosine - half_max, dy * cosine + half_max);
    span = Narrow(span, cosine, petal.length * petal.hidden - dy * sine, petal.length - dy * sine);
    const int begin = std::max(box.left, static_cast<int>(span.begin + root.x));
    const int end = std::min(box.right, static_cast<int>(span.end + root.x) + 1);
    for (int x = begin; x < end; ++x) {
      const float dx = static_cast<float>(x) - root.x;
      const float along = (dx * cosine + dy * sine) / petal.length;
      const float across = std::abs(dy * cosine - dx * sine);
      if (along <= petal.hidden || along >= 1 || across > half_max) continue;
      // Widest at two thirds, round at the tip.
      const float half = half_max * 1.6f * std::sqrt(along * (1 - along * along));
      const float cover = Clamp01(half - across + 0.5f);
      if (cover <= 0) continue;
      const float edge = across / std::max(half, 1.0f);
      Color color = Mix(petal.inner, petal.outer, along);
      color = Mix(color, {1, 1, 1}, 0.14f * (1 - edge) * along);
      color = Mix(color, petal.inner, 0.55f * edge * edge * edge);
      Blend(x, y, color, cover);
    }
  }
}

kit::Image Canvas::Develop(float grain, float vignette) const {
  kit::Image image{.width = width_, .height = height_};
  image.pixels.resize(pixels_.size() * 4);
  uint8_t* to = image.pixels.data();
  const Color* from = pixels_.data();
  uint32_t noise = 0x9e3779b9;
  for (int y = 0; y < height_; ++y) {
    const float dy = 2 * static_cast<float>(y) / static_cast<float>(height_) - 1;
    for (int x = 0; x < width_; ++x, to += 4, ++from) {
      const float dx = 2 * static_cast<float>(x) / static_cast<float>(width_) - 1;
      const float light = 1 - vignette * (dx * dx + dy * dy) * 0.5f;
      noise = noise * 1664525 + 1013904223;
      const float speck = (static_cast<float>(noise >> 8) / 16777216.0f - 0.5f) * grain;
      to[0] = ToByte(from->r * light + speck);
      to[1] = ToByte(from->g * light + speck);
      to[2] = ToByte(from->b * light + speck);
      to[3] = 255;
    }
  }
  return image;
}

}  // namespace hearth::sandbox
