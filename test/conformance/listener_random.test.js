// Random writes, and listeners of both SDKs whose connections are cut at random: every snapshot must be a state that
// existed.

import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import * as web from 'firebase/firestore';
import {newProject, useServer} from './support/check.js';
import {CuttingProxy} from './support/cutting_proxy.js';
import {eventually} from './support/own_server.js';
import {Random, seed} from './support/random.js';
import {openFirestore} from './support/sdk.js';
import {targetIsEmulator} from './support/server.js';
import {Snapshots} from './support/snapshots.js';
import {openWebFirestore} from './support/web_sdk.js';

const steps = Number(process.env.HEARTH_STEPS ?? 250);
const proxies = [];
const context = useServer();
after(() => Promise.all(proxies.map((proxy) => proxy.stop())));

// The queries to listen to, for either SDK: `collection`, or `group` for all collections of that id.
const queries = [
  {collection: 'c'},
  {collection: 'c', where: [['n', '>=', 5]], orderBy: ['n']},
  {collection: 'c', orderBy: ['n', 'desc'], limit: 3},
  {collection: 'c', orderBy: ['n'], limitToLast: 2},
  {collection: 'c', where: [['even', '==', true]]},
  {group: 'c', orderBy: ['n'], limit: 4},
];

function nodeQuery(firestore, {collection, group, where = [], orderBy, limit, limitToLast}) {
  let query = group ? firestore.collectionGroup(group) : firestore.collection(collection);
  for (const condition of where) query = query.where(...condition);
  if (orderBy) query = query.orderBy(...orderBy);
  if (limit) query = query.limit(limit);
  return limitToLast ? query.limitToLast(limitToLast) : query;
}

function webQuery(firestore, {collection, group, where = [], orderBy, limit, limitToLast}) {
  return web.query(
    group ? web.collectionGroup(firestore, group) : web.collection(firestore, collection),
    ...where.map((condition) => web.where(...condition)),
    ...(orderBy ? [web.orderBy(...orderBy)] : []),
    ...(limit ? [web.limit(limit)] : []),
    ...(limitToLast ? [web.limitToLast(limitToLast)] : []),
  );
}

const textOf = ({docs}) => docs.map((document) => `${document.ref.path} ${JSON.stringify(document.data())}`).join('\n');

// One commit of a few random writes.
async function writeSome(firestore, random, step) {
  const batch = firestore.batch();
  const paths = new Set(
    random.some(['a', 'b', 'd', 'e', 'f', 'g', 'h', 'i'].map((id) => `c/${id}`).concat('x/y/c/a', 'x/y/c/b'), 3),
  );
  for (const path of paths) {
    const n = random.below(10);
    if (random.chance(25)) batch.delete(firestore.doc(path));
    else batch.set(firestore.doc(path), {n, step, even: n % 2 === 0});
  }
  const [{writeTime}] = await batch.commit();
  return writeTime;
}

test('every snapshot is the state of its time', {
  skip: targetIsEmulator && 'the emulator has no deltas to get wrong',
}, async (t) => {
  t.diagnostic(`HEARTH_SEED=${seed} HEARTH_STEPS=${steps}`);
  const random = new Random(seed);
  const projectId = newProject();
  const direct = openFirestore(context, {projectId});
  const proxy = await CuttingProxy.start(context.address);
  proxies.push(proxy);
  const node = openFirestore(proxy, {projectId});
  const browser = openWebFirestore(proxy, {projectId});

  const nodeListeners = queries.map(
    (query) => new Snapshots((onNext, onError) => nodeQuery(node, query).onSnapshot(onNext, onError)),
  );
  const listenInBrowser = (query, firestore) =>
    new Snapshots((onNext, onError) =>
      web.onSnapshot(webQuery(firestore, query), {includeMetadataChanges: true}, onNext, onError),
    );
  const webListeners = queries.map((query) => listenInBrowser(query, openWebFirestore(proxy, {projectId})));
  // The listeners of one client share a cache. After a cut they resume one by one, and meanwhile see each other's newer
  // documents among their own older ones: this is not a snapshot of the server, though the SDK reports it as one. In
  // the end they must be right.
  const together = queries.map((query) => listenInBrowser(query, browser));
  const own = listenInBrowser({collection: 'own'}, browser);

  // The client's own writes use the connections that are cut, and may be sent twice.
  const ownWrites = [];
  const times = [];
  for (let step = 0; step < steps; ++step) {
    times.push(await writeSome(direct, random, step));
    if (random.chance(10)) ownWrites.push(web.setDoc(web.doc(browser, `own/${random.below(5)}`), {step}));
    if (random.chance(6)) proxy.cut(() => random.chance(60));
    await pause(random.below(60));
  }
  await Promise.all(ownWrites);
  await web.waitForPendingWrites(browser);

  // In the end all listeners have the same state.
  const isKnown = ({metadata}) => !metadata.fromCache && !metadata.hasPendingWrites;
  for (const [i, query] of queries.entries()) {
    const expected = textOf(await nodeQuery(direct, query).get());
    for (const listener of [nodeListeners[i], webListeners[i], together[i]]) {
      assert.ok(
        await eventually(
          () =>
            textOf(listener.all.at(-1)) === expected && (!listener.all.at(-1).metadata || isKnown(listener.all.at(-1))),
        ),
        `query ${i} ends with\n${textOf(listener.all.at(-1))}\nnot with\n${expected}`,
      );
    }
  }
  const expectedOwn = textOf(await direct.collection('own').get());
  assert.ok(await eventually(() => textOf(own.all.at(-1)) === expectedOwn));
  for (const listener of [...nodeListeners, ...webListeners, ...together, own]) listener.stop();

  const stateAt = (query, readTime) =>
    direct.runTransaction(async (transaction) => textOf(await transaction.get(nodeQuery(direct, query))), {
      readOnly: true,
      readTime,
    });
  for (const [i, query] of queries.entries()) {
    for (const snapshot of nodeListeners[i].all) {
      assert.equal(
        textOf(snapshot),
        await stateAt(query, snapshot.readTime),
        `query ${i} of the Node SDK at ${snapshot.readTime.toDate().toISOString()}`,
      );
    }
    // The web SDK does not report read times: each snapshot must match some state, in order.
    const states = ['', ...(await Promise.all(times.map((time) => stateAt(query, time))))];
    let at = 0;
    for (const text of webListeners[i].all.filter(isKnown).map(textOf)) {
      const found = states.indexOf(text, at);
      assert.ok(found >= 0, `query ${i} of the web SDK was never, after step ${at - 1}:\n${text}`);
      at = found;
    }
  }
  const counts = (listeners) => listeners.map(({all}) => all.length).join(' ');
  t.diagnostic(`snapshots of the Node SDK: ${counts(nodeListeners)}; of the web SDK: ${counts(webListeners)}`);
});
