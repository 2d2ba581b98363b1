// The Hacker News reader's page: looks, keys, and what it shows while it waits or fails.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {answer, contrast, fitsWidth, frames, nameless, untilStill} from './support/apps.js';
import {
  focusedId,
  hideButton,
  idsOf,
  inSight,
  liveSite,
  many,
  open,
  scrollTo,
  untilGone,
  untilThere,
  withMany,
} from './support/hackernews.js';

test('dark if the system is, or as the reader chooses', async () => {
  const {page, close} = await open({colorScheme: 'dark'});
  const brightness = () => page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]));
  assert.ok((await brightness()) < 60);
  const readable = async () => {
    await untilStill(page);
    return contrast(page, '.story-link, .story-meta *, .story-rank, .status, .segmented span');
  };
  assert.ok((await readable()) >= 4.5, `contrast ${await readable()}`);
  await page.getByRole('button', {name: 'Use the light theme', exact: true}).click();
  assert.ok((await brightness()) > 200);
  assert.ok((await readable()) >= 4.5, `contrast ${await readable()}`);
  await page.reload();
  await page.waitForSelector('.story[data-id]');
  assert.ok((await brightness()) > 200, 'remembered');
  await page.getByRole('button', {name: 'Use the dark theme', exact: true}).click();
  assert.ok((await brightness()) < 60);
  await close();
});

test('a phone: nothing overflows, and touch targets are large enough', async () => {
  for (const width of [320, 390]) {
    const {page, close} = await open({
      viewport: {width, height: 740},
      isMobile: true,
      hasTouch: true,
      prepare: withMany,
    });
    assert.ok(await fitsWidth(page));
    const small = await page.$$eval(
      '.story-hide, .story-comments, .bar button',
      (elements) =>
        elements
          .map((element) => element.getBoundingClientRect())
          .filter((box) => box.width > 0 && (box.width < 44 || box.height < 44)).length,
    );
    assert.equal(small, 0);
    await page.tap('.story-hide');
    await page.waitForSelector('.toast');
    assert.ok(await fitsWidth(page), 'with a message');
    await page.getByRole('button', {name: 'Sign in', exact: true}).tap();
    await page.waitForSelector('dialog[open]');
    assert.ok(await fitsWidth(page), 'with a dialog');
    await close();
  }
});

test('everything works with the keyboard alone', async () => {
  const {page, close} = await open({prepare: withMany});
  const at = (i) => many[i].id;
  await page.keyboard.press('j');
  assert.equal(await focusedId(page), at(0));
  for (const key of ['j', 'ArrowDown', 'j', 'k', 'ArrowUp']) await page.keyboard.press(key);
  assert.equal(await focusedId(page), at(1));
  await page.keyboard.press('h');
  await untilGone(page, at(1));
  assert.equal(await focusedId(page), at(2), 'the next one goes on');
  await page.keyboard.press('u');
  await untilThere(page, at(1));
  assert.equal(await focusedId(page), at(1));
  for (let i = 0; i < 30; ++i) await page.keyboard.press('j');
  assert.equal(await focusedId(page), at(31));
  const box = await page.evaluate(() => {
    const {top, bottom} = document.activeElement.getBoundingClientRect();
    return top >= document.getElementById('bar').offsetHeight - 1 && bottom <= innerHeight;
  });
  assert.ok(box, 'in sight, and not below the bar');
  await page.keyboard.press('?');
  await page.getByRole('dialog', {name: 'Keyboard', exact: true}).waitFor();
  await page.keyboard.press('j'); // The page ignores it while a dialog is open.
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', {state: 'detached'});
  assert.equal(await focusedId(page), at(31), 'the focus comes back');
  await page.keyboard.press('5');
  await page.waitForURL(/#All$/);
  // Users who cannot use single-key shortcuts can turn them off.
  await page.keyboard.press('?');
  await page.getByRole('checkbox', {name: 'Use these keys', exact: true}).uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('1');
  assert.equal(await page.evaluate(() => location.hash), '#All');
  await untilThere(page, at(0));
  await scrollTo(page, 3_000);
  const place = await inSight(page);
  for (const control of ['.bar button', '.bar input:checked']) await page.locator(control).first().focus();
  await frames(page);
  assert.deepEqual(await inSight(page), place, 'the focus in the bar leaves the list where it is');
  await close();
});

test('o and Enter open the story, c the comments, each in a new tab', async () => {
  const {page, owner, close} = await open({
    prepare: async (page) => {
      await withMany(page);
      await page.route('**/api/v1/site', answer(liveSite));
      await page
        .context()
        .route(/\.example\/|ycombinator/, (route) => route.fulfill({contentType: 'text/html', body: 'elsewhere'}));
    },
  });
  const opened = async (key) => {
    const [tab] = await Promise.all([owner.waitForEvent('page'), page.keyboard.press(key)]);
    await tab.waitForLoadState();
    const url = tab.url();
    await tab.close();
    return url;
  };
  await page.keyboard.press('j');
  assert.equal(await opened('o'), many[0].url);
  await page.keyboard.press('j');
  assert.equal(await opened('Enter'), many[1].url);
  assert.equal(await opened('c'), `https://news.ycombinator.com/item?id=${many[1].id}`);
  for (let i = 2; i < 10; ++i) await page.keyboard.press('j');
  assert.equal(
    await opened('o'),
    `https://news.ycombinator.com/item?id=${many[9].id}`,
    'a story without url is its comments',
  );
  await close();
});

test('loading, empty and failed states are shown', async () => {
  let answers = () => {};
  // A status with stories would make the page retry by itself, before the button is pressed.
  const status = {
    worker: {lastRun: new Date().toISOString(), failed: false, running: false},
    hasStories: false,
    source: {ok: true, since: null},
  };
  const {page, close} = await open({
    wait: false,
    allow: [503],
    prepare: async (page) => {
      await page.route('**/api/v1/status', answer(status));
      await page.route('**/api/v1/stories?*', (route) => answers(route));
    },
  });
  await page.waitForSelector('.skeleton');
  answers = answer({error: 'the database is closing'}, 503);
  await page.reload();
  await page.getByRole('alert').getByText('The database is closing.').waitFor();
  answers = answer([]);
  await page.getByRole('button', {name: 'Try again', exact: true}).click();
  await page.getByText('Nothing here').waitFor();
  answers = answer(many.slice(0, 3));
  await page.reload();
  await untilThere(page, many[2].id);
  for (const {id} of many.slice(0, 3)) await page.click(hideButton(id));
  await page.getByText('You have hidden every story').waitFor();
  await page.keyboard.press('u');
  await untilThere(page, many[2].id);
  await close();
});

test('the first stories appear by themselves', async () => {
  let gathered = false;
  const status = () => ({
    worker: {lastRun: gathered ? new Date().toISOString() : null, failed: false, running: !gathered},
    hasStories: gathered,
    source: {ok: true, since: null},
  });
  const {page, close} = await open({
    wait: false,
    prepare: async (page) => {
      await page.route('**/api/v1/status', (route) => answer(status())(route));
      await page.route('**/api/v1/stories?*', (route) => answer(gathered ? many.slice(0, 20) : [])(route));
    },
  });
  await page.getByText('Gathering stories').waitFor();
  gathered = true;
  await untilThere(page, many[0].id);
  await close();
});

test('a page that fails while scrolling down can be retried', async () => {
  let fails = true;
  const {page, close} = await open({
    allow: [500],
    hash: '#All',
    prepare: async (page) => {
      await withMany(page);
      await page.route('**/api/v1/stories?*skip=500', (route) =>
        fails ? answer({error: 'out of luck'}, 500)(route) : route.fallback(),
      );
    },
  });
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  await page.getByText('More stories could not be loaded. Out of luck.').waitFor();
  fails = false;
  await page.getByRole('button', {name: 'Try again', exact: true}).click();
  await page.waitForFunction(() => !document.querySelector('.foot .notice'));
  await page.waitForFunction(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return [...document.querySelectorAll('.story-rank')].some(
      (rank) => Number(rank.textContent.replace(',', '')) > 500,
    );
  });
  await close();
});

test('shows when Hacker News cannot be reached, and how old the stories are', async () => {
  const ago = new Date(Date.now() - 10 * 60_000 - 5_000).toISOString();
  const {page, close} = await open({
    prepare: (page) =>
      page.route(
        '**/api/v1/status',
        answer({
          worker: {lastRun: ago, failed: true, running: false},
          hasStories: true,
          source: {ok: false, since: ago},
        }),
      ),
  });
  await page
    .getByRole('status')
    .getByText('Hacker News cannot be reached; showing stories from 10 minutes ago.')
    .waitFor();
  await close();
});

test('it is usable with a screen reader', async () => {
  const {page, close} = await open({prepare: withMany});
  assert.deepEqual(await nameless(page), []);
  await page.getByRole('heading', {level: 1, name: 'Hacker News'}).waitFor();
  await page.getByRole('banner').waitFor();
  await page.getByRole('main').waitFor();
  assert.equal(await page.getByRole('radiogroup', {name: 'Timespan'}).getByRole('radio').count(), 5);
  const feed = page.getByRole('feed', {name: 'Stories'});
  const article = feed.getByRole('article', {name: many[0].title, exact: true});
  assert.equal(await article.getAttribute('aria-posinset'), '1');
  assert.equal(await article.getAttribute('aria-setsize'), '-1', 'more may come');
  await article.getByRole('button', {name: `Hide “${many[0].title}”`}).waitFor();
  await article.getByRole('link', {name: '0 comments', exact: true}).waitFor();
  const order = await idsOf(page);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    'read in the order in which they are shown',
  );
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the stories');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await focusedId(page), many[0].id);
  await close();
});
