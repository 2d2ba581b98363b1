// The Hacker News reader in the server's process and in a separate one, with stories from the sandbox.

import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {CuttingProxy} from './support/cutting_proxy.js';
import {eventually} from './support/patience.js';
import {Random, seed} from './support/random.js';
import {startApp, startHearth} from './support/server.js';

let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), 'hearth-reader-'))));
after(() => rmSync(folder, {recursive: true, force: true}));

async function json(response) {
  assert.equal(response.ok, true, `${response.url}: ${response.status}`);
  return response.json();
}

async function statusOf(api) {
  return json(await fetch(`${api}/status`));
}

// The status after the first sync, which starts with the process.
async function synced(api) {
  const status = await eventually(async () => {
    const now = await statusOf(api);
    return now.worker.lastRun !== null && !now.worker.running && now;
  });
  assert.ok(status, 'no sync');
  return status;
}

async function signIn(api, account) {
  const response = await fetch(`${api}/login`, {method: 'POST', body: JSON.stringify({acct: account, pw: 'hearth'})});
  await json(response);
  return {cookie: response.headers.get('set-cookie').split(';')[0]};
}

test('a new server has stories for every timespan', async () => {
  const server = await startHearth({flags: ['--apps', 'hackernews']});
  const api = `http://${server.address}/apps/hackernews/api/v1`;
  const status = await synced(api);
  assert.equal(status.worker.failed, false);
  assert.equal(status.source.ok, true);
  let shorter = 0;
  for (const timespan of ['Day', 'Week', 'Month']) {
    const stories = await json(await fetch(`${api}/stories?timespan=${timespan}`));
    assert.ok(stories.length > shorter, `${timespan}: ${stories.length}`);
    assert.deepEqual(
      stories.map(({score}) => score),
      stories.map(({score}) => score).sort((a, b) => b - a),
    );
    shorter = stories.length;
  }
  await server.stop();
});

test('its queries need no more indexes than its file has', async () => {
  const server = await startHearth({flags: ['--apps', 'hackernews', '--indexes', 'strict']});
  const api = `http://${server.address}/apps/hackernews/api/v1`;
  const status = await synced(api);
  assert.equal(status.worker.failed, false);
  const headers = await signIn(api, 'alice');
  for (const timespan of ['Day', 'Week', 'Month', 'Year', 'All']) {
    await json(await fetch(`${api}/stories?timespan=${timespan}`, {headers}));
    // Cached data is refreshed by a query for the changes since the last time.
    await json(await fetch(`${api}/hidden`, {headers}));
  }
  await server.stop();
});

test('an acknowledged hide survives any kill', async () => {
  const data = join(folder, 'killed');
  const random = new Random(seed);
  console.log(`HEARTH_SEED=${seed}`);
  const acknowledged = new Set();
  let next = 1;
  for (let round = 0; round < 5; ++round) {
    const server = await startHearth({data, flags: ['--apps', 'hackernews']});
    const api = `http://${server.address}/apps/hackernews/api/v1`;
    const headers = await signIn(api, 'alice');
    const kept = await json(await fetch(`${api}/hidden`, {headers}));
    assert.deepEqual(
      [...acknowledged].filter((id) => !kept.includes(id)),
      [],
    );
    const killAfter = next + 1 + random.below(60);
    const hide = async () => {
      for (;;) {
        const hidden = next++;
        if (hidden === killAfter) await server.kill();
        try {
          const response = await fetch(`${api}/hidden`, {method: 'POST', headers, body: JSON.stringify({hidden})});
          if (response.status !== 200) return;
          await response.json();
          acknowledged.add(hidden);
        } catch {
          return; // It was killed.
        }
      }
    };
    await Promise.all(Array.from({length: 8}, hide));
  }
  assert.ok(acknowledged.size > 0);
});

test('it runs as a separate process, on a remote Hearth', async () => {
  const server = await startHearth({flags: ['--apps', 'none']});
  const proxy = await CuttingProxy.start(server.address);
  const app = await startApp('hackernews', {firestore: proxy.address, data: join(folder, 'app')});
  const api = `http://${app.address}/api/v1`;
  assert.equal((await synced(api)).hasStories, true);
  const documents = await json(
    await fetch(`http://${server.address}/v1/projects/hearth/databases/(default)/documents/dev-stories?pageSize=101`),
  );
  assert.equal(documents.documents.length, 101);
  assert.match(documents.documents[0].name, /\/dev-stories\/\d{10}$/);
  const page = await fetch(`http://${app.address}/`, {headers: {accept: 'text/html'}});
  assert.match(await page.text(), /Hacker News/);

  // While its database is down it reports so, and it recovers with it.
  const headers = await signIn(api, 'alice');
  await server.kill();
  const refused = await fetch(`${api}/hidden`, {method: 'POST', headers, body: '{"hidden": 7}'});
  assert.equal(refused.status, 503);
  assert.deepEqual(Object.keys(await refused.json()), ['error']);
  const again = await startHearth({flags: ['--apps', 'none']});
  proxy.target = again.address;
  assert.equal((await fetch(`${api}/hidden`, {method: 'POST', headers, body: '{"hidden": 7}'})).status, 200);
  await app.stop();
  await proxy.stop();
  await again.stop();
});
