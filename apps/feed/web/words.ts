// Texts for numbers, times and errors.

import {count, sentence} from '#design/format';
import {HttpError} from '#design/http';

const short = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
  roundingMode: 'trunc',
} as Intl.NumberFormatOptions);

// "9,999", then "12.3K": space is limited on phones. Rounded down, to never overstate.
export const shortCount = (value: number): string => (value < 10_000 ? count(value) : short.format(value));

// Counted like on the server: by code points.
export const characters = (text: string): number => [...text].length;

// One or two letters: "Ada Lovelace" is AL, "ada.l" is A.
export function initials(name: string): string {
  const parts = name
    .trim()
    .split(/\s+/)
    .map((part) => [...part].find((c) => /[\p{L}\p{N}]/u.test(c)) ?? '')
    .filter(Boolean);
  return [parts[0], parts.length > 1 ? parts.at(-1) : undefined].join('').toUpperCase() || '?';
}

// A colour per user, the same everywhere. The golden angle separates neighbouring ids.
export const hueOf = (id: number): number => Math.round((id * 137.508) % 360);

export const explain = (error: unknown): string =>
  error instanceof HttpError ? sentence(error.message) : 'Something went wrong. Please try again.';

export const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof HttpError && error.code !== undefined && codes.includes(error.code);

// Whether a caption is longer than a card initially shows.
export const isLong = (caption: string): boolean => characters(caption) > 160 || caption.split('\n').length > 3;

// The aspect ratio of a post's frame, width by height: that of its first picture, within limits.
export function frameRatio(media: readonly {width: number; height: number}[]): number {
  const [first] = media;
  if (!first || first.width <= 0 || first.height <= 0) return 1;
  return Math.min(1.91, Math.max(0.8, first.width / first.height));
}
