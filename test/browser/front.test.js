// The front page.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {answer, contrast, fitsWidth, nameless, openApp, stillClock, useApps} from './support/apps.js';

const context = useApps();
const pollMs = 5_000; // The page's polling interval.

const application = (name, more = {}) => ({
  name,
  title: `Title of ${name}`,
  summary: `What ${name} is for.`,
  path: `/apps/${name}/`,
  state: 'running',
  facts: [{label: 'stories', value: '1,204'}],
  ...more,
});
const front = (applications) => ({
  address: '127.0.0.1:4711',
  project: 'demo',
  applications,
});
const served = (answers) => (page) => page.route('**/hearth/front', (route) => answers()(route));

test('shows the running applications, links to them and the address for SDKs', async () => {
  const {page, close} = await openApp(context, '/');
  await page.getByRole('heading', {level: 1, name: 'Hearth'}).waitFor();
  const card = page.locator('[data-app="hackernews"]');
  await card.getByText('Running').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[data-app="hackernews"] .facts dd').length > 0);
  const {address} = await page.evaluate(async () => (await fetch('hearth/front')).json());
  assert.equal(await page.textContent('#address code'), address);
  await card.getByRole('link').click();
  await page.waitForURL('**/apps/hackernews/');
  await page.waitForSelector('.story[data-id]');
  await close();
});

test('snippets for each language contain this server’s address, and can be copied', async () => {
  const {page, close} = await openApp(context, '/', {
    permissions: ['clipboard-read', 'clipboard-write'],
    prepare: served(() => answer(front([]))),
  });
  const code = () => page.textContent('#snippet code');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.waitForFunction(() => document.querySelector('#snippet code').textContent.includes('4711'));
  assert.match(await code(), /FIRESTORE_EMULATOR_HOST = '127\.0\.0\.1:4711'/);
  await page.getByRole('radio', {name: 'Web', exact: true}).check();
  assert.match(await code(), /connectFirestoreEmulator\(db, '127\.0\.0\.1', 4711\)/);
  await page.getByRole('radio', {name: 'C++', exact: true}).check();
  assert.match(await code(), /\.address = "127\.0\.0\.1:4711", \.project = "demo"/);
  await page.getByRole('button', {name: 'Copy the snippet', exact: true}).click();
  await page.getByText('Snippet copied').first().waitFor();
  assert.equal(await copied(), await code());
  await page.getByRole('button', {name: 'Copy the address', exact: true}).click();
  await page.getByText('Address copied').first().waitFor();
  assert.equal(await copied(), '127.0.0.1:4711');
  await close();
});

test('facts are updated, and the focus stays where it is', async () => {
  let value = '1';
  const {page, close} = await openApp(context, '/', {
    prepare: async (page) => {
      await stillClock(page);
      await served(() => answer(front([application('one', {facts: [{label: 'stories', value}]}), application('two')])))(
        page,
      );
    },
  });
  await page.locator('[data-app="one"] dd').getByText('1', {exact: true}).waitFor();
  await page.getByRole('link', {name: 'Title of one', exact: true}).focus();
  value = '2';
  await page.clock.runFor(pollMs);
  await page.locator('[data-app="one"] dd').getByText('2', {exact: true}).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Title of one');
  await close();
});

test('a failed application shows the reason', async () => {
  const {page, close} = await openApp(context, '/', {
    prepare: served(() =>
      answer(front([application('one', {state: 'failed', error: 'settings: no provider', facts: []})])),
    ),
  });
  const card = page.locator('[data-app="one"]');
  await card.getByText('Failed').waitFor();
  await card.getByText('settings: no provider').waitFor();
  await close();
});

test('it is useful without applications', async () => {
  const {page, close} = await openApp(context, '/', {prepare: served(() => answer(front([])))});
  await page.getByText('No applications run here').waitFor();
  await page.getByText('FIRESTORE_EMULATOR_HOST').waitFor();
  await close();
});

test('a server that stops answering and comes back', async () => {
  let answers = answer({error: 'starting'}, 503);
  // While its clock is stopped the page does not poll, so the button stays until it is pressed.
  const {page, close} = await openApp(context, '/', {
    allow: [503],
    prepare: async (page) => {
      await stillClock(page);
      await served(() => answers)(page);
    },
  });
  await page.getByText('Hearth does not answer').waitFor();
  answers = answer(front([application('one')]));
  await page.getByRole('button', {name: 'Try again', exact: true}).click();
  await page.locator('[data-app="one"]').waitFor();
  answers = answer({error: 'stopping'}, 503);
  await page.clock.runFor(pollMs);
  await page.locator('#health').getByText('Not reachable').waitFor();
  assert.equal(await page.locator('[data-app="one"]').count(), 1, 'what is known stays');
  answers = answer(front([application('one')]));
  await page.clock.runFor(pollMs);
  await page.locator('#health').getByText('Running').waitFor();
  await close();
});

test('light and dark, wide and narrow, with names for all controls', async () => {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [320, 'dark'],
  ]) {
    const {page, close} = await openApp(context, '/', {
      viewport: {width, height: 800},
      colorScheme,
      prepare: served(() => answer(front([application('one'), application('two', {state: 'failed', error: 'no'})]))),
    });
    await page.locator('[data-app="two"]').waitFor();
    assert.ok(await fitsWidth(page));
    assert.deepEqual(await nameless(page), []);
    assert.ok((await contrast(page, '.app *, .about *, .muted, .badge, .foot a')) >= 4.5);
    await page.getByRole('link', {name: 'Metrics', exact: true}).waitFor();
    await close();
  }
});
