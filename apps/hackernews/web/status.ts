// One line about how fresh the stories are, and a louder one when they are not.

import {plural} from '../../../web/design/format';
import {relativeTime} from '../../../web/design/time';
import type {Status} from './api';

export interface StatusLine {
  text: string;
  warn: boolean;
}

const ago = (iso: string | null, now: number) => (iso ? relativeTime(Date.parse(iso), now) : '');

// `status` is null when the reader's own server did not answer.
export function statusLine(status: Status | null, now: number): StatusLine {
  if (!status) return {text: 'The server cannot be reached; showing what was loaded before.', warn: true};
  const {worker, source, stories} = status;
  // Since when it fails is how old the stories are: until then they were brought up to date.
  const from = ago(source.since ?? worker.lastRun, now);
  if (!source.ok) {
    return {text: `Hacker News cannot be reached${stories > 0 && from ? `; showing stories from ${from}` : ''}.`, warn: true};
  }
  if (worker.running && stories > 0) return {text: `${plural(stories, 'story', 'stories')}, being brought up to date`, warn: false};
  const updated = ago(worker.lastRun, now);
  if (worker.lastError) return {text: `The last update failed${updated ? `; showing stories from ${updated}` : ''}.`, warn: true};
  if (stories === 0) return {text: '', warn: false};
  return {text: `${plural(stories, 'story', 'stories')}${updated ? `, updated ${updated}` : ''}`, warn: false};
}
