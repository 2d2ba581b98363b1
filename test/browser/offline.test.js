// Without a network: writes are queued, arrive once, and listeners converge.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Pages, closeTab, until, useBrowser, watch} from './support/browser.js';

const context = useBrowser();

// Two ways to lose the network: the application's own switch, and the browser's.
const switches = [
  {
    name: 'disableNetwork',
    off: (page) => page.evaluate(() => sdk.disableNetwork(db)),
    on: (page) => page.evaluate(() => sdk.enableNetwork(db)),
  },
  {
    name: 'an offline browser',
    off: (page) => page.context().setOffline(true),
    on: (page) => page.context().setOffline(false),
  },
];

for (const {name, off, on} of switches) {
  for (const cache of ['memory', 'tabs']) {
    test(`${name}, ${cache} cache: queued writes arrive once`, async () => {
      const pages = new Pages(context);
      await pages.write(pages.set('rooms/counter', {n: 0}), pages.set('rooms/other', {n: 0}));
      const page = await pages.open({cache});
      await watch(page, 'rooms', 'rooms');
      await until(page, 'rooms', ({order}) => order.length === 2);
      for (let round = 1; round <= 2; ++round) {
        await off(page);
        await page.evaluate(() => {
          window.written = Promise.all([
            ...Array.from({length: 20}, () => sdk.updateDoc(sdk.doc(db, 'rooms/counter'), {n: sdk.increment(1)})),
            sdk.setDoc(sdk.doc(db, 'rooms/new'), {n: 1}),
          ]);
        });
        // Meanwhile the page sees its own writes, and other clients continue.
        await page.waitForFunction((n) => window.watched.rooms.documents.counter.n === n, round * 20);
        await pages.write(pages.set('rooms/other', {n: round}));
        await on(page);
        await page.evaluate(() => window.written);
        await until(
          page,
          'rooms',
          ({documents}, round) => documents.counter.n === round * 20 && documents.other.n === round && documents.new,
          round,
        );
        await pages.expectFields('rooms/counter', {n: round * 20});
      }
      await page.context().close();
    });
  }
}

test('writes queued before a reload are sent after it, once', async () => {
  const pages = new Pages(context);
  await pages.write(pages.set('rooms/counter', {n: 0}));
  const page = await pages.open({cache: 'tabs'});
  await page.evaluate(async () => {
    await sdk.getDocFromServer(sdk.doc(db, 'rooms/counter'));
    await sdk.disableNetwork(db);
    for (let i = 0; i < 5; ++i) void sdk.updateDoc(sdk.doc(db, 'rooms/counter'), {n: sdk.increment(1)});
    await sdk.getDocFromCache(sdk.doc(db, 'rooms/counter')); // They are in the cache now.
  });
  const browserContext = page.context();
  await closeTab(page);
  await pages.expectFields('rooms/counter', {n: 0});
  const again = await pages.open({browserContext, cache: 'tabs'});
  await watch(again, 'rooms', 'rooms');
  await until(again, 'rooms', ({documents}) => documents.counter.n === 5);
  await again.evaluate(() => sdk.waitForPendingWrites(db));
  await pages.expectFields('rooms/counter', {n: 5});
  await browserContext.close();
});

test('a listener that was offline receives deletions', async () => {
  const pages = new Pages(context);
  await pages.write(...Array.from({length: 30}, (_, i) => pages.set(`rooms/${i}`, {n: i})));
  const page = await pages.open();
  await watch(page, 'rooms', 'rooms');
  await until(page, 'rooms', ({order}) => order.length === 30);
  await page.evaluate(() => sdk.disableNetwork(db));
  await pages.write(...Array.from({length: 25}, (_, i) => pages.remove(`rooms/${i}`)));
  await page.evaluate(() => sdk.enableNetwork(db));
  await until(page, 'rooms', ({order}) => order.length === 5);
  assert.deepEqual(await page.evaluate(() => window.watched.rooms.order), ['25', '26', '27', '28', '29']);
  await page.context().close();
});
