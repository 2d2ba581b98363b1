// Large numbers: documents in one listener, listeners in one page.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Pages, until, useBrowser, watch} from './support/browser.js';

const context = useBrowser();
const documentCount = 12_000;
const listenerCount = 100;

async function fill(pages, count) {
  const batch = 500;
  for (let first = 0; first < count; first += batch) {
    await pages.write(
      ...Array.from({length: Math.min(batch, count - first)}, (_, i) =>
        pages.set(`many/${String(first + i).padStart(6, '0')}`, {n: first + i, text: 'twelve thousand '.repeat(4)}),
      ),
    );
  }
}

for (const [name, settings] of [
  ['streaming', {}],
  ['polling', {experimentalForceLongPolling: true}],
]) {
  test(`${name}: one listener holds ${documentCount} documents`, async () => {
    const pages = new Pages(context);
    await fill(pages, documentCount);
    const page = await pages.open({settings});
    await watch(page, 'many', 'many');
    await until(page, 'many', ({order}, count) => order.length === count, documentCount);
    await pages.write(pages.set('many/000500', {n: -1}), pages.remove('many/000501'), pages.set('many/x', {n: 0}));
    await until(
      page,
      'many',
      ({order, documents}, count) =>
        order.length === count && documents['000500'].n === -1 && !documents['000501'] && documents.x,
      documentCount,
    );
    await page.context().close();
  });
}

test(`one page has ${listenerCount} listeners`, async () => {
  const pages = new Pages(context);
  const page = await pages.open();
  await page.evaluate((count) => {
    const items = sdk.collection(db, 'items');
    for (let i = 0; i < count; ++i) window.watch(`l${i}`, sdk.query(items, sdk.where('of', '==', i)));
  }, listenerCount);
  await page.waitForFunction(
    (count) => Array.from({length: count}, (_, i) => window.settled(`l${i}`)).every(Boolean),
    listenerCount,
  );
  await pages.write(...Array.from({length: listenerCount}, (_, i) => pages.set(`items/i${i}`, {of: i})));
  await page.waitForFunction(
    (count) =>
      Array.from(
        {length: count},
        (_, i) => window.settled(`l${i}`) && window.watched[`l${i}`].order.join() === `i${i}`,
      ).every(Boolean),
    listenerCount,
  );
  // Each document moves to the next listener.
  await pages.write(
    ...Array.from({length: listenerCount}, (_, i) => pages.set(`items/i${i}`, {of: (i + 1) % listenerCount})),
  );
  await page.waitForFunction(
    (count) =>
      Array.from(
        {length: count},
        (_, i) => window.settled(`l${i}`) && window.watched[`l${i}`].order.join() === `i${(i + count - 1) % count}`,
      ).every(Boolean),
    listenerCount,
  );
  const errors = await page.evaluate(() =>
    Object.values(window.watched)
      .map(({error}) => error)
      .filter(Boolean),
  );
  assert.deepEqual(errors, []);
  await page.context().close();
});
