// The Node SDK over REST (`preferRest`): everything except listeners then uses HTTP/1.1.

import {AggregateField, FieldPath, FieldValue, Filter, Timestamp} from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';

const context = useServer();
const code = {notFound: 5, alreadyExists: 6, failedPrecondition: 9};

// Signs nothing: the address is local.
let requests = 0;
const authClient = {
  getRequestHeaders: async () => new Headers({authorization: 'Bearer owner'}),
  fetch: (url, {agent, responseType, ...init}) => {
    ++requests;
    init.headers.set('authorization', 'Bearer owner');
    return fetch(url, init);
  },
};

const open = (settings) => openFirestore(context, {preferRest: true, authClient, ...settings});

test('documents are written, read and deleted', async () => {
  const firestore = open();
  const document = firestore.doc('rooms/r1');
  const data = {
    int: 1,
    double: 1.5,
    text: 'é😀',
    bytes: Buffer.from([0, 255]),
    when: new Timestamp(5, 6000),
    list: [1, 'x', null],
    map: {deep: {yes: true}},
    nan: NaN,
    infinity: -Infinity,
    reference: firestore.doc('a/b'),
  };
  await document.create(data);
  const snapshot = await document.get();
  assert.deepEqual(snapshot.data(), data);
  assert.equal(requests, 2); // Verifies that REST is being tested.
  assert.ok(snapshot.createTime.isEqual(snapshot.updateTime));
  await document.update({
    int: FieldValue.increment(2),
    'map.deep': FieldValue.delete(),
    list: FieldValue.arrayUnion('y'),
  });
  const {int, map, list} = (await document.get()).data();
  assert.deepEqual({int, map, list}, {int: 3, map: {}, list: [1, 'x', null, 'y']});
  await document.delete();
  assert.equal((await document.get()).exists, false);
});

test('errors keep their codes', async () => {
  const document = open().doc('rooms/r1');
  await assert.rejects(document.update({a: 1}), {code: code.notFound});
  await document.create({});
  await assert.rejects(document.create({}), {code: code.alreadyExists});
  await assert.rejects(document.delete({lastUpdateTime: new Timestamp(1, 0)}), {code: code.failedPrecondition});
});

test('batches, getAll, lists of collections and documents', async () => {
  const firestore = open();
  const batch = firestore.batch();
  for (let n = 0; n < 10; ++n) batch.set(firestore.doc(`c/${n}`), {n});
  await batch.commit();
  await firestore.doc('d/1/e/2').set({});
  const found = await firestore.getAll(firestore.doc('c/3'), firestore.doc('c/none'), {fieldMask: ['n']});
  assert.deepEqual(
    found.map((snapshot) => snapshot.data()),
    [{n: 3}, undefined],
  );
  assert.deepEqual(
    (await firestore.listCollections()).map(({id}) => id),
    ['c', 'd'],
  );
  assert.deepEqual(
    (await firestore.collection('d').listDocuments()).map(({id}) => id),
    ['1'],
  );
});

test('queries, cursors and streams', async () => {
  const firestore = open();
  const collection = firestore.collection('c');
  await Promise.all(
    Array.from({length: 30}, (_, n) =>
      collection.doc(String(n).padStart(2, '0')).set({n, even: n % 2 === 0, text: '{"[]\\'.repeat(n)}),
    ),
  );
  const ids = async (query) => (await query.get()).docs.map(({id}) => id);
  assert.deepEqual(await ids(collection.where('n', '>', 26)), ['27', '28', '29']);
  assert.deepEqual(await ids(collection.where('even', '==', true).orderBy('n', 'desc').limit(2)), ['28', '26']);
  assert.deepEqual(await ids(collection.orderBy('n').startAfter(5).endAt(7)), ['06', '07']);
  assert.deepEqual(await ids(collection.orderBy('n').limitToLast(2)), ['28', '29']);
  assert.deepEqual(
    await ids(collection.where(Filter.or(Filter.where('n', '==', 1), Filter.where('n', 'in', [4, 9])))),
    ['01', '04', '09'],
  );
  assert.deepEqual(await ids(collection.where(FieldPath.documentId(), '>=', '28')), ['28', '29']);
  assert.deepEqual(await ids(collection.where('n', '==', 99)), []);
  let streamed = 0;
  for await (const snapshot of collection.orderBy('n').stream()) assert.equal(snapshot.get('n'), streamed++);
  assert.equal(streamed, 30);
});

test('aggregates', async () => {
  const firestore = open();
  const collection = firestore.collection('c');
  for (const n of [1, 2, 6]) await collection.add({n});
  const counted = await collection.count().get();
  assert.equal(counted.data().count, 3);
  const {all, total, mean} = (
    await collection
      .aggregate({all: AggregateField.count(), total: AggregateField.sum('n'), mean: AggregateField.average('n')})
      .get()
  ).data();
  assert.deepEqual({all, total, mean}, {all: 3, total: 9, mean: 3});
});

test('transactions', async () => {
  const firestore = open();
  const counter = firestore.doc('c/counter');
  await counter.set({n: 0});
  await Promise.all(
    Array.from({length: 5}, () =>
      firestore.runTransaction(
        async (transaction) => {
          const {n} = (await transaction.get(counter)).data();
          transaction.update(counter, {n: n + 1});
        },
        {maxAttempts: 20},
      ),
    ),
  );
  assert.equal((await counter.get()).get('n'), 5);
  const read = await firestore.runTransaction((transaction) => transaction.get(firestore.collection('c')), {
    readOnly: true,
  });
  assert.equal(read.size, 1);
  await assert.rejects(
    firestore.runTransaction(async (transaction) => {
      await transaction.get(counter);
      transaction.set(counter, {n: 100});
      throw new Error('changed my mind');
    }),
    /changed my mind/,
  );
  assert.equal((await counter.get()).get('n'), 5);
});

test('a bulk writer', async () => {
  const firestore = open();
  const writer = firestore.bulkWriter();
  const results = Array.from({length: 50}, (_, n) => writer.set(firestore.doc(`c/${n}`), {n}));
  await writer.close();
  assert.equal((await Promise.all(results)).length, 50);
  assert.equal((await firestore.collection('c').count().get()).data().count, 50);
});

test('a large result', async () => {
  const firestore = open();
  const text = 'x'.repeat(20_000);
  const batch = firestore.batch();
  for (let n = 0; n < 100; ++n) batch.set(firestore.doc(`c/${n}`), {text});
  await batch.commit();
  const {docs} = await firestore.collection('c').get();
  assert.equal(docs.length, 100);
  assert.ok(docs.every((snapshot) => snapshot.get('text') === text));
});
