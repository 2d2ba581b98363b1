// The web SDK's small client, firebase/firestore/lite, which speaks REST.

import {initializeApp, deleteApp} from 'firebase/app';
import {
  Bytes,
  GeoPoint,
  Timestamp,
  addDoc,
  aggregateFieldEqual,
  arrayRemove,
  arrayUnion,
  average,
  collection,
  collectionGroup,
  connectFirestoreEmulator,
  count,
  deleteDoc,
  deleteField,
  doc,
  documentId,
  endBefore,
  getAggregate,
  getCount,
  getDoc,
  getDocs,
  getFirestore,
  increment,
  limit,
  limitToLast,
  or,
  orderBy,
  query,
  runTransaction,
  serverTimestamp,
  setDoc,
  setLogLevel,
  startAt,
  sum,
  terminate,
  updateDoc,
  vector,
  where,
  writeBatch,
} from 'firebase/firestore/lite';
import {execute} from 'firebase/firestore/lite/pipelines';
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {newProject, ownTest, useServer} from './support/check.js';

const context = useServer();
setLogLevel('silent'); // Errors are expected here.
const opened = [];
after(() =>
  Promise.all(
    opened.map(async ({app, firestore}) => {
      await terminate(firestore);
      await deleteApp(app);
    }),
  ),
);

// A client of a fresh database.
function open({projectId = newProject(), database = '(default)'} = {}) {
  const app = initializeApp({projectId, apiKey: 'a key'}, `${projectId}/${database}`);
  const firestore = getFirestore(app, database);
  const [host, port] = context.address.split(':');
  connectFirestoreEmulator(firestore, host, Number(port));
  opened.push({app, firestore});
  return firestore;
}

const ids = async (asked) => (await getDocs(asked)).docs.map(({id}) => id);

test('documents are written, read and deleted', async () => {
  const firestore = open();
  const document = doc(firestore, 'rooms/r 1 ü');
  assert.equal((await getDoc(document)).exists(), false);
  const data = {
    int: 1,
    large: 2 ** 53 - 1,
    double: 1.5,
    text: 'é😀"\\',
    yes: true,
    nothing: null,
    nan: NaN,
    infinity: Infinity,
    bytes: Bytes.fromUint8Array(new Uint8Array([0, 255, 62])),
    when: new Timestamp(1_700_000_000, 123_456_000),
    where: new GeoPoint(1.5, -2.5),
    list: [1, 'x', {deep: []}],
    map: {a: {b: {}}},
    reference: doc(firestore, 'a/b'),
    vector: vector([1, 2.5]),
  };
  await setDoc(document, data);
  const read = (await getDoc(document)).data();
  for (const key of ['bytes', 'where', 'vector', 'when']) assert.ok(read[key].isEqual(data[key]), key);
  assert.equal(read.reference.path, 'a/b');
  const plain = ({bytes, where: place, vector: numbers, when, reference, ...rest}) => rest;
  assert.deepEqual(plain(read), plain(data));
  await deleteDoc(document);
  assert.equal((await getDoc(document)).exists(), false);
});

ownTest('the sign of a zero is kept', 'it is lost', async () => {
  const document = doc(open(), 'rooms/zero');
  await setDoc(document, {zero: -0});
  assert.ok(Object.is((await getDoc(document)).get('zero'), -0));
});

test('updates, merges and transforms', async () => {
  const document = doc(open(), 'rooms/r1');
  await setDoc(document, {n: 1, keep: 'x', drop: 'y', list: [1, 2], nested: {a: 1, b: 2}});
  await updateDoc(document, {
    n: increment(2),
    drop: deleteField(),
    list: arrayUnion(3),
    'nested.a': 9,
    at: serverTimestamp(),
  });
  await setDoc(document, {list: arrayRemove(1), nested: {c: 3}}, {merge: true});
  const {at, ...data} = (await getDoc(document)).data();
  assert.deepEqual(data, {n: 3, keep: 'x', list: [2, 3], nested: {a: 9, b: 2, c: 3}});
  assert.ok(at instanceof Timestamp);
});

test('errors keep their codes', async () => {
  const document = doc(open(), 'rooms/none');
  await assert.rejects(updateDoc(document, {a: 1}), {code: 'not-found'});
  const big = 'x'.repeat(1_100_000);
  // The client only uses the HTTP status, and 400 stands for several codes.
  await assert.rejects(setDoc(document, {big}), {code: 'failed-precondition'});
});

test('queries', async () => {
  const firestore = open();
  const rooms = collection(firestore, 'rooms');
  for (let n = 0; n < 10; ++n) await setDoc(doc(rooms, `r${n}`), {n, tags: [n, n + 1], parity: n % 2 ? 'odd' : 'even'});
  assert.deepEqual(await ids(query(rooms, where('n', '>=', 8))), ['r8', 'r9']);
  assert.deepEqual(await ids(query(rooms, where('parity', '==', 'odd'), orderBy('n', 'desc'), limit(2))), ['r9', 'r7']);
  assert.deepEqual(await ids(query(rooms, where('tags', 'array-contains', 3))), ['r2', 'r3']);
  assert.deepEqual(await ids(query(rooms, where('n', 'in', [1, 5, 99]))), ['r1', 'r5']);
  assert.deepEqual(await ids(query(rooms, where('n', 'not-in', [0, 1, 2, 3, 4, 5, 6, 7]))), ['r8', 'r9']);
  assert.deepEqual(await ids(query(rooms, or(where('n', '==', 0), where('tags', 'array-contains-any', [10])))), [
    'r0',
    'r9',
  ]);
  assert.deepEqual(await ids(query(rooms, orderBy('n'), startAt(3), endBefore(5))), ['r3', 'r4']);
  assert.deepEqual(await ids(query(rooms, orderBy('n'), limitToLast(2))), ['r8', 'r9']);
  assert.deepEqual(await ids(query(rooms, where(documentId(), '==', 'r4'))), ['r4']);
  assert.deepEqual(await ids(query(rooms, where('n', '==', 99))), []);
  const page = await getDocs(query(rooms, orderBy('n'), limit(3)));
  assert.deepEqual(await ids(query(rooms, orderBy('n'), startAt(page.docs[2]), limit(2))), ['r2', 'r3']);
});

test('collection groups', async () => {
  const firestore = open();
  await setDoc(doc(firestore, 'a/1/seats/x'), {n: 1});
  await setDoc(doc(firestore, 'b/2/seats/y'), {n: 2});
  const {docs} = await getDocs(query(collectionGroup(firestore, 'seats')));
  assert.deepEqual(
    docs.map(({ref}) => ref.path),
    ['a/1/seats/x', 'b/2/seats/y'],
  );
});

test('aggregates', async () => {
  const firestore = open();
  const rooms = collection(firestore, 'rooms');
  for (const n of [1, 2, 6]) await addDoc(rooms, {n});
  const counted = await getCount(rooms);
  assert.equal(counted.data().count, 3);
  const all = await getAggregate(query(rooms, where('n', '>', 1)), {
    count: count(),
    sum: sum('n'),
    average: average('n'),
  });
  assert.deepEqual(all.data(), {count: 2, sum: 8, average: 4});
  assert.ok(aggregateFieldEqual(count(), count()));
  const none = await getAggregate(collection(firestore, 'none'), {sum: sum('n'), average: average('n')});
  assert.deepEqual(none.data(), {sum: 0, average: null});
});

test('batches', async () => {
  const firestore = open();
  const [a, b] = ['rooms/a', 'rooms/b'].map((path) => doc(firestore, path));
  await writeBatch(firestore)
    .set(a, {n: 1})
    .set(b, {n: 1})
    .update(a, {n: increment(1)})
    .delete(b)
    .commit();
  assert.deepEqual((await getDoc(a)).data(), {n: 2});
  assert.equal((await getDoc(b)).exists(), false);
  const missing = doc(firestore, 'rooms/missing');
  await assert.rejects(writeBatch(firestore).set(b, {}).update(missing, {n: 1}).commit(), {code: 'not-found'});
  assert.equal((await getDoc(b)).exists(), false);
});

test('transactions', async () => {
  const firestore = open();
  const counter = doc(firestore, 'rooms/counter');
  await setDoc(counter, {n: 0});
  for (let turn = 0; turn < 3; ++turn) {
    await Promise.all(
      Array.from({length: 2}, () =>
        runTransaction(
          firestore,
          async (transaction) => {
            const {n} = (await transaction.get(counter)).data();
            transaction.update(counter, {n: n + 1});
          },
          {maxAttempts: 10},
        ),
      ),
    );
  }
  assert.equal((await getDoc(counter)).get('n'), 6);
  await assert.rejects(
    runTransaction(firestore, async (transaction) => {
      await transaction.get(counter);
      transaction.set(counter, {n: 100});
      throw new Error('changed my mind');
    }),
    /changed my mind/,
  );
  assert.equal((await getDoc(counter)).get('n'), 6);
  await runTransaction(firestore, async (transaction) => {
    const fresh = doc(firestore, 'rooms/fresh');
    assert.equal((await transaction.get(fresh)).exists(), false);
    transaction.set(fresh, {made: true}).delete(counter);
  });
  assert.equal((await getDoc(counter)).exists(), false);
});

test('named databases are independent', async () => {
  const projectId = newProject();
  const first = open({projectId});
  const second = open({projectId, database: 'other'});
  await setDoc(doc(first, 'a/b'), {here: 1});
  assert.equal((await getDoc(doc(second, 'a/b'))).exists(), false);
});

ownTest('pipelines are refused as by the Standard edition', 'it does not know them', async () => {
  await assert.rejects(execute(open().pipeline().collection('c')), {
    code: 'failed-precondition',
    message: /only allowed on ENTERPRISE mode/,
  });
});
