// Documents and listeners through the web SDK, in each of its streaming modes.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Pages, buffering, until, useBrowser, watch} from './support/browser.js';

const context = useBrowser();

// The mode that the first back channel requests: 0 is a stream. When the SDK detects buffering proxies, it may later
// mistake a slow machine for one; proxy.test.js uses a real proxy.
const modes = [
  {name: 'default', settings: {}, buffering: ['0']},
  {name: 'long polling', settings: {experimentalForceLongPolling: true}, buffering: ['1']},
  {name: 'detection of long polling', settings: {experimentalAutoDetectLongPolling: true}, buffering: ['0']},
  {name: 'streams without detection', settings: {experimentalAutoDetectLongPolling: false}, buffering: ['0']},
];

for (const mode of modes) {
  test(`${mode.name}: documents are written, read, changed and deleted`, async () => {
    const page = await new Pages(context).open(mode);
    const seen = await page.evaluate(async () => {
      const room = sdk.doc(db, 'rooms/r1');
      const steps = [];
      const read = async () => steps.push((await sdk.getDocFromServer(room)).data());
      await read();
      await sdk.setDoc(room, {name: 'é🔥', size: 1, tags: ['a'], at: {deep: [1.5, null, true]}});
      await read();
      await sdk.updateDoc(room, {size: sdk.increment(2), tags: sdk.arrayUnion('b'), 'at.deep': sdk.deleteField()});
      await read();
      const batch = sdk.writeBatch(db);
      batch.set(sdk.doc(db, 'rooms/r2'), {size: 7});
      batch.delete(room);
      await batch.commit();
      await read();
      const found = await sdk.getDocsFromServer(sdk.query(sdk.collection(db, 'rooms'), sdk.where('size', '>', 1)));
      steps.push(found.docs.map(({id}) => id));
      return steps;
    });
    assert.deepEqual(seen, [
      undefined,
      {name: 'é🔥', size: 1, tags: ['a'], at: {deep: [1.5, null, true]}},
      {name: 'é🔥', size: 3, tags: ['a', 'b'], at: {}},
      undefined,
      ['r2'],
    ]);
    assert.deepEqual(buffering(page).slice(0, 1), mode.buffering);
    await page.context().close();
  });

  test(`${mode.name}: a listener receives changes by other clients`, async () => {
    const pages = new Pages(context);
    const page = await pages.open(mode);
    await watch(page, 'rooms', 'rooms');
    await until(page, 'rooms', ({order}) => order.length === 0);
    await pages.write(pages.set('rooms/a', {n: 1}), pages.set('rooms/b', {n: 2}));
    await until(page, 'rooms', ({order}) => order.length === 2);
    await pages.write(pages.set('rooms/a', {n: 3}), pages.remove('rooms/b'));
    await until(page, 'rooms', ({documents, order}) => order.length === 1 && documents.a.n === 3);
    // The page sees its own writes at once, and then again from the server.
    await page.evaluate(() => void sdk.setDoc(sdk.doc(db, 'rooms/c'), {n: sdk.serverTimestamp()}));
    await until(page, 'rooms', ({documents}) => documents.c?.n !== undefined && documents.c.n !== null);
    await page.context().close();
  });

  test(`${mode.name}: a refused write is reported, and the next one works`, async () => {
    const page = await new Pages(context).open(mode);
    const outcome = await page.evaluate(async () => {
      const missing = await sdk.updateDoc(sdk.doc(db, 'rooms/none'), {n: 1}).catch(({code}) => code);
      await sdk.setDoc(sdk.doc(db, 'rooms/one'), {n: 1});
      return [missing, (await sdk.getDocFromServer(sdk.doc(db, 'rooms/one'))).data()];
    });
    assert.deepEqual(outcome, ['not-found', {n: 1}]);
    await page.context().close();
  });
}

test('transactions and counts, which the SDK sends over REST', async () => {
  const pages = new Pages(context);
  await pages.write(pages.set('rooms/counter', {n: 0}), pages.set('rooms/other', {n: 5}));
  const windows = await Promise.all([pages.open(), pages.open()]);
  await Promise.all(
    windows.map((page) =>
      page.evaluate(async () => {
        const counter = sdk.doc(db, 'rooms/counter');
        for (let i = 0; i < 5; ++i) {
          await sdk.runTransaction(
            db,
            async (transaction) => {
              const {n} = (await transaction.get(counter)).data();
              transaction.update(counter, {n: n + 1});
            },
            {maxAttempts: 50},
          );
        }
      }),
    ),
  );
  await pages.expectFields('rooms/counter', {n: 10});
  const totals = await windows[0].evaluate(async () => {
    const rooms = sdk.collection(db, 'rooms');
    const total = await sdk.getAggregateFromServer(rooms, {count: sdk.count(), sum: sdk.sum('n')});
    return total.data();
  });
  assert.deepEqual(totals, {count: 2, sum: 15});
  await Promise.all(windows.map((page) => page.context().close()));
});
