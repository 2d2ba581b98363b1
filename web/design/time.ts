// Times in readable form.

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export type TimeStyle = 'long' | 'short' | 'narrow';
const formats = new Map<string, Intl.RelativeTimeFormat>();

function formatOf(locale: string, style: TimeStyle): Intl.RelativeTimeFormat {
  const key = `${locale} ${style}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.RelativeTimeFormat(locale, {style, numeric: 'always'});
    formats.set(key, format);
  }
  return format;
}

// "3 hours ago". Whole units, rounded down: 119 minutes is not yet two hours. Clocks differ: a time less than a minute
// ahead counts as now.
export function relativeTime(at: number, now: number, {locale = 'en', style = 'long' as TimeStyle} = {}): string {
  const seconds = Math.trunc((at - now) / 1000);
  if (!Number.isFinite(seconds)) return '';
  for (const [unit, length] of units) {
    const count = Math.trunc(seconds / length);
    if (count !== 0) return formatOf(locale, style).format(count, unit);
  }
  return 'just now';
}

export const exactTime = (at: number, locale = 'en'): string =>
  Number.isFinite(at) ? new Intl.DateTimeFormat(locale, {dateStyle: 'medium', timeStyle: 'short'}).format(at) : '';
