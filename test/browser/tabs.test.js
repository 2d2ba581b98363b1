// Two tabs that share one persistent cache: one of them talks to the server for both.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Pages, closeTab, until, useBrowser, watch} from './support/browser.js';

const context = useBrowser();

const openTabs = async (pages, count) => {
  const browserContext = await pages.newContext();
  const tabs = [];
  for (let i = 0; i < count; ++i) tabs.push(await pages.open({browserContext, cache: 'tabs'}));
  return tabs;
};

test('tabs see each other’s writes and the server’s state', async () => {
  const pages = new Pages(context);
  const [first, second] = await openTabs(pages, 2);
  for (const tab of [first, second]) await watch(tab, 'rooms', 'rooms');
  await first.evaluate(() => sdk.setDoc(sdk.doc(db, 'rooms/a'), {n: 1}));
  await second.evaluate(() => sdk.setDoc(sdk.doc(db, 'rooms/b'), {n: 2}));
  await pages.write(pages.set('rooms/c', {n: 3}));
  for (const tab of [first, second]) await until(tab, 'rooms', ({order}) => order.join() === 'a,b,c');
  await first.context().close();
});

test('the remaining tab takes over', async () => {
  const pages = new Pages(context);
  const [first, second] = await openTabs(pages, 2);
  for (const tab of [first, second]) await watch(tab, 'rooms', 'rooms');
  await pages.write(pages.set('rooms/a', {n: 1}));
  for (const tab of [first, second]) await until(tab, 'rooms', ({order}) => order.length === 1);
  await closeTab(first);
  await pages.write(pages.set('rooms/b', {n: 2}));
  await until(second, 'rooms', ({order}) => order.length === 2);
  await second.evaluate(() => sdk.setDoc(sdk.doc(db, 'rooms/c'), {n: 3}));
  await pages.expectFields('rooms/c', {n: 3});
  await second.context().close();
});

test('cached data is there after a reload, and is updated', async () => {
  const pages = new Pages(context);
  const [page] = await openTabs(pages, 1);
  await pages.write(pages.set('rooms/a', {n: 1}), pages.set('rooms/b', {n: 1}));
  await watch(page, 'rooms', 'rooms');
  await until(page, 'rooms', ({order}) => order.length === 2);
  const browserContext = page.context();
  await closeTab(page);
  await pages.write(pages.set('rooms/a', {n: 2}), pages.remove('rooms/b'), pages.set('rooms/c', {n: 1}));
  const again = await pages.open({browserContext, cache: 'tabs'});
  const cached = await again.evaluate(async () =>
    (await sdk.getDocsFromCache(sdk.collection(db, 'rooms'))).docs.map(({id}) => id),
  );
  assert.deepEqual(cached, ['a', 'b']);
  await watch(again, 'rooms', 'rooms');
  await until(again, 'rooms', ({order, documents}) => order.join() === 'a,c' && documents.a.n === 2);
  await browserContext.close();
});
