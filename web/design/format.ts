// Numbers and addresses in readable form.

const whole = new Intl.NumberFormat('en');

export const count = (value: number): string => (Number.isFinite(value) ? whole.format(value) : '–');
// Only the word, for numbers that are displayed separately: "post" for 1.
export const noun = (value: number, one: string, many = `${one}s`): string => (value === 1 ? one : many);
export const plural = (value: number, one: string, many?: string): string =>
  `${count(value)} ${noun(value, one, many)}`;

// A server's message as a sentence: "the disk is full" becomes "The disk is full."
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? '' : '.');
}

// An address that may become a link: http and https only. `javascript:` in a story's url is an attack.
export function safeUrl(text: string | undefined): URL | undefined {
  if (!text) return undefined;
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

// "example.com": the host without "www.".
export const siteName = (url: URL): string => url.hostname.replace(/^www\./, '');
