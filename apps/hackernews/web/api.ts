// The reader's server. Paths are relative, because the application may be mounted anywhere.

import {getJson, requestJson} from '#design/http';

export const timespans = ['Day', 'Week', 'Month', 'Year', 'All'] as const;
export type Timespan = (typeof timespans)[number];

export interface Story {
  id: number;
  title: string;
  by: string;
  score: number;
  descendants: number;
  time: string;
  url?: string;
}

export interface Status {
  worker: {lastRun: string | null; failed: boolean; running: boolean};
  hasStories: boolean | null; // Null if the database cannot be reached.
  source: {ok: boolean; since: string | null};
}

// The targets of links, and whether the stories are real.
export interface Site {
  itemUrl: string; // Followed by a story's id: its comments.
  articleUrl: string | null; // Likewise, instead of the story's own url; null if that is real.
  madeUp: boolean;
  demoAccount: {username: string; password: string} | null;
}

export const pageSize = 500;

export interface Api {
  stories(timespan: Timespan, skip: number, limit?: number): Promise<Story[]>;
  hide(id: number): Promise<unknown>;
  unhide(id: number): Promise<unknown>;
}

const root = 'api/v1';

export const api = {
  stories: (timespan: Timespan, skip: number, limit = pageSize) =>
    getJson<Story[]>(`${root}/stories?${new URLSearchParams({timespan, limit: String(limit), skip: String(skip)})}`),
  hide: (id: number) => requestJson<unknown>('POST', `${root}/hidden`, {body: {hidden: id}, keepalive: true}),
  unhide: (id: number) => requestJson<unknown>('DELETE', `${root}/hidden/${id}`, {keepalive: true}),
  // Checked with Hacker News itself.
  login: (acct: string, pw: string) =>
    requestJson<{username: string}>('POST', `${root}/login`, {body: {acct, pw}, timeoutMs: 30_000}),
  logout: () => requestJson<unknown>('POST', `${root}/logout`),
  me: () => getJson<{username: string}>(`${root}/me`),
  site: () => getJson<Site>(`${root}/site`),
  status: () => getJson<Status>(`${root}/status`),
} satisfies Api & Record<string, unknown>;
