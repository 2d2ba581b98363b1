// The Hacker News reader's page: what its tests share. Importing this starts a server with the reader on it.

import assert from 'node:assert/strict';
import {writeFile} from '../../conformance/support/own_server.js';
import {eventually} from '../../conformance/support/patience.js';
import {answer, frames, openApp, useApps} from './apps.js';

export const path = '/apps/hackernews/';
// The first stories arrive over some seconds; tests of positions need a list that no longer grows.
async function gathered({origin}) {
  assert.ok(
    await eventually(async () => {
      const {worker, hasStories} = await (await fetch(`${origin}${path}api/v1/status`)).json();
      return worker.lastRun && !worker.running && hasStories;
    }),
    'no stories',
  );
}

// Another sync, at the half hour, would change the lists during a test.
const seldom = writeFile('seldom.json', {hackernews: {worker_schedule: '0 0 1 1 *'}});
export const context = useApps({flags: ['--apps', 'hackernews', '--app-config', seldom], ready: gathered});
export const liveSite = {
  itemUrl: 'https://news.ycombinator.com/item?id=',
  articleUrl: null,
  madeUp: false,
  demoAccount: null,
};
export const manyCount = 2_000;
export const many = Array.from({length: manyCount}, (_, i) => ({
  by: `author${i % 7}`,
  descendants: i % 300,
  id: 1_000_000 + i,
  score: manyCount - i,
  time: new Date(Date.now() - i * 40_000).toISOString(),
  title: `Story number ${i + 1}${i % 5 ? '' : ', whose title is so long that a phone, and a small window too, has to give it more than one line of its list'}`,
  ...(i % 10 === 9 ? {} : {url: `https://www.site${i % 9}.example/${i}`}),
}));

// Ten sign-ins are allowed per quarter of an hour, so tests that need none do not sign in.
let users = 0;
export const newUser = () => `reader_${process.pid}_${++users}`;

export const withMany = (page) =>
  page.route('**/api/v1/stories?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const skip = Number(query.get('skip'));
    return answer(many.slice(skip, skip + Math.min(500, Number(query.get('limit')))))(route);
  });

export async function open({server = context, ...options} = {}) {
  const opened = await openApp(server, `${path}${options.hash ?? ''}`, options);
  if (options.wait !== false) await opened.page.waitForSelector('.story[data-id]');
  return opened;
}

export const idsOf = (page) => page.$$eval('.story[data-id]', (rows) => rows.map((row) => Number(row.dataset.id)));
export const focusedId = (page) =>
  page.evaluate(() => Number(document.activeElement.closest('.story')?.dataset.id ?? NaN));
export const untilGone = (page, id) => page.waitForSelector(`.story[data-id="${id}"]`, {state: 'detached'});
export const untilThere = (page, id) => page.waitForSelector(`.story[data-id="${id}"]`);
export const toastText = (page) => page.textContent('.toast p');
export const hideButton = (id) => `.story[data-id="${id}"] .story-hide`;

export const countText = (page) => page.textContent('#count');
export const untilCount = (page, text) =>
  page.waitForFunction((text) => document.getElementById('count').textContent === text, text);
export const storiesOf = (page, timespan) =>
  page.evaluate(async (timespan) => (await fetch(`api/v1/stories?timespan=${timespan}`)).json(), timespan);

// The first fully visible row, and its position.
export const inSight = (page) =>
  page.evaluate(() => {
    const bar = document.getElementById('bar').offsetHeight;
    const row = [...document.querySelectorAll('.story[data-id]')].find((row) => row.getBoundingClientRect().top >= bar);
    return {id: Number(row.dataset.id), top: row.getBoundingClientRect().top};
  });
export const untilAt = (page, {id, top}) =>
  page.waitForFunction(
    ([id, top]) => {
      const row = document.querySelector(`.story[data-id="${id}"]`);
      return row && Math.abs(row.getBoundingClientRect().top - top) < 2;
    },
    [id, top],
  );

// Scrolls, and waits until the result is drawn.
export async function scrollTo(page, y) {
  await page.evaluate((y) => window.scrollTo(0, y), y);
  await frames(page);
}

export async function signIn(page, user, password = 'hearth') {
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  await page.fill('#acct', user);
  await page.fill('#pw', password);
  await page.keyboard.press('Enter');
}

export async function signInDone(page, user) {
  await signIn(page, user);
  await page.getByRole('button', {name: 'Sign out', exact: true}).waitFor();
  await page.waitForSelector('dialog[open]', {state: 'detached'});
  await page.waitForSelector('.story[data-id]');
}

export const hiddenOnServer = (page) => page.evaluate(async () => (await fetch('api/v1/hidden')).json());
