// Reading many documents, and listing documents and collections, through the Node SDK.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';

const context = useServer();
const idsOf = (references) => references.map(({id}) => id);

test('getAll returns what was asked for, in order, missing documents included', async () => {
  const firestore = openFirestore(context);
  await firestore.doc('rooms/a').set({n: 1});
  await firestore.doc('rooms/b').set({n: 2});
  const snapshots = await firestore.getAll(...['b', 'missing', 'a', 'b'].map((id) => firestore.doc(`rooms/${id}`)));
  assert.deepStrictEqual(snapshots.map((snapshot) => [snapshot.id, snapshot.data()]),
    [['b', {n: 2}], ['missing', undefined], ['a', {n: 1}], ['b', {n: 2}]]);
  assert.ok(snapshots.every(({readTime}) => readTime.isEqual(snapshots[0].readTime)));
});

test('getAll with a field mask', async () => {
  const firestore = openFirestore(context);
  const document = firestore.doc('rooms/a');
  await document.set({a: 1, b: {c: 2, d: 3}, 'e.f': 4});
  const masks = [[['a'], {a: 1}], [['b.c'], {b: {c: 2}}], [['b', 'b.c'], {b: {c: 2, d: 3}}], [['a.x', 'none'], {}],
    [[], {}]];
  for (const [fieldMask, expected] of masks) {
    const [snapshot] = await firestore.getAll(document, {fieldMask});
    assert.deepStrictEqual(snapshot.data(), expected);
    assert.ok(snapshot.exists);
  }
});

test('listDocuments names documents and the parents that do not exist', async () => {
  const firestore = openFirestore(context);
  const rooms = firestore.collection('rooms');
  assert.deepStrictEqual(await rooms.listDocuments(), []);
  await rooms.doc('b').set({});
  await rooms.doc('a/seats/s1').set({});
  await rooms.doc('c/seats/s1/legs/l1').set({});
  await firestore.doc('roomsX/z').set({});
  assert.deepStrictEqual(idsOf(await rooms.listDocuments()), ['a', 'b', 'c']);
  assert.deepStrictEqual(idsOf(await rooms.doc('c').collection('seats').listDocuments()), ['s1']);
  await rooms.doc('c/seats/s1/legs/l1').delete();
  assert.deepStrictEqual(idsOf(await rooms.listDocuments()), ['a', 'b']);
});

test('listDocuments gathers all pages', async () => {
  const firestore = openFirestore(context);
  const ids = Array.from({length: 450}, (_, n) => `d${String(n).padStart(4, '0')}`);
  const batch = firestore.batch();
  ids.forEach((id) => batch.set(firestore.doc(`many/${id}`), {}));
  await batch.commit();
  assert.deepStrictEqual(idsOf(await firestore.collection('many').listDocuments()), ids);
  assert.deepStrictEqual(idsOf(await firestore.collection('many').listDocuments({pageSize: 7})), ids);
});

test('listCollections at the root, below documents and below missing documents', async () => {
  const firestore = openFirestore(context);
  assert.deepStrictEqual(await firestore.listCollections(), []);
  await firestore.doc('b/x').set({});
  await firestore.doc('a/x/deep/y/deeper/z').set({});
  await firestore.doc('a/x/also/y').set({});
  assert.deepStrictEqual(idsOf(await firestore.listCollections()), ['a', 'b']);
  assert.deepStrictEqual(idsOf(await firestore.doc('a/x').listCollections()), ['also', 'deep']);
  assert.deepStrictEqual(idsOf(await firestore.doc('a/x/deep/y').listCollections()), ['deeper']);
  assert.deepStrictEqual(await firestore.doc('b/x').listCollections(), []);
  await firestore.doc('a/x/also/y').delete();
  assert.deepStrictEqual(idsOf(await firestore.doc('a/x').listCollections()), ['deep']);
});
