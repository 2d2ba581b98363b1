// Behind a proxy that buffers answers until they end, a page detects it, falls back to polling, and works.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Pages, buffering, until, useBrowser, watch} from './support/browser.js';
import {startBufferingProxy} from './support/buffering_proxy.js';

const context = useBrowser();

for (const [name, settings] of [
  ['default', {}],
  ['detection', {experimentalAutoDetectLongPolling: true}],
  ['long polling', {experimentalForceLongPolling: true}],
]) {
  test(`${name}: documents and listeners work behind a proxy that buffers`, async () => {
    const proxy = await startBufferingProxy(context.address);
    const pages = new Pages(context);
    const page = await pages.open({settings, address: proxy.address});
    await watch(page, 'rooms', 'rooms');
    await pages.write(pages.set('rooms/a', {n: 1}));
    await until(page, 'rooms', ({order}) => order.length === 1);
    await page.evaluate(() => sdk.setDoc(sdk.doc(db, 'rooms/b'), {n: 2}));
    await until(page, 'rooms', ({order}) => order.length === 2);
    await pages.write(pages.set('rooms/a', {n: 3}));
    await until(page, 'rooms', ({documents}) => documents.a.n === 3);
    assert.ok(buffering(page).includes('1'), 'it polls');
    await page.context().close();
    proxy.stop();
  });
}
