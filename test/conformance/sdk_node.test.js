// The features of the Node SDK, one by one. test/cases specifies how the database handles the requests.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {AggregateField, FieldPath, FieldValue, Filter, GeoPoint, Timestamp} from '@google-cloud/firestore';
import {newProject, ownTest, useServer} from './support/check.js';
import {patienceMs} from './support/patience.js';
import {openFirestore} from './support/sdk.js';
import {Names} from './support/values.js';

const context = useServer();
const code = {notFound: 5, alreadyExists: 6, failedPrecondition: 9, aborted: 10};
const idsOf = (list) => list.map(({id}) => id);
const dataOf = async (document) => (await document.get()).data();

// A collection of documents with these fields.
async function fill(data, collection = 'rooms') {
  const firestore = openFirestore(context);
  const batch = firestore.batch();
  for (const [id, fields] of Object.entries(data)) batch.set(firestore.collection(collection).doc(id), fields);
  await batch.commit();
  return firestore.collection(collection);
}

// Resolves when `count` parties have arrived.
class Barrier {
  #waiting = [];

  constructor(count) {
    this.count = count;
  }

  arrive() {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === this.count) for (const release of this.#waiting) release();
    });
  }
}

test('set, get, update, delete', async () => {
  const document = openFirestore(context).doc('rooms/r1');
  assert.equal((await document.get()).exists, false);
  const {writeTime} = await document.set({a: 1, b: {c: 2}});
  const snapshot = await document.get();
  assert.ok(snapshot.createTime.isEqual(writeTime) && snapshot.updateTime.isEqual(writeTime));
  assert.ok(snapshot.readTime.valueOf() >= writeTime.valueOf());
  await document.update('a', 7, new FieldPath('b', 'x.y`z\\'), 8);
  await document.update({'b.c': FieldValue.delete(), d: FieldValue.serverTimestamp()});
  const {d, ...rest} = await dataOf(document);
  assert.deepStrictEqual(rest, {a: 7, b: {'x.y`z\\': 8}});
  assert.ok(d instanceof Timestamp);
  await document.delete();
  assert.equal((await document.get()).exists, false);
  const added = await document.parent.add({n: 1});
  assert.deepStrictEqual(await dataOf(added), {n: 1});
});

test('set with merge', async () => {
  const document = openFirestore(context).doc('rooms/r1');
  await document.set({a: 1, nested: {x: 1, y: 2}});
  await document.set({b: 3, nested: {x: FieldValue.delete(), z: 6}}, {merge: true});
  assert.deepStrictEqual(await dataOf(document), {a: 1, b: 3, nested: {y: 2, z: 6}});
  await document.set({a: 2, b: 4, nested: {y: 9, z: 9}}, {mergeFields: ['b', 'nested.y']});
  assert.deepStrictEqual(await dataOf(document), {a: 1, b: 4, nested: {y: 9, z: 6}});
});

test('errors have codes and messages', async () => {
  const document = openFirestore(context).doc('rooms/r1');
  await assert.rejects(document.update({a: 1}), {code: code.notFound});
  await document.create({a: 1});
  await assert.rejects(document.create({a: 2}), {code: code.alreadyExists});
  const {updateTime} = await document.get();
  await document.update({a: 2}, {lastUpdateTime: updateTime});
  await assert.rejects(document.update({a: 3}, {lastUpdateTime: updateTime}), {code: code.failedPrecondition});
  await assert.rejects(document.delete({lastUpdateTime: Timestamp.fromMillis(1000)}), {code: code.failedPrecondition});
});

test('every type of value comes back as the SDK writes it', async () => {
  const firestore = openFirestore(context);
  const document = firestore.doc('values/v');
  const data = {
    null: null,
    truth: [true, false],
    integers: [0, -1, Number.MAX_SAFE_INTEGER],
    doubles: [0.5, 1e300, NaN, -0, Infinity],
    strings: ['', '日本語', '😀', '\u0000'],
    bytes: Buffer.from([0, 255]),
    times: [new Timestamp(-62_135_596_800, 0), new Timestamp(5, 1000)],
    point: new GeoPoint(48.137, 11.575),
    vector: FieldValue.vector([1, -0.5]),
    maps: {empty: {}, 'a.b': {'`': [{y: []}]}},
  };
  await document.set({...data, reference: firestore.doc('a/b/c/d')});
  const {reference, ...read} = await dataOf(document);
  assert.deepStrictEqual(read, data);
  assert.equal(reference.path, 'a/b/c/d');
  const big = openFirestore(context, {useBigInt: true}).doc('values/big');
  await big.set({n: 2n ** 63n - 1n});
  assert.deepStrictEqual(await dataOf(big), {n: 2n ** 63n - 1n});
});

test('transforms', async () => {
  const document = openFirestore(context).doc('transforms/t');
  await document.create({n: FieldValue.increment(1), list: FieldValue.arrayUnion('a', 'b'), keep: 1});
  await document.set({n: FieldValue.increment(0.5), list: FieldValue.arrayRemove('a')}, {merge: true});
  assert.deepStrictEqual(await dataOf(document), {n: 1.5, list: ['b'], keep: 1});
});

test('a thousand concurrent increments are all counted', async () => {
  const document = openFirestore(context).doc('counters/c');
  await Promise.all(Array.from({length: 1000}, () => document.set({n: FieldValue.increment(1)}, {merge: true})));
  assert.deepStrictEqual(await dataOf(document), {n: 1000});
});

test('batches', async () => {
  const firestore = openFirestore(context);
  assert.deepStrictEqual(await firestore.batch().commit(), []);
  const documents = Array.from({length: 500}, (_, n) => firestore.doc(`many/d${n}`));
  const batch = firestore.batch();
  for (const [n, document] of documents.entries()) batch.set(document, {n});
  assert.equal((await batch.commit()).length, 500);
  const failing = firestore.batch().set(firestore.doc('many/new'), {}).create(documents[0], {});
  await assert.rejects(failing.commit(), {code: code.alreadyExists});
  assert.equal((await firestore.doc('many/new').get()).exists, false);
});

test('BulkWriter writes many documents and reports each failure', async () => {
  const firestore = openFirestore(context);
  await firestore.doc('bulk/taken').set({n: -1});
  const writer = firestore.bulkWriter();
  const failures = [];
  writer.onWriteError((error) => {
    failures.push([error.documentRef.id, error.operationType, error.code]);
    return false;
  });
  const writes = Array.from({length: 200}, (_, n) => writer.create(firestore.doc(`bulk/d${n}`), {n}));
  const refused = [
    writer.create(firestore.doc('bulk/taken'), {n: 1}),
    writer.update(firestore.doc('bulk/absent'), {n: 1}),
  ].map((write) =>
    write.then(
      () => 'done',
      () => 'refused',
    ),
  );
  await writer.close();
  await Promise.all(writes);
  assert.deepStrictEqual(await Promise.all(refused), ['refused', 'refused']);
  assert.deepStrictEqual(failures.sort(), [
    ['absent', 'update', code.notFound],
    ['taken', 'create', code.alreadyExists],
  ]);
  assert.deepStrictEqual(await dataOf(firestore.doc('bulk/d199')), {n: 199});
});

test('BulkWriter keeps the order of writes that a flush separates', async () => {
  const document = openFirestore(context).doc('rooms/r1');
  const writer = document.firestore.bulkWriter();
  const writes = [];
  for (const send of [
    () => writer.set(document, {n: 1}),
    () => writer.update(document, {n: 2}),
    () => writer.delete(document),
    () => writer.create(document, {n: 3}),
  ]) {
    writes.push(send());
    await writer.flush();
  }
  await writer.close();
  await Promise.all(writes);
  assert.deepStrictEqual(await dataOf(document), {n: 3});
});

test('getAll keeps the order of the references, including duplicates', async () => {
  const rooms = await fill({a: {n: 1, m: 0}, b: {n: 2}});
  const asked = ['b', 'missing', 'a', 'b'].map((id) => rooms.doc(id));
  const snapshots = await rooms.firestore.getAll(...asked, {fieldMask: ['n']});
  assert.deepStrictEqual(
    snapshots.map((snapshot) => [snapshot.id, snapshot.data()]),
    [
      ['b', {n: 2}],
      ['missing', undefined],
      ['a', {n: 1}],
      ['b', {n: 2}],
    ],
  );
});

test('listDocuments gathers all pages, and names parents that do not exist', async () => {
  const firestore = openFirestore(context);
  const ids = Array.from({length: 450}, (_, n) => `d${String(n).padStart(4, '0')}`);
  const batch = firestore.batch();
  for (const id of ids) batch.set(firestore.doc(`many/${id}`), {});
  batch.set(firestore.doc('many/missing/below/x'), {});
  await batch.commit();
  assert.deepStrictEqual(idsOf(await firestore.collection('many').listDocuments()), [...ids, 'missing']);
  assert.deepStrictEqual(idsOf(await firestore.collection('many').listDocuments({pageSize: 70})), [...ids, 'missing']);
  assert.deepStrictEqual(idsOf(await firestore.listCollections()), ['many']);
  assert.deepStrictEqual(idsOf(await firestore.doc('many/missing').listCollections()), ['below']);
});

test('recursiveDelete', async () => {
  const firestore = openFirestore(context);
  for (const path of ['a/1/g/x', 'a/1/g/x/g/y', 'a/2/g/w', 'g/z']) await firestore.doc(path).set({});
  await firestore.recursiveDelete(firestore.doc('a/1'));
  assert.deepStrictEqual(
    (await firestore.collectionGroup('g').get()).docs.map(({ref}) => ref.path),
    ['a/2/g/w', 'g/z'],
  );
});

test('named databases and projects are independent', async () => {
  const projectId = newProject();
  const worlds = [
    openFirestore(context, {projectId}),
    openFirestore(context, {projectId, databaseId: 'second'}),
    openFirestore(context),
    openFirestore(context, {databaseId: 'second'}),
  ];
  await Promise.all(worlds.map((firestore, n) => firestore.doc('same/name').set({n})));
  for (const [n, firestore] of worlds.entries()) assert.deepStrictEqual(await dataOf(firestore.doc('same/name')), {n});
});

test('queries', async () => {
  const people = await fill({
    ann: {age: 30, city: 'Rome', 'odd.name': 1},
    bob: {age: 25, city: 'Oslo'},
    cid: {age: null, city: 'Bonn'},
    dan: {age: NaN, city: 'Rome'},
    eve: {city: 'Oslo'},
  });
  const expectIds = async (query, ids) => assert.deepStrictEqual(idsOf((await query.get()).docs), ids);
  await expectIds(people.where('age', '==', null), ['cid']);
  await expectIds(people.where('age', '==', NaN), ['dan']);
  await expectIds(people.where('age', '!=', null), ['dan', 'bob', 'ann']);
  await expectIds(people.where(FieldPath.documentId(), 'in', ['eve', 'ann', 'nobody']), ['ann', 'eve']);
  await expectIds(people.where(new FieldPath('odd.name'), '==', 1), ['ann']);
  await expectIds(people.where(Filter.or(Filter.where('city', '==', 'Bonn'), Filter.where('age', '==', 25))), [
    'bob',
    'cid',
  ]);
  await expectIds(people.orderBy('city').limitToLast(2), ['ann', 'dan']);
  const bob = await people.doc('bob').get();
  await expectIds(people.orderBy('city').startAfter(bob), ['eve', 'ann', 'dan']);
  await expectIds(people.orderBy('city', 'desc').startAt(bob), ['bob', 'cid']);
  const [only] = (await people.select('city').limit(1).get()).docs;
  assert.deepStrictEqual(only.data(), {city: 'Rome'});
  const counted = await people.aggregate({count: AggregateField.count(), sum: AggregateField.sum('age')}).get();
  assert.equal(counted.data().count, 4);
  assert.equal((await people.count().get()).data().count, 5);
});

test('nearest neighbours', async () => {
  const all = await fill({a: {v: FieldValue.vector([1, 0])}, b: {v: FieldValue.vector([0, 2])}});
  const {docs} = await all
    .findNearest({
      vectorField: 'v',
      queryVector: [1, 0],
      limit: 1,
      distanceMeasure: 'EUCLIDEAN',
      distanceResultField: 'far',
    })
    .get();
  assert.deepStrictEqual(
    docs.map((each) => [each.id, each.get('far')]),
    [['a', 0]],
  );
});

test('a result larger than any buffer arrives whole, even with a slow reader', async () => {
  const firestore = openFirestore(context);
  const writer = firestore.bulkWriter();
  const text = 'x'.repeat(20_000);
  for (let n = 0; n < 2_000; ++n) void writer.set(firestore.doc(`big/${String(n).padStart(5, '0')}`), {n, text});
  await writer.close();
  let expected = 0;
  for await (const document of firestore.collection('big').orderBy('n').stream()) {
    assert.equal(document.get('n'), expected++);
    if (expected % 500 === 0) await pause(20);
  }
  assert.equal(expected, 2_000);
});

ownTest('explain reports what was read', 'it ignores explain options', async () => {
  const data = Object.fromEntries(Array.from({length: 400}, (_, n) => [`d${n}`, {n, k: n % 4}]));
  const all = await fill(data);
  const query = all.where('k', '==', 1).orderBy('n').limit(5);
  const plan = await query.explain();
  assert.equal(plan.snapshot, null);
  assert.ok(plan.metrics.planSummary.indexesUsed.length > 0);
  assert.equal(plan.metrics.executionStats, null);
  // The first runs scan everything and trigger the index.
  for (const end = Date.now() + patienceMs; ; ) {
    const {metrics, snapshot} = await query.explain({analyze: true});
    assert.equal(snapshot.size, 5);
    assert.equal(metrics.executionStats.resultsReturned, 5);
    const {debugStats} = metrics.executionStats;
    const [used] = metrics.planSummary.indexesUsed;
    if (used.properties === '(k ASC, n ASC, __name__ ASC)') {
      assert.equal(used.query_scope, 'Collection');
      assert.equal(debugStats.documents_scanned, '5');
      assert.equal(debugStats.index_entries_scanned, '5');
      assert.equal(metrics.executionStats.readOperations, 5);
      break;
    }
    assert.ok(Number(debugStats.documents_scanned) >= 400, debugStats.documents_scanned);
    assert.ok(Date.now() < end, 'no index was made');
    await pause(20);
  }
});

ownTest('a count by index reads no document', 'it ignores explain options', async () => {
  const data = Object.fromEntries(Array.from({length: 450}, (_, n) => [`d${n}`, {n}]));
  const all = await fill(data);
  for (const end = Date.now() + patienceMs; ; ) {
    const {metrics, snapshot} = await all
      .aggregate({count: AggregateField.count(), sum: AggregateField.sum('n')})
      .explain({analyze: true});
    assert.deepStrictEqual(snapshot.data(), {count: 450, sum: (450 * 449) / 2});
    if (metrics.executionStats.debugStats.documents_scanned === '0') {
      assert.equal(metrics.executionStats.debugStats.index_entries_scanned, '450');
      break;
    }
    assert.ok(Date.now() < end, 'no index was made');
    await pause(20);
  }
});

ownTest('pipelines are refused as by the Standard edition', 'it does not know them', async () => {
  const rooms = await fill({a: {n: 1}});
  await assert.rejects(rooms.firestore.pipeline().collection('rooms').execute(), {
    code: 9,
    message: /only allowed on ENTERPRISE mode/,
  });
});

ownTest('partitions split a group evenly', 'it has none', async () => {
  const all = await fill(
    Object.fromEntries(Array.from({length: 400}, (_, n) => [`d${String(n).padStart(4, '0')}`, {n}])),
    'group',
  );
  const sizes = [];
  for await (const partition of all.firestore.collectionGroup('group').getPartitions(4)) {
    sizes.push((await partition.toQuery().get()).size);
  }
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    400,
  );
  assert.equal(sizes.length, 4);
  for (const size of sizes) assert.ok(size >= 90 && size <= 110, sizes.join());
});

test('a transaction reads, queries and writes; a throw rolls it back', async () => {
  const rooms = await fill({a: {n: 1}});
  const {firestore} = rooms;
  const result = await firestore.runTransaction(async (transaction) => {
    const [{n}, {size}] = [(await transaction.get(rooms.doc('a'))).data(), await transaction.get(rooms)];
    const [, missing] = await transaction.getAll(rooms.doc('a'), rooms.doc('missing'), {fieldMask: ['n']});
    transaction
      .update(rooms.doc('a'), {n: n + 1})
      .create(firestore.doc('log/l1'), {was: n, size, found: missing.exists});
    return n;
  });
  assert.equal(result, 1);
  assert.deepStrictEqual(
    [await dataOf(rooms.doc('a')), await dataOf(firestore.doc('log/l1'))],
    [{n: 2}, {was: 1, size: 1, found: false}],
  );
  await assert.rejects(
    firestore.runTransaction(async (transaction) => {
      await transaction.get(rooms.doc('a'));
      transaction.set(rooms.doc('a'), {n: 3});
      throw new Error('changed my mind');
    }),
    /changed my mind/,
  );
  // This request is not retried: it would be aborted if the lock were still held.
  const names = new Names(firestore.projectId);
  await context.raw.must('Commit', names.commit(names.patch('rooms/a', {m: 1}, ['m'])));
  assert.deepStrictEqual(await dataOf(rooms.doc('a')), {n: 2, m: 1});
});

test('a failed precondition is not retried', async () => {
  const document = (await fill({a: {n: 1}})).doc('a');
  let attempts = 0;
  await assert.rejects(
    document.firestore.runTransaction(async (transaction) => {
      ++attempts;
      await transaction.get(document);
      transaction.create(document, {n: 2});
    }),
    {code: code.alreadyExists},
  );
  assert.equal(attempts, 1);
});

test('of two transactions that read the same document one is retried, once', async () => {
  const document = (await fill({a: {n: 0}})).doc('a');
  const bothHaveRead = new Barrier(2);
  const attempts = [0, 0];
  await Promise.all(
    [0, 1].map((who) =>
      document.firestore.runTransaction(async (transaction) => {
        const {n} = (await transaction.get(document)).data();
        if (++attempts[who] === 1) await bothHaveRead.arrive();
        transaction.update(document, {n: n + 1, [`seen${who}`]: n});
      }),
    ),
  );
  const {n, seen0, seen1} = await dataOf(document);
  assert.equal(n, 2);
  assert.deepStrictEqual([seen0, seen1].sort(), [0, 1]);
  assert.deepStrictEqual(attempts.sort(), [1, 2]);
});

ownTest('the older of two transactions does not wait for the younger one', 'it does, and times out', async () => {
  const document = (await fill({a: {n: 0}})).doc('a');
  const {firestore} = document;
  const attempts = {older: 0, younger: 0};
  const [olderHasRead, youngerHasRead] = [new Barrier(2), new Barrier(2)];
  const older = firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    if (++attempts.older === 1) {
      await olderHasRead.arrive();
      await youngerHasRead.arrive();
    }
    transaction.update(document, {n: n + 1});
  });
  await olderHasRead.arrive();
  await firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    if (++attempts.younger === 1) {
      await youngerHasRead.arrive();
      await older;
    }
    transaction.update(document, {n: n + 1});
  });
  assert.deepStrictEqual(await dataOf(document), {n: 2});
  assert.deepStrictEqual(attempts, {older: 1, younger: 2});
});

ownTest(
  'a transaction that its client abandoned does not block others for long',
  'it holds its locks for a minute',
  async () => {
    const document = (await fill({a: {n: 0}})).doc('a');
    const {raw} = context;
    const database = `projects/${document.firestore.projectId}/databases/(default)`;
    const [{transaction: left}] = await raw.must('BatchGetDocuments', {
      database,
      documents: [`${database}/documents/${document.path}`],
      newTransaction: {readWrite: {}},
    });
    await document.firestore.runTransaction(async (transaction) => {
      const {n} = (await transaction.get(document)).data();
      transaction.update(document, {n: n + 1});
    });
    assert.deepStrictEqual(await dataOf(document), {n: 1});
    // The transaction was aborted, and did not just expire.
    assert.equal((await raw.call('Commit', {database, transaction: left})).code, 'ABORTED');
  },
);

ownTest('fifty transactions on one counter all succeed', 'its lock upgrades all time out', async () => {
  const document = (await fill({a: {n: 0}})).doc('a');
  await Promise.all(
    Array.from({length: 50}, () =>
      document.firestore.runTransaction(async (transaction) => {
        const {n} = (await transaction.get(document)).data();
        transaction.update(document, {n: n + 1});
      }),
    ),
  );
  assert.deepStrictEqual(await dataOf(document), {n: 50});
});

test('twenty transactions that count a collection and add to it all get distinct numbers', async () => {
  const all = await fill({first: {n: 0}}, 'tickets');
  await Promise.all(
    Array.from({length: 20}, () =>
      all.firestore.runTransaction(
        async (transaction) => {
          const {size} = await transaction.get(all);
          transaction.create(all.doc(`t${size}`), {n: size});
        },
        {maxAttempts: 40},
      ),
    ),
  );
  assert.deepStrictEqual(
    (await all.orderBy('n').get()).docs.map((each) => each.get('n')),
    Array.from({length: 21}, (_, n) => n),
  );
});

test('transactions on different documents do not affect each other', async () => {
  const firestore = openFirestore(context);
  let attempts = 0;
  await Promise.all(
    Array.from({length: 40}, (_, id) =>
      firestore.runTransaction(async (transaction) => {
        ++attempts;
        await transaction.get(firestore.doc(`own/d${id}`));
        transaction.set(firestore.doc(`own/d${id}`), {id});
      }),
    ),
  );
  assert.equal(attempts, 40);
});

test('a transaction gives up after the attempts it was allowed', async () => {
  const document = (await fill({a: {n: 1}})).doc('a');
  const release = new Barrier(2);
  const locked = new Barrier(2);
  const holder = document.firestore.runTransaction(
    async (transaction) => {
      await transaction.get(document);
      await locked.arrive();
      await release.arrive();
    },
    {maxAttempts: 1},
  );
  await locked.arrive();
  let attempts = 0;
  await assert.rejects(
    document.firestore.runTransaction(
      async (transaction) => {
        ++attempts;
        transaction.update(document, {n: 2});
      },
      {maxAttempts: 2},
    ),
    {code: code.aborted},
  );
  assert.equal(attempts, 2);
  await release.arrive();
  await holder;
  assert.deepStrictEqual(await dataOf(document), {n: 1});
});

test('read-only transactions, including reads of the past', async () => {
  const document = (await fill({a: {n: 1}})).doc('a');
  const {updateTime} = await document.get();
  await document.firestore.runTransaction(
    async (transaction) => {
      assert.deepStrictEqual((await transaction.get(document)).data(), {n: 1});
      await document.update({n: 2});
      assert.deepStrictEqual((await transaction.get(document)).data(), {n: 1});
    },
    {readOnly: true},
  );
  const past = await document.firestore.runTransaction((transaction) => transaction.get(document), {
    readOnly: true,
    readTime: updateTime,
  });
  assert.deepStrictEqual(past.data(), {n: 1});
  assert.ok(past.readTime.isEqual(updateTime));
});
