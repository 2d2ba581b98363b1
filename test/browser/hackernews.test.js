// The Hacker News reader's page.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {serve, writeFile} from '../conformance/support/own_server.js';
import {eventually} from '../conformance/support/patience.js';
import {
  answer,
  contrast,
  fitsWidth,
  frames,
  nameless,
  openApp,
  stillClock,
  untilStill,
  useApps,
} from './support/apps.js';

const path = '/apps/hackernews/';
// The first stories arrive over some seconds; tests of positions need a list that no longer grows.
async function gathered({origin}) {
  assert.ok(
    await eventually(async () => {
      const {worker, stories} = await (await fetch(`${origin}${path}api/v1/status`)).json();
      return worker.lastRun && !worker.running && stories > 0;
    }),
    'no stories',
  );
}

// Another sync, at the half hour, would change the lists during a test.
const seldom = writeFile('seldom.json', {hackernews: {worker_schedule: '0 0 1 1 *'}});
const context = useApps({flags: ['--apps', 'hackernews', '--app-config', seldom], ready: gathered});
const liveSite = {itemUrl: 'https://news.ycombinator.com/item?id=', articleUrl: null, madeUp: false, demoAccount: null};
const manyCount = 2_000;
const many = Array.from({length: manyCount}, (_, i) => ({
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
const newUser = () => `reader_${process.pid}_${++users}`;

const withMany = (page) =>
  page.route('**/api/v1/stories?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const skip = Number(query.get('skip'));
    return answer(many.slice(skip, skip + Math.min(500, Number(query.get('limit')))))(route);
  });

async function open({server = context, ...options} = {}) {
  const opened = await openApp(server, `${path}${options.hash ?? ''}`, options);
  if (options.wait !== false) await opened.page.waitForSelector('.story[data-id]');
  return opened;
}

const idsOf = (page) => page.$$eval('.story[data-id]', (rows) => rows.map((row) => Number(row.dataset.id)));
const focusedId = (page) => page.evaluate(() => Number(document.activeElement.closest('.story')?.dataset.id ?? NaN));
const untilGone = (page, id) => page.waitForSelector(`.story[data-id="${id}"]`, {state: 'detached'});
const untilThere = (page, id) => page.waitForSelector(`.story[data-id="${id}"]`);
const toastText = (page) => page.textContent('.toast p');
const hideButton = (id) => `.story[data-id="${id}"] .story-hide`;

const countText = (page) => page.textContent('#count');
const untilCount = (page, text) =>
  page.waitForFunction((text) => document.getElementById('count').textContent === text, text);
const storiesOf = (page, timespan) =>
  page.evaluate(async (timespan) => (await fetch(`api/v1/stories?timespan=${timespan}`)).json(), timespan);

// The first fully visible row, and its position.
const inSight = (page) =>
  page.evaluate(() => {
    const bar = document.getElementById('bar').offsetHeight;
    const row = [...document.querySelectorAll('.story[data-id]')].find((row) => row.getBoundingClientRect().top >= bar);
    return {id: Number(row.dataset.id), top: row.getBoundingClientRect().top};
  });
const untilAt = (page, {id, top}) =>
  page.waitForFunction(
    ([id, top]) => {
      const row = document.querySelector(`.story[data-id="${id}"]`);
      return row && Math.abs(row.getBoundingClientRect().top - top) < 2;
    },
    [id, top],
  );

// Scrolls, and waits until the result is drawn.
async function scrollTo(page, y) {
  await page.evaluate((y) => window.scrollTo(0, y), y);
  await frames(page);
}

async function signIn(page, user, password = 'hearth') {
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  await page.fill('#acct', user);
  await page.fill('#pw', password);
  await page.keyboard.press('Enter');
}

async function signInDone(page, user) {
  await signIn(page, user);
  await page.getByRole('button', {name: 'Sign out', exact: true}).waitFor();
  await page.waitForSelector('dialog[open]', {state: 'detached'});
  await page.waitForSelector('.story[data-id]');
}

const hiddenOnServer = (page) => page.evaluate(async () => (await fetch('api/v1/hidden')).json());

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
  const {stories: stored} = await page.evaluate(async () => (await fetch('api/v1/status')).json());
  const [day, month] = [await storiesOf(page, 'Day'), await storiesOf(page, 'Month')];
  assert.ok(day.length < month.length && month.length < stored, `${day.length} of ${month.length} of ${stored}`);
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
    worker: {lastRun: new Date().toISOString(), lastError: null, running: false},
    stories: 0,
    source: {ok: true, since: null},
  };
  const {page, close} = await open({
    hash: '#All',
    wait: false,
    allow: [500],
    prepare: async (page) => {
      await page.route('**/api/v1/status', answer({...status, stories: 9_999}));
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
    worker: {lastRun: new Date(run).toISOString(), lastError: null, running: false},
    stories: manyCount,
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

test('hide and undo without an account: stored in this browser', async () => {
  const {page, close} = await open({prepare: stillClock}); // Messages stay until they are dismissed.
  const [first, second, third] = await idsOf(page);
  await page.click(hideButton(second));
  await untilGone(page, second);
  assert.match(await toastText(page), /^Hidden: /);
  assert.deepEqual((await idsOf(page)).slice(0, 2), [first, third]);
  await page.reload();
  await untilThere(page, third);
  assert.ok(!(await idsOf(page)).includes(second), 'still hidden after a reload');
  await page.click(hideButton(first));
  await untilGone(page, first);
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  assert.equal((await idsOf(page))[0], first, 'back in its place');
  assert.equal(await page.locator('.toast').count(), 0);
  await close();
});

test('hide and undo with an account: the server stores it and leaves them out', async () => {
  const {page, owner, close} = await open({prepare: stillClock});
  await signInDone(page, newUser());
  const [first, second] = await idsOf(page);
  await page.click(hideButton(first));
  await page.waitForFunction(async (id) => (await (await fetch('api/v1/hidden')).json()).includes(id), first);
  const other = await open({owner});
  await untilThere(other.page, second);
  assert.ok(!(await idsOf(other.page)).includes(first), 'another tab does not show it');
  await page.bringToFront();
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  await page.waitForFunction(async (id) => !(await (await fetch('api/v1/hidden')).json()).includes(id), first);
  await close();
});

test('a hide that fails is undone, with a message', async () => {
  const {page, close} = await open({allow: [500]});
  await signInDone(page, newUser());
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/api/v1/hidden', async (route) => {
    await held;
    await answer({error: 'the disk is full'}, 500)(route);
  });
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await untilGone(page, first); // At once, without waiting for the server.
  release();
  await untilThere(page, first);
  await page.locator('.toast-bad').waitFor();
  assert.match(await toastText(page), /could not be hidden and is back\. The disk is full\./);
  assert.equal((await idsOf(page))[0], first);
  await close();
});

test('an undo never overtakes its hide', async () => {
  const {page, close} = await open({prepare: stillClock});
  await signInDone(page, newUser());
  const order = [];
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/api/v1/hidden**', async (route) => {
    if (route.request().method() === 'POST') await held;
    order.push(route.request().method());
    await route.continue();
  });
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  assert.deepEqual(order, []);
  release();
  await page.waitForResponse((response) => response.request().method() === 'DELETE');
  assert.deepEqual(order, ['POST', 'DELETE']);
  await page.unroute('**/api/v1/hidden**');
  assert.deepEqual(await hiddenOnServer(page), []);
  await close();
});

test('stories hidden before signing in move to the account', async () => {
  const {page, close} = await open();
  const user = newUser();
  const [first, second, third] = await idsOf(page);
  for (const id of [first, second]) {
    await page.click(hideButton(id));
    await untilGone(page, id);
  }
  const told = page.locator('.toast').getByText('2 hidden stories added to your account').waitFor();
  await signInDone(page, user);
  await told;
  assert.deepEqual((await hiddenOnServer(page)).sort(), [first, second].sort());
  assert.equal(await page.evaluate(() => localStorage.getItem('hearth-hackernews-hidden')), null);
  await untilThere(page, third);
  assert.deepEqual(
    (await idsOf(page)).filter((id) => id === first || id === second),
    [],
  );
  await page.getByRole('button', {name: 'Sign out', exact: true}).click();
  await untilThere(page, first); // They belong to the account now.
  await close();
});

test('a merge that fails half-way loses nothing', async () => {
  const {page, close} = await open({allow: [503]});
  const [first, second] = await idsOf(page);
  for (const id of [first, second]) {
    await page.click(hideButton(id));
    await untilGone(page, id);
  }
  await page.route('**/api/v1/hidden', (route) =>
    route.request().method() === 'POST' && route.request().postDataJSON().hidden === second
      ? answer({error: 'busy'}, 503)(route)
      : route.continue(),
  );
  const told = page.locator('.toast').getByText('1 hidden story could not be added yet').waitFor();
  await signInDone(page, newUser());
  await told;
  assert.deepEqual(await hiddenOnServer(page), [first]);
  assert.ok(!(await idsOf(page)).includes(second), 'still hidden here');
  await page.unroute('**/api/v1/hidden');
  await page.reload();
  await page.waitForFunction(async (id) => (await (await fetch('api/v1/hidden')).json()).includes(id), second);
  await close();
});

test('an expired session: the hide stays in this browser', async () => {
  const {page, owner, close} = await open({allow: [401]});
  await signInDone(page, newUser());
  await owner.clearCookies();
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await page.locator('.toast').getByText('Your session has ended').waitFor();
  await page.waitForSelector('.story[data-id]');
  assert.ok(!(await idsOf(page)).includes(first));
  assert.equal(await page.evaluate(() => localStorage.getItem('hearth-hackernews-hidden')), JSON.stringify([first]));
  await close();
});

test('signing in explains errors, and signing out clears the session', async () => {
  const {page, close} = await open({allow: [401, 429]});
  const dialog = page.getByRole('dialog', {name: 'Sign in', exact: true});
  const error = page.getByRole('alert');
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  const submit = dialog.getByRole('button', {name: 'Sign in', exact: true});
  await submit.click();
  assert.match(await error.textContent(), /enter your username/);
  await page.fill('#acct', 'no spaces allowed');
  await page.fill('#pw', 'x');
  await submit.click();
  assert.match(await error.textContent(), /only letters, digits/);
  assert.equal(await page.getAttribute('#acct', 'aria-invalid'), 'true');
  await page.fill('#acct', newUser());
  await page.fill('#pw', 'wrong');
  await submit.click();
  await page.getByText('do not match').waitFor();
  await page.route('**/api/v1/login', answer({error: 'too many tries'}, 429));
  await submit.click();
  await page.getByText('Too many tries').waitFor();
  await page.unroute('**/api/v1/login');
  await page.fill('#pw', 'hearth');
  await submit.click();
  await page.getByRole('button', {name: 'Sign out', exact: true}).waitFor();
  await page.reload();
  await page.getByRole('button', {name: 'Sign out', exact: true}).click();
  await page.getByRole('button', {name: 'Sign in', exact: true}).waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('api/v1/me')).status), 401);
  await close();
});

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
    worker: {lastRun: new Date().toISOString(), lastError: null, running: false},
    stories: 0,
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
    worker: {lastRun: gathered ? new Date().toISOString() : null, lastError: null, running: !gathered},
    stories: gathered ? 20 : 0,
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
          worker: {lastRun: ago, lastError: 'timeout', running: false},
          stories: 12,
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
