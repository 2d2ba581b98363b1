// Listeners through the Node SDK.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {FieldValue, Filter} from '@google-cloud/firestore';
import {useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';
import {Snapshots, changesOf, idsOf} from './support/snapshots.js';

const context = useServer();

const listen = (target) => new Snapshots((onNext, onError) => target.onSnapshot(onNext, onError));

async function fill(data, collection = 'rooms') {
  const firestore = openFirestore(context);
  const rooms = firestore.collection(collection);
  const batch = firestore.batch();
  for (const [id, fields] of Object.entries(data)) batch.set(rooms.doc(id), fields);
  await batch.commit();
  return {firestore, rooms};
}

test('a document: existing, changed, deleted, created again', async () => {
  const {rooms} = await fill({a: {n: 1}});
  const snapshots = listen(rooms.doc('a'));
  assert.deepStrictEqual((await snapshots.next()).data(), {n: 1});
  const {writeTime} = await rooms.doc('a').set({n: 2});
  const changed = await snapshots.next();
  assert.deepStrictEqual(changed.data(), {n: 2});
  assert.ok(changed.updateTime.isEqual(writeTime));
  assert.ok(changed.readTime.toMillis() >= changed.updateTime.toMillis());
  await rooms.doc('a').delete();
  assert.equal((await snapshots.next()).exists, false);
  await rooms.doc('a').set({n: 3});
  assert.deepStrictEqual((await snapshots.next()).data(), {n: 3});
  snapshots.stop();
});

test('a query: types and indexes of changes', async () => {
  const {firestore, rooms} = await fill({a: {n: 1}, b: {n: 2}, c: {n: 3}, out: {n: -1}});
  const query = rooms.where('n', '>', 0).orderBy('n');
  const snapshots = listen(query);
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['added a 0', 'added b 1', 'added c 2']);
  await rooms.doc('d').set({n: 1.5});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['added d 1']);
  await rooms.doc('a').update({n: 9});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['modified a 0>3']);
  await rooms.doc('b').update({n: -5});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['removed b 1']);
  await rooms.doc('c').delete();
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['removed c 1']);
  await rooms.doc('out').update({n: 0.5});
  assert.deepStrictEqual(changesOf(await snapshots.next()), ['added out 0']);
  const batch = firestore.batch();
  batch.delete(rooms.doc('a')).set(rooms.doc('e'), {n: 0.1}).update(rooms.doc('d'), {x: 1});
  await batch.commit();
  const last = await snapshots.next();
  assert.deepStrictEqual(changesOf(last), ['removed a 2', 'added e 0', 'modified d 2>2']);
  assert.deepStrictEqual(idsOf(last), ['e', 'out', 'd']);
  snapshots.stop();
  const queried = await query.get();
  assert.ok(queried.docs.every((document, i) => document.isEqual(last.docs[i])));
});

test('limit and limitToLast', async () => {
  const {rooms} = await fill({a: {n: 1}, b: {n: 2}, c: {n: 3}, d: {n: 4}});
  const [first, last] = [listen(rooms.orderBy('n').limit(2)), listen(rooms.orderBy('n').limitToLast(2))];
  assert.deepStrictEqual(idsOf(await first.next()), ['a', 'b']);
  assert.deepStrictEqual(idsOf(await last.next()), ['c', 'd']);
  await rooms.doc('a').delete();
  const replaced = await first.next();
  assert.deepStrictEqual(changesOf(replaced), ['removed a 0', 'added c 1']);
  assert.deepStrictEqual(idsOf(replaced), ['b', 'c']);
  await rooms.doc('e').set({n: 5});
  assert.deepStrictEqual(idsOf(await last.next()), ['d', 'e']);
  await rooms.doc('z').set({n: 0});
  assert.deepStrictEqual(idsOf(await first.next()), ['z', 'b']);
  await rooms.doc('e').update({n: 0.5});
  assert.deepStrictEqual(idsOf(await last.next()), ['c', 'd']);
  first.stop();
  last.stop();
});

test('cursors, projections, and filters of all kinds', async () => {
  const {rooms} = await fill({a: {n: 1, tags: ['x']}, b: {n: 2, tags: ['y']}, c: {n: 3, tags: ['x', 'y']}});
  const queries = [
    rooms.orderBy('n').startAfter(1),
    rooms.where('tags', 'array-contains', 'x'),
    rooms.where('n', 'in', [1, 3]),
    rooms.where('n', 'not-in', [1]).orderBy('n'),
    rooms.where(Filter.or(Filter.where('n', '==', 1), Filter.where('tags', '==', ['y']))),
    rooms.select('n'),
  ];
  const listeners = queries.map(listen);
  const ids = () => Promise.all(listeners.map(async (snapshots) => idsOf(await snapshots.next()).join('')));
  assert.deepStrictEqual(await ids(), ['bc', 'ac', 'ac', 'bc', 'ab', 'abc']);
  await rooms.doc('a').update({n: 3, tags: FieldValue.arrayUnion('z')});
  assert.deepStrictEqual(await ids(), ['bac', 'ac', 'ac', 'bac', 'b', 'abc']);
  assert.deepStrictEqual(listeners[5].all.at(-1).docs[0].data(), {n: 3});
  for (const snapshots of listeners) snapshots.stop();
});

test('unsubscribing', async () => {
  const {rooms} = await fill({a: {n: 1}});
  const [gone, stays] = [listen(rooms), listen(rooms)];
  await Promise.all([gone.next(), stays.next()]);
  gone.stop();
  await rooms.doc('a').set({n: 2});
  assert.equal((await stays.next()).docs[0].get('n'), 2);
  assert.equal(gone.all.length, 1);
  // Before the first snapshot has arrived.
  const never = listen(rooms);
  never.stop();
  await rooms.doc('a').set({n: 3});
  assert.equal((await stays.next()).docs[0].get('n'), 3);
  assert.equal(never.all.length, 0);
  stays.stop();
});

test('an invalid query: its listener gets the error, others continue', async () => {
  const {rooms} = await fill({a: {n: 1}});
  const right = listen(rooms);
  await right.next();
  const wrong = listen(rooms.where('n', 'in', [1]).where('n', 'not-in', [2]));
  assert.match((await wrong.error()).message, /^Error 3: .*NOT_IN/);
  await rooms.doc('a').set({n: 2});
  assert.equal((await right.next()).docs[0].get('n'), 2);
  right.stop();
});

test('listeners receive the writes of transactions and bulk writers', async () => {
  const {firestore, rooms} = await fill({a: {n: 1}});
  const snapshots = listen(rooms.orderBy('n'));
  await snapshots.next();
  await firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(rooms.doc('a'))).data();
    transaction.update(rooms.doc('a'), {n: n + 1}).set(rooms.doc('b'), {n: n + 2});
  });
  assert.deepStrictEqual(
    (await snapshots.next()).docs.map((document) => document.data()),
    [{n: 2}, {n: 3}],
  );
  const writer = firestore.bulkWriter();
  for (let n = 10; n < 60; ++n) void writer.set(rooms.doc(`w${n}`), {n});
  await writer.close();
  assert.equal((await snapshots.until(({size}) => size === 52)).docs.at(-1).id, 'w59');
  snapshots.stop();
});

test('many listeners of one client', async () => {
  const {firestore, rooms} = await fill(Object.fromEntries(Array.from({length: 100}, (_, n) => [`r${n}`, {n}])));
  const listeners = Array.from({length: 100}, (_, n) => listen(n % 2 ? rooms.doc(`r${n}`) : rooms.where('n', '==', n)));
  const value = (snapshot) => (snapshot.docs ? snapshot.docs[0]?.get('x') : snapshot.get('x'));
  await Promise.all(listeners.map((snapshots) => snapshots.next()));
  const batch = firestore.batch();
  for (let n = 0; n < 100; ++n) batch.update(rooms.doc(`r${n}`), {x: n});
  await batch.commit();
  for (const [n, snapshots] of listeners.entries()) assert.equal(value(await snapshots.next()), n);
  for (const snapshots of listeners) {
    assert.equal(snapshots.all.length, 2);
    snapshots.stop();
  }
});
