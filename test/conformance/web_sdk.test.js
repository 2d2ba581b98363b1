// The web SDK over gRPC: documents, queries, listeners, transactions, and offline use.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as web from 'firebase/firestore';
import {newProject, ownTest, useServer} from './support/check.js';
import {Snapshots, changesOf, idsOf} from './support/snapshots.js';
import {openWebFirestore} from './support/web_sdk.js';

const context = useServer();

const listen = (target, options = {}) =>
  new Snapshots((onNext, onError) => web.onSnapshot(target, options, onNext, onError));
const dataOf = (snapshot) => snapshot.docs.map((document) => document.data());
const fromServer = ({metadata}) => !metadata.fromCache && !metadata.hasPendingWrites;

// Two clients of one database.
function openTwo() {
  const projectId = newProject();
  return [openWebFirestore(context, {projectId}), openWebFirestore(context, {projectId})];
}

async function fill(firestore, data, collection = 'rooms') {
  const rooms = web.collection(firestore, collection);
  const batch = web.writeBatch(firestore);
  for (const [id, fields] of Object.entries(data)) batch.set(web.doc(rooms, id), fields);
  await batch.commit();
  return rooms;
}

test('documents', async () => {
  const [writer, reader] = openTwo();
  const room = web.doc(writer, 'rooms/a');
  const data = {
    n: 1,
    x: 1.5,
    text: 'é😀',
    yes: true,
    none: null,
    list: [1, {m: 'x'}],
    map: {deep: {er: 1}},
    when: new web.Timestamp(5, 1000),
    where: new web.GeoPoint(1, -2),
    bytes: web.Bytes.fromUint8Array(new Uint8Array([1, 255])),
    to: web.doc(writer, 'rooms/b'),
    vector: web.vector([1, 2]),
  };
  await web.setDoc(room, data);
  const read = (await web.getDocFromServer(web.doc(reader, 'rooms/a'))).data();
  assert.equal(read.to.path, 'rooms/b');
  for (const key of Object.keys(data).filter((each) => each !== 'to')) {
    assert.ok(
      read[key]?.isEqual ? read[key].isEqual(data[key]) : JSON.stringify(read[key]) === JSON.stringify(data[key]),
      key,
    );
  }
  await web.updateDoc(room, {
    n: web.increment(2),
    list: web.arrayUnion(9),
    'map.deep.er': web.deleteField(),
    at: web.serverTimestamp(),
  });
  await web.setDoc(room, {more: {a: 1}}, {merge: true});
  const changed = (await web.getDocFromServer(web.doc(reader, 'rooms/a'))).data();
  assert.equal(changed.n, 3);
  assert.deepStrictEqual(changed.list, [1, {m: 'x'}, 9]);
  assert.deepStrictEqual(changed.map, {deep: {}});
  assert.deepStrictEqual(changed.more, {a: 1});
  assert.ok(changed.at instanceof web.Timestamp);
  await web.deleteDoc(room);
  assert.equal((await web.getDoc(web.doc(reader, 'rooms/a'))).exists(), false);
});

test('writes that the server refuses', async () => {
  const [firestore] = openTwo();
  await assert.rejects(web.updateDoc(web.doc(firestore, 'rooms/none'), {n: 1}), {code: 'not-found'});
  await web.setDoc(web.doc(firestore, 'rooms/a'), {n: 1}); // The next stream works.
  assert.deepStrictEqual((await web.getDocFromServer(web.doc(firestore, 'rooms/a'))).data(), {n: 1});
});

test('queries', async () => {
  const [writer, reader] = openTwo();
  await fill(writer, {a: {n: 1, tags: ['x']}, b: {n: 2, tags: ['y']}, c: {n: 3, tags: ['x', 'y']}, d: {m: 1}});
  const rooms = web.collection(reader, 'rooms');
  const ids = async (...constraints) => idsOf(await web.getDocsFromServer(web.query(rooms, ...constraints))).join('');
  const {where, orderBy, limit} = web;
  assert.equal(await ids(), 'abcd');
  assert.equal(await ids(where('n', '>', 1)), 'bc');
  assert.equal(await ids(orderBy('n', 'desc'), limit(2)), 'cb');
  assert.equal(await ids(orderBy('n'), web.limitToLast(2)), 'bc');
  assert.equal(await ids(orderBy('n'), web.startAfter(1), web.endBefore(3)), 'b');
  assert.equal(await ids(where('tags', 'array-contains-any', ['y'])), 'bc');
  assert.equal(await ids(where('n', '!=', 2)), 'ac');
  assert.equal(await ids(web.or(where('n', '==', 1), where('m', '==', 1))), 'ad');
  assert.equal(await ids(where(web.documentId(), 'in', ['a', 'd'])), 'ad');
  await web.setDoc(web.doc(writer, 'halls/h/rooms/e'), {n: 0});
  assert.deepStrictEqual(idsOf(await web.getDocs(web.query(web.collectionGroup(reader, 'rooms'), orderBy('n')))), [
    'e',
    'a',
    'b',
    'c',
  ]);
});

test('aggregates', async () => {
  const [firestore] = openTwo();
  const rooms = await fill(firestore, {a: {n: 1}, b: {n: 2}, c: {n: 4.5}});
  assert.equal((await web.getCountFromServer(web.query(rooms, web.where('n', '>', 1)))).data().count, 2);
  const all = await web.getAggregateFromServer(rooms, {
    count: web.count(),
    sum: web.sum('n'),
    average: web.average('n'),
  });
  assert.deepStrictEqual(all.data(), {count: 3, sum: 7.5, average: 2.5});
});

test('a listener of a document, and of a missing one', async () => {
  const [writer, reader] = openTwo();
  const snapshots = listen(web.doc(reader, 'rooms/a'));
  assert.equal((await snapshots.next()).exists(), false);
  await web.setDoc(web.doc(writer, 'rooms/a'), {n: 1});
  assert.deepStrictEqual((await snapshots.next()).data(), {n: 1});
  await web.updateDoc(web.doc(writer, 'rooms/a'), {n: 2});
  assert.deepStrictEqual((await snapshots.next()).data(), {n: 2});
  await web.deleteDoc(web.doc(writer, 'rooms/a'));
  assert.equal((await snapshots.next()).exists(), false);
  snapshots.stop();
});

test('a listener of a query: types and indexes of changes', async () => {
  const [writer, reader] = openTwo();
  const rooms = await fill(writer, {a: {n: 1}, b: {n: 2}, c: {n: 3}});
  const snapshots = listen(web.query(web.collection(reader, 'rooms'), web.where('n', '>', 0), web.orderBy('n')));
  assert.deepStrictEqual(changesOf(await snapshots.until(fromServer)), ['added a 0', 'added b 1', 'added c 2']);
  await web.setDoc(web.doc(rooms, 'd'), {n: 1.5});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['added d 1']);
  await web.updateDoc(web.doc(rooms, 'a'), {n: 9});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['modified a 0>3']);
  await web.updateDoc(web.doc(rooms, 'b'), {n: -1});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['removed b 1']);
  await web.deleteDoc(web.doc(rooms, 'c'));
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['removed c 1']);
  snapshots.stop();
});

test('limit and limitToLast', async () => {
  const [writer, reader] = openTwo();
  const rooms = await fill(writer, {a: {n: 1}, b: {n: 2}, c: {n: 3}, d: {n: 4}});
  const mine = web.collection(reader, 'rooms');
  const first = listen(web.query(mine, web.orderBy('n'), web.limit(2)));
  const last = listen(web.query(mine, web.orderBy('n'), web.limitToLast(2)));
  const until = async (snapshots, ids) =>
    snapshots.until((snapshot) => fromServer(snapshot) && idsOf(snapshot).join('') === ids);
  await until(first, 'ab');
  await until(last, 'cd');
  await web.deleteDoc(web.doc(rooms, 'a'));
  await until(first, 'bc');
  await web.setDoc(web.doc(rooms, 'e'), {n: 5});
  await until(last, 'de');
  await web.setDoc(web.doc(rooms, 'z'), {n: 0});
  await until(first, 'zb');
  await web.updateDoc(web.doc(rooms, 'e'), {n: 0.5});
  await until(last, 'cd');
  await until(first, 'ze');
  first.stop();
  last.stop();
});

test('metadata: local state and server state', async () => {
  const [writer, reader] = openTwo();
  await fill(writer, {a: {n: 1}});
  const room = web.doc(reader, 'rooms/a');
  const snapshots = listen(room, {includeMetadataChanges: true});
  await snapshots.until(fromServer);
  const writing = web.updateDoc(room, {n: 2});
  const local = await snapshots.next();
  assert.equal(local.data().n, 2);
  assert.equal(local.metadata.hasPendingWrites, true);
  await writing;
  const confirmed = await snapshots.until(fromServer);
  assert.equal(confirmed.data().n, 2);
  await web.disableNetwork(reader);
  assert.equal((await snapshots.next()).metadata.fromCache, true);
  await web.enableNetwork(reader);
  assert.equal((await snapshots.until(fromServer)).data().n, 2);
  snapshots.stop();
});

ownTest('a query that the server refuses, next to a valid one', 'it answers such a query', async () => {
  const [writer, reader] = openTwo();
  await fill(writer, {a: {n: 1}});
  const rooms = web.collection(reader, 'rooms');
  const right = listen(rooms);
  await right.until(fromServer);
  const wrong = listen(web.query(rooms, web.where('n', '==', 'x'.repeat(2000))));
  assert.equal((await wrong.error()).code, 'invalid-argument');
  await web.setDoc(web.doc(writer, 'rooms/a'), {n: 2});
  assert.deepStrictEqual(dataOf(await right.next()), [{n: 2}]);
  right.stop();
});

test('transactions: ten clients, one counter', async () => {
  const projectId = newProject();
  const clients = Array.from({length: 10}, () => openWebFirestore(context, {projectId}));
  await web.setDoc(web.doc(clients[0], 'rooms/counter'), {n: 0});
  await Promise.all(
    clients.map((firestore) =>
      web.runTransaction(
        firestore,
        async (transaction) => {
          const counter = web.doc(firestore, 'rooms/counter');
          transaction.update(counter, {n: (await transaction.get(counter)).data().n + 1});
        },
        {maxAttempts: 50},
      ),
    ),
  );
  assert.equal((await web.getDocFromServer(web.doc(clients[0], 'rooms/counter'))).data().n, 10);
});

test('transactions: a document that is read and missing, or only read', async () => {
  const [firestore] = openTwo();
  const [a, b] = [web.doc(firestore, 'rooms/a'), web.doc(firestore, 'rooms/b')];
  await web.runTransaction(firestore, async (transaction) => {
    assert.equal((await transaction.get(a)).exists(), false);
    assert.equal((await transaction.get(b)).exists(), false);
    transaction.set(a, {n: 1});
  });
  assert.equal(await web.runTransaction(firestore, async (transaction) => (await transaction.get(a)).data().n), 1);
  await assert.rejects(
    web.runTransaction(firestore, async (transaction) => {
      await transaction.get(b);
      transaction.update(b, {n: 1});
    }),
    {code: 'invalid-argument'},
  );
  await web.runTransaction(firestore, async (transaction) => {
    await transaction.get(a);
    transaction.delete(a);
  });
  assert.equal((await web.getDocFromServer(a)).exists(), false);
});

test('batches are all or nothing', async () => {
  const [writer, reader] = openTwo();
  await assert.rejects(
    web
      .writeBatch(writer)
      .set(web.doc(writer, 'rooms/a'), {n: 1})
      .update(web.doc(writer, 'rooms/none'), {n: 1})
      .commit(),
    {code: 'not-found'},
  );
  const snapshots = listen(web.collection(reader, 'rooms'));
  assert.ok((await snapshots.next()).empty);
  await web.writeBatch(writer).set(web.doc(writer, 'rooms/a'), {n: 1}).set(web.doc(writer, 'rooms/b'), {n: 2}).commit();
  assert.deepStrictEqual(idsOf(await snapshots.next()), ['a', 'b']);
  snapshots.stop();
});

test('offline writes wait, and arrive once and in order', async () => {
  const [writer, reader] = openTwo();
  const room = web.doc(writer, 'rooms/a');
  await web.setDoc(room, {n: 0, list: []});
  const snapshots = listen(web.doc(reader, 'rooms/a'));
  await snapshots.until(fromServer);
  await web.disableNetwork(writer);
  const writes = Array.from({length: 30}, (_, i) =>
    web.updateDoc(room, {n: web.increment(1), list: web.arrayUnion(i)}),
  );
  assert.equal((await web.getDocFromCache(room)).data().n, 30);
  await assert.rejects(web.getDocFromServer(room), {code: 'unavailable'});
  await web.setDoc(web.doc(reader, 'rooms/b'), {while: 'away'});
  await web.enableNetwork(writer);
  await web.waitForPendingWrites(writer);
  await Promise.all(writes);
  const expected = Array.from({length: 30}, (_, i) => i);
  const last = await snapshots.until((snapshot) => snapshot.data().n >= 30);
  assert.deepStrictEqual(last.data(), {n: 30, list: expected});
  assert.deepStrictEqual((await web.getDocFromServer(room)).data(), {n: 30, list: expected});
  assert.equal((await web.getDoc(web.doc(writer, 'rooms/b'))).data().while, 'away');
  snapshots.stop();
});

test('a listener that was offline receives what it missed', async () => {
  const [writer, reader] = openTwo();
  const rooms = await fill(writer, {a: {n: 1}, b: {n: 2}, c: {n: 3}});
  const snapshots = listen(web.query(web.collection(reader, 'rooms'), web.orderBy('n')));
  await snapshots.until(fromServer);
  for (let round = 0; round < 3; ++round) {
    await web.disableNetwork(reader);
    await web.setDoc(web.doc(rooms, `new${round}`), {n: 10 + round});
    if (round === 0) await web.deleteDoc(web.doc(rooms, 'a'));
    if (round === 1) await web.updateDoc(web.doc(rooms, 'b'), {n: 20});
    await web.enableNetwork(reader);
    const expected = idsOf(await web.getDocsFromServer(web.query(rooms, web.orderBy('n')))).join();
    await snapshots.until((snapshot) => fromServer(snapshot) && idsOf(snapshot).join() === expected);
  }
  snapshots.stop();
});

test('100 listeners of one client', async () => {
  const [writer, reader] = openTwo();
  const rooms = await fill(writer, Object.fromEntries(Array.from({length: 100}, (_, n) => [`r${n}`, {n}])));
  const mine = web.collection(reader, 'rooms');
  const listeners = Array.from({length: 100}, (_, n) =>
    listen(n % 2 ? web.doc(mine, `r${n}`) : web.query(mine, web.where('n', '==', n))),
  );
  await Promise.all(listeners.map((snapshots) => snapshots.until(fromServer)));
  const batch = web.writeBatch(writer);
  for (let n = 0; n < 100; ++n) batch.update(web.doc(rooms, `r${n}`), {x: n});
  await batch.commit();
  const value = (snapshot) => (snapshot.docs ? snapshot.docs[0].get('x') : snapshot.get('x'));
  await Promise.all(listeners.map((snapshots, n) => snapshots.until((snapshot) => value(snapshot) === n)));
  for (const snapshots of listeners) snapshots.stop();
});

test('a named database is a separate one', async () => {
  const projectId = newProject();
  const {getFirestore} = web;
  const plain = openWebFirestore(context, {projectId});
  await web.setDoc(web.doc(plain, 'rooms/a'), {n: 1});
  const named = getFirestore(plain.app, 'other');
  const [host, port] = context.address.split(':');
  web.connectFirestoreEmulator(named, host, Number(port));
  assert.equal((await web.getDoc(web.doc(named, 'rooms/a'))).exists(), false);
  await web.setDoc(web.doc(named, 'rooms/a'), {n: 2});
  assert.equal((await web.getDocFromServer(web.doc(plain, 'rooms/a'))).data().n, 1);
  await web.terminate(named);
});
