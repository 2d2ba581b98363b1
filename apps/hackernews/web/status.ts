// One line about how many stories are listed and how fresh they are, and a louder one when they are not.

import {count, plural} from '#design/format';
import {relativeTime} from '#design/time';
import type {Status} from './api';

export interface StatusLine {
  text: string;
  warn: boolean;
}

// What the list shows; `more`: there are further ones to load.
export interface Listed {
  count: number;
  more: boolean;
}

export const listedText = ({count: shown, more}: Listed): string =>
  more ? `${count(shown)}+ stories` : plural(shown, 'story', 'stories');

const ago = (iso: string | null, now: number) => (iso ? relativeTime(Date.parse(iso), now) : '');

// `status` is null when the reader's own server did not answer.
export function statusLine(status: Status | null, now: number): StatusLine {
  if (!status) return {text: 'The server cannot be reached; showing what was loaded before.', warn: true};
  const {worker, source, stories} = status;
  const updated = ago(worker.lastRun, now);
  if (!source.ok) {
    // Since when it fails is how old the stories are: until then they were brought up to date.
    const from = ago(source.since, now) || updated;
    return {
      text: `Hacker News cannot be reached${stories !== 0 && from ? `; showing stories from ${from}` : ''}.`,
      warn: true,
    };
  }
  if (stories === null) return {text: 'The database cannot be reached; showing what was loaded before.', warn: true};
  if (worker.lastError)
    return {text: `The last update${updated ? `, ${updated},` : ''} failed; another will be tried.`, warn: true};
  if (stories === 0) return {text: '', warn: false};
  if (worker.running) return {text: 'being brought up to date', warn: false};
  return {text: updated ? `updated ${updated}` : '', warn: false};
}
