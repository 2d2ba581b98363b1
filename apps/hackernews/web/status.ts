// A status line with the age of the stories, with a warning if they are out of date.

import {count, plural} from '#design/format';
import {relativeTime} from '#design/time';
import type {Status} from './api';

export interface StatusLine {
  text: string;
  warn: boolean;
}

// The shown list; `more`: there is more to load.
export interface Listed {
  count: number;
  more: boolean;
}

export const listedText = ({count: shown, more}: Listed): string =>
  more ? `${count(shown)}+ stories` : plural(shown, 'story', 'stories');

const ago = (iso: string | null, now: number) => (iso ? relativeTime(Date.parse(iso), now) : '');

// `status` is null if the reader's own server did not answer.
export function statusLine(status: Status | null, now: number): StatusLine {
  if (!status) return {text: 'The server cannot be reached; showing what was loaded before.', warn: true};
  const {worker, source, hasStories} = status;
  const updated = ago(worker.lastRun, now);
  if (!source.ok) {
    // The stories were last updated when the failures began.
    const from = ago(source.since, now) || updated;
    return {
      text: `Hacker News cannot be reached${hasStories !== false && from ? `; showing stories from ${from}` : ''}.`,
      warn: true,
    };
  }
  if (hasStories === null) return {text: 'The database cannot be reached; showing what was loaded before.', warn: true};
  if (worker.failed)
    return {text: `The last update${updated ? `, ${updated},` : ''} failed; another will be tried.`, warn: true};
  if (!hasStories) return {text: '', warn: false};
  if (worker.running) return {text: 'being brought up to date', warn: false};
  return {text: updated ? `updated ${updated}` : '', warn: false};
}
