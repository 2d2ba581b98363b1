// The server stops and comes back, at the same address and with its data: pages only notice the delay.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {CuttingProxy} from '../conformance/support/cutting_proxy.js';
import {startHearth} from '../conformance/support/server.js';
import {Pages, until, useBrowser, watch} from './support/browser.js';

const data = mkdtempSync(join(tmpdir(), 'hearth-restart-'));
let proxy; // The address that pages use.
const context = useBrowser({
  startServer: async () => {
    const server = await startHearth({data});
    proxy = await CuttingProxy.start(server.address);
    return {...server, address: proxy.address};
  },
});
after(async () => {
  // The server was stopped before.
  await proxy?.stop();
  rmSync(data, {recursive: true, force: true});
});

for (const [name, settings] of [
  ['streaming', {}],
  ['polling', {experimentalForceLongPolling: true}],
]) {
  for (const end of ['kill', 'stop']) {
    test(`${name}: listeners converge after a restart (${end})`, async () => {
      const pages = new Pages(context);
      const page = await pages.open({settings});
      await watch(page, 'rooms', 'rooms');
      await page.evaluate(() => sdk.setDoc(sdk.doc(db, 'rooms/counter'), {n: 0}));
      await until(page, 'rooms', ({order}) => order.length === 1);
      await context.server[end]();
      await page.evaluate(() => {
        window.written = Promise.all(
          Array.from({length: 10}, () => sdk.updateDoc(sdk.doc(db, 'rooms/counter'), {n: sdk.increment(1)})),
        );
      });
      context.server = await startHearth({data});
      proxy.target = context.server.address;
      await pages.write(pages.set('rooms/new', {n: 1}));
      await page.evaluate(() => window.written);
      await until(page, 'rooms', ({documents}) => documents.counter.n === 10 && documents.new);
      await pages.expectFields('rooms/counter', {n: 10});
      await page.context().close();
    });
  }
}
