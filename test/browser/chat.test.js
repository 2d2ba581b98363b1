// The chat example in two synchronized windows.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {patienceMs} from '../conformance/support/patience.js';
import {Pages, useBrowser} from './support/browser.js';

const context = useBrowser();

const say = async (page, text) => {
  await page.fill('#text', text);
  await page.click('#compose button');
};
const shown = (page) =>
  page.$$eval('#messages li:not(.pending)', (items) => items.map((item) => item.lastChild.textContent));
const untilShown = (page, texts) =>
  page.waitForFunction(
    (texts) => {
      const items = [...document.querySelectorAll('#messages li:not(.pending)')];
      return JSON.stringify(items.map((item) => item.lastChild.textContent)) === JSON.stringify(texts);
    },
    texts,
    {timeout: patienceMs},
  );

test('two windows show the same messages in the same order', async () => {
  const pages = new Pages(context);
  const [ada, bob] = await Promise.all(['Ada', 'Bob'].map((name) => pages.openChat('lobby', name)));
  const said = [];
  for (let i = 0; i < 10; ++i) {
    const [page, text] = i % 2 ? [bob, `bob ${i} <b>é🔥</b>`] : [ada, `ada ${i}`];
    await say(page, text);
    said.push(text);
    await Promise.all([ada, bob].map((page) => untilShown(page, said)));
  }
  assert.deepEqual(await bob.$$eval('#messages li.mine', (items) => items.length), 5);
  // A third window joins later and sees everything; rooms are separate.
  const late = await pages.openChat('lobby', 'Eve');
  await untilShown(late, said);
  const elsewhere = await pages.openChat('other', 'Eve');
  await elsewhere.waitForFunction(() => document.getElementById('state').textContent === 'online');
  assert.deepEqual(await shown(elsewhere), []);
});

test('both write at once: nothing is lost, and the order is the same', async () => {
  const pages = new Pages(context);
  const windows = await Promise.all(['Ada', 'Bob'].map((name) => pages.openChat('busy', name)));
  await Promise.all(
    windows.map(async (page, who) => {
      for (let i = 0; i < 25; ++i) await say(page, `${who}/${i}`);
    }),
  );
  for (const page of windows) {
    await page.waitForFunction(() => document.querySelectorAll('#messages li:not(.pending)').length === 50);
  }
  const [left, right] = await Promise.all(windows.map(shown));
  assert.deepEqual(left, right);
  assert.equal(new Set(left).size, 50);
});

test('the page fits a phone, in the dark theme', async () => {
  const pages = new Pages(context);
  const page = await pages.openChat('phone', 'Ada');
  await page.setViewportSize({width: 360, height: 640});
  await page.emulateMedia({colorScheme: 'dark'});
  await say(page, 'x'.repeat(300));
  await untilShown(page, ['x'.repeat(300)]);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out');
  if (process.env.HEARTH_SCREENSHOT) await page.screenshot({path: process.env.HEARTH_SCREENSHOT});
});
