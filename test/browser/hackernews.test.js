// The Hacker News reader's page: lists, links and places.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {serve, writeFile} from '../conformance/support/own_server.js';
import {answer, contrast, fitsWidth, frames} from './support/apps.js';
import {
  context,
  countText,
  hideButton,
  idsOf,
  inSight,
  liveSite,
  many,
  open,
  path,
  scrollTo,
  storiesOf,
  untilAt,
  untilCount,
  untilThere,
  withMany,
} from './support/hackernews.js';

test('stories are there on load, each with all its parts', async () => {
  const {page, close} = await open();
  const stories = await page.evaluate(async () => (await fetch('api/v1/stories?timespan=Day&limit=10')).json());
  const row = page.locator(`.story[data-id="${stories[0].id}"]`);
  assert.equal(await row.locator('.story-rank').textContent(), '1');
  assert.equal(await row.locator('.story-link').textContent(), stories[0].title);
  assert.match(await row.locator('.story-score').textContent(), /^[\d,]+ points?$/);
  assert.equal(await row.locator('.story-by').textContent(), `by ${stories[0].by}`);
  assert.match(await row.locator('time').textContent(), /ago|just now/);
  assert.equal(await row.locator('time').getAttribute('datetime'), stories[0].time);
  const ids = (await idsOf(page)).slice(0, stories.length);
  assert.deepEqual(ids, stories.map(({id}) => id).slice(0, ids.length));
  await page.waitForFunction(() => /^\d+ stories, updated /.test(document.getElementById('status').innerText));
  await close();
});

// The text of a generated page; `url` is relative to the reader's page.
const madeUpPage = (page, url) =>
  page.evaluate(async (url) => {
    const response = await fetch(url);
    const content = new DOMParser().parseFromString(await response.text(), 'text/html');
    return {
      status: response.status,
      title: content.querySelector('h1')?.textContent,
      text: content.body.textContent,
      comments: content.querySelectorAll('.comments li').length,
    };
  }, url);

test('in the sandbox, every story and its comments can be opened, and match the list', async () => {
  const {page, owner, close} = await open({hash: '#All', allow: [404]});
  const stories = await storiesOf(page, 'All');
  const links = await page.$$eval('.story[data-id] a', (links) => links.map(({href}) => href));
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter((href) => !href.startsWith(`${context.origin}${path}sandbox/`)),
    [],
  );
  for (const {id, title, url, descendants} of stories.slice(0, 50)) {
    const item = await madeUpPage(page, `sandbox/item?id=${id}`);
    assert.equal(item.status, 200, title);
    assert.equal(item.title, title);
    assert.match(item.text, /made up/);
    // More may have arrived since the list was made.
    if (!item.text.includes('has been removed'))
      assert.ok(item.comments >= descendants, `${title}: ${item.comments} of ${descendants}`);
    if (!url) continue;
    const article = await madeUpPage(page, `sandbox/article?id=${id}`);
    assert.deepEqual([article.status, article.title], [200, title]);
    assert.ok(article.text.includes(new URL(url).hostname) && article.text.includes('made up'));
  }
  for (const none of ['sandbox/item?id=1000000000', 'sandbox/item?id=x', 'sandbox/article?id=-1', 'sandbox/article']) {
    assert.deepEqual(
      [(await madeUpPage(page, none)).status, (await madeUpPage(page, none)).title],
      [404, 'No such story'],
    );
  }
  // As a user does it.
  const first = stories.find(({url}) => url);
  const [article] = await Promise.all([
    owner.waitForEvent('page'),
    page.click(`.story[data-id="${first.id}"] a.story-link`),
  ]);
  await article.getByRole('heading', {level: 1, name: first.title, exact: true}).waitFor();
  await article.getByRole('link', {name: 'Comments on this story', exact: true}).click();
  await article
    .getByRole('heading', {level: 2})
    .getByText(/comments?$|No comments yet/)
    .waitFor();
  await article.getByRole('link', {name: first.title, exact: true}).click();
  await article.waitForURL(`**/sandbox/article?id=${first.id}`);
  await close();
});

test('with --live the links are the real ones, and no sandbox is mentioned', async () => {
  // An address that fails before any request: no test contacts the real Hacker News.
  const config = writeFile('live.json', {hackernews: {api_url: 'http://127.0.0.1:1', retry_pause_ms: 0}});
  const live = await serve({flags: ['--apps', 'hackernews', '--live', '--app-config', config]});
  const server = {...context, origin: `http://${live.address}`};
  const {page, close} = await open({server, prepare: withMany});
  assert.equal(await page.getAttribute(`.story[data-id="${many[0].id}"] a.story-link`, 'href'), many[0].url);
  assert.equal(
    await page.getAttribute(`.story[data-id="${many[0].id}"] .story-comments`, 'href'),
    `https://news.ycombinator.com/item?id=${many[0].id}`,
  );
  assert.equal(await page.locator('#made-up').isVisible(), false);
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  const dialog = page.getByRole('dialog', {name: 'Sign in', exact: true});
  await dialog.getByText('With your Hacker News account').waitFor();
  assert.doesNotMatch(await dialog.textContent(), /demo|hearth|sandbox/i);
  assert.equal(await dialog.getByRole('button', {name: 'Fill in', exact: true}).count(), 0);
  assert.equal((await fetch(`${server.origin}${path}sandbox/item?id=1`)).status, 404);
  await close();
});

test('explains that the stories are generated, and how to read real ones', async () => {
  const {page, close} = await open();
  const notice = page.locator('#made-up');
  await notice.waitFor();
  assert.match((await notice.innerText()).replace(/\s+/g, ' '), /stories are made up\. .*real Hacker News.*--live/);
  assert.ok((await contrast(page, '#made-up, #made-up code')) >= 4.5);
  await close();
});

test('the sandbox shows which account to sign in with', async () => {
  const {page, close} = await open();
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  const dialog = page.getByRole('dialog', {name: 'Sign in', exact: true});
  const [name, password] = await dialog.locator('.dialog-text code').allTextContents();
  await dialog.getByRole('button', {name: 'Fill in', exact: true}).click();
  assert.deepEqual([await page.inputValue('#acct'), await page.inputValue('#pw')], [name, password]);
  await dialog.getByRole('button', {name: 'Sign in', exact: true}).click();
  await page.getByRole('button', {name: 'Sign out', exact: true}).waitFor();
  assert.equal(await page.textContent('.account-name'), name);
  await close();
});

test('the count is the number of stories in the list', async () => {
  const {page, close} = await open();
  const [day, month, all] = await Promise.all(['Day', 'Month', 'All'].map((timespan) => storiesOf(page, timespan)));
  assert.ok(
    day.length < month.length && month.length < all.length,
    `${day.length} of ${month.length} of ${all.length}`,
  );
  await untilCount(page, `${day.length} stories`);
  assert.equal(await page.getAttribute('.story[data-id]', 'aria-setsize'), String(day.length));
  await page.click(hideButton(day[0].id));
  await untilCount(page, `${day.length - 1} stories`);
  await page.getByRole('radio', {name: 'Month', exact: true}).check();
  await untilCount(page, `${month.length - 1} stories`);
  await page.goBack();
  await untilCount(page, `${day.length - 1} stories`);
  await page.reload();
  await untilCount(page, `${day.length - 1} stories`);
  await close();
});

test('the count while pages load, when they fail, and when there are none', async () => {
  let answers = () => {}; // No answer.
  const status = {
    worker: {lastRun: new Date().toISOString(), failed: false, running: false},
    hasStories: false,
    source: {ok: true, since: null},
  };
  const {page, close} = await open({
    hash: '#All',
    wait: false,
    allow: [500],
    prepare: async (page) => {
      await page.route('**/api/v1/status', answer({...status, hasStories: true}));
      await withMany(page);
      await page.route('**/api/v1/stories?*skip=0', (route) => answers(route));
    },
  });
  await page.waitForSelector('.skeleton');
  await page.waitForFunction(() => /^Updated/.test(document.getElementById('freshness').textContent));
  assert.equal(await countText(page), '', 'nothing is listed yet');
  answers = (route) => route.fallback();
  await page.reload();
  await untilCount(page, '500+ stories');
  await page.waitForFunction((id) => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(`.story[data-id="${id}"]`) !== null;
  }, many.at(-1).id);
  await untilCount(page, '2,000 stories');
  await page.getByText('That is all.').waitFor();
  answers = answer({error: 'no luck'}, 500);
  await page.reload();
  await page.getByText('No luck.').waitFor();
  assert.equal(await countText(page), '');
  answers = answer([]);
  await page.getByRole('button', {name: 'Try again', exact: true}).click();
  await page.getByText('Nothing here').waitFor();
  assert.equal(await countText(page), '');
  await close();
});

test('going back restores the place: other timespans, a reload, an item', async () => {
  const {page, close} = await open({prepare: withMany, viewport: {width: 700, height: 700}});
  await scrollTo(page, 9_000);
  const day = await inSight(page);
  assert.notEqual(day.id, many[0].id);
  await page.getByRole('radio', {name: 'Week', exact: true}).check();
  await untilCount(page, '500+ stories');
  assert.equal(await page.evaluate(() => scrollY), 0, 'what is new begins at its top');
  await scrollTo(page, 3_000);
  const week = await inSight(page);
  await page.goBack();
  await untilAt(page, day);
  await page.goForward();
  await untilAt(page, week);
  await page.reload();
  await untilAt(page, week);
  const [{id, title}] = await (await fetch(`${context.origin}${path}api/v1/stories?limit=1`)).json();
  await page.evaluate((id) => (location.href = `sandbox/item?id=${id}`), id);
  await page.getByRole('heading', {level: 1, name: title, exact: true}).waitFor();
  await page.goBack();
  await untilAt(page, week);
  await page.goBack();
  await untilAt(page, day);
  await close();
});

test('going back restores a place beyond the first page, even if stories are gone', async () => {
  let gone = 0;
  const {page, close} = await open({
    hash: '#All',
    prepare: (page) =>
      page.route('**/api/v1/stories?*', (route) => {
        const skip = Number(new URL(route.request().url()).searchParams.get('skip'));
        return answer(many.filter(({id}) => id !== gone).slice(skip, skip + 500))(route);
      }),
  });
  const far = many[1_200];
  await page.waitForFunction((id) => {
    const row = document.querySelector(`.story[data-id="${id}"]`);
    if (row) row.scrollIntoView();
    else window.scrollBy(0, innerHeight);
    return row !== null;
  }, far.id);
  await frames(page);
  const place = await inSight(page);
  await page.reload();
  await untilAt(page, place);
  // The story that was visible is gone: its neighbors are shown.
  gone = place.id;
  await page.reload();
  await untilThere(page, place.id + 1);
  const {top} = await page.$eval(`.story[data-id="${place.id + 1}"]`, (row) => row.getBoundingClientRect().toJSON());
  assert.ok(top >= 0 && top < 400, `at ${top}`);
  await close();
});

test('a story without url has a plain title; with one, its site; script URLs never become links', async () => {
  const list = [
    {...many[0], id: 1, url: 'https://www.example.org/a?b'},
    {...many[1], id: 2, url: undefined},
    {...many[2], id: 3, url: 'javascript:alert(1)', title: '<img src=x onerror=alert(1)>', by: '<b>x</b>'},
    {...many[3], id: 4, url: `https://${'a-long-name.'.repeat(20)}example/`, by: 'author'.repeat(9)},
  ];
  const {page, close} = await open({
    prepare: async (page) => {
      await page.route('**/api/v1/site', answer(liveSite));
      await page.route('**/api/v1/stories?*', answer(list));
    },
  });
  assert.equal(await page.textContent('.story[data-id="1"] .story-site'), 'example.org');
  assert.equal(await page.getAttribute('.story[data-id="1"] a.story-link', 'href'), 'https://www.example.org/a?b');
  for (const id of [2, 3])
    assert.equal(await page.locator(`.story[data-id="${id}"] :is(a.story-link, .story-site)`).count(), 0);
  assert.equal(await page.textContent('.story[data-id="3"] .story-link'), list[2].title);
  assert.equal(await page.locator('.story img, .story b').count(), 0);
  const heights = await page.$$eval('.story-meta', (lines) => lines.map((line) => line.getBoundingClientRect().height));
  assert.equal(new Set(heights).size, 1, `what is too long ends in dots: ${heights}`);
  assert.ok(await fitsWidth(page));
  await close();
});

test('timespans: Day first, stored in the address, and going back works', async () => {
  const {page, close} = await open();
  assert.deepEqual(await page.$$eval('#timespans span', (spans) => spans.map((span) => span.textContent)), [
    'Day',
    'Week',
    'Month',
    'Year',
    'All',
  ]);
  const chosen = () => page.locator('#timespans input:checked').getAttribute('value');
  assert.equal(await chosen(), 'Day');
  const asked = page.waitForRequest((request) => request.url().includes('/stories?'));
  await page.getByRole('radio', {name: 'Month', exact: true}).check();
  await page.waitForURL(/#Month$/);
  assert.equal(new URL((await asked).url()).searchParams.get('timespan'), 'Month');
  await page.reload();
  await page.waitForSelector('.story[data-id]');
  assert.equal(await chosen(), 'Month');
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('#timespans input:checked').value === 'Day');
  await page.waitForSelector('.story[data-id]');
  await close();
});

test('2,000 stories: few rows in the document, the last is reachable, the place is kept', async () => {
  const {page, close} = await open({prepare: withMany, hash: '#All'});
  const rows = () => page.locator('.story[data-id]').count();
  assert.ok((await rows()) < 60, `${await rows()} rows at the top`);
  // The next page loads when the end of this one is near.
  await page.waitForFunction((id) => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(`.story[data-id="${id}"]`) !== null;
  }, many.at(-1).id);
  // The last page is full, so another request is needed before the total is known.
  await page.getByText('That is all.').waitFor();
  assert.equal(await page.textContent(`.story[data-id="${many.at(-1).id}"] .story-rank`), '2,000');
  assert.equal(await page.getAttribute(`.story[data-id="${many.at(-1).id}"]`, 'aria-setsize'), '2000');
  assert.ok((await rows()) < 60, `${await rows()} rows at the end`);
  const gaps = await page.$$eval('.story[data-id]', (rows) => {
    const boxes = rows.map((row) => row.getBoundingClientRect()).sort((a, b) => a.top - b.top);
    return boxes
      .slice(1)
      .map((box, i) => Math.abs(box.top - boxes[i].bottom))
      .filter((gap) => gap > 1.5);
  });
  assert.deepEqual(gaps, [], 'rows touch and do not overlap');
  await close();
});

test('a jump anywhere shows rows at once, and scrolling draws every frame', async () => {
  const {page, close} = await open({prepare: withMany, hash: '#All'});
  const blank = await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const probe = () => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('.story') !== null;
    let blank = 0;
    for (const y of [4_000, 30_000, 9_000, 500, 20_000]) {
      window.scrollTo(0, y);
      await frame();
      await frame();
      if (!probe()) ++blank;
    }
    for (let i = 0; i < 60; ++i) {
      scrollBy(0, 250);
      await frame();
      await frame();
      if (!probe()) ++blank;
    }
    return blank;
  });
  assert.equal(blank, 0);
  await close();
});

test('visible rows stay in place when the window or the stories above change', async () => {
  let run = 0;
  let extra = [];
  const status = () => ({
    worker: {lastRun: new Date(run).toISOString(), failed: false, running: false},
    hasStories: true,
    source: {ok: true, since: null},
  });
  const {page, close} = await open({
    hash: '#All',
    viewport: {width: 700, height: 700},
    prepare: async (page) => {
      await page.route('**/api/v1/status', (route) => answer(status())(route));
      await page.route('**/api/v1/stories?*', (route) => {
        const skip = Number(new URL(route.request().url()).searchParams.get('skip'));
        return answer([...extra, ...many].slice(skip, skip + 500))(route);
      });
    },
  });
  await scrollTo(page, 6_000);
  const {id, top} = await inSight(page);
  const topNow = () => page.$eval(`.story[data-id="${id}"]`, (row) => row.getBoundingClientRect().top);
  const rank = () => page.$eval(`.story[data-id="${id}"] .story-rank`, (rank) => Number(rank.textContent));
  await page.setViewportSize({width: 500, height: 700});
  await page.waitForFunction(() => innerWidth === 500);
  await frames(page);
  const narrow = await topNow();
  assert.ok(Math.abs(narrow - top) < 60, `from ${top} to ${narrow}`);
  // The worker has run: three new stories, all above.
  const before = await rank();
  run += 60_000;
  extra = many.slice(0, 3).map((story, i) => ({...story, id: 2_000_000 + i}));
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.waitForFunction(
    ([id, rank]) => Number(document.querySelector(`.story[data-id="${id}"] .story-rank`)?.textContent) === rank,
    [id, before + 3],
  );
  assert.ok(Math.abs((await topNow()) - narrow) < 2, `from ${narrow} to ${await topNow()}`);
  await close();
});
