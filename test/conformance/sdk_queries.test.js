// Queries through the Node SDK: filters, orders, cursors, groups, aggregates, transactions, explain, nearest neighbours.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {AggregateField, FieldPath, FieldValue, Filter, Timestamp} from '@google-cloud/firestore';
import {ownTest, useServer} from './support/check.js';
import {patienceMs} from './support/patience.js';
import {openFirestore} from './support/sdk.js';
import {Names} from './support/values.js';

const context = useServer();

async function fill(data, collection = 'rooms') {
  const firestore = openFirestore(context);
  const batch = firestore.batch();
  for (const [id, fields] of Object.entries(data)) batch.set(firestore.collection(collection).doc(id), fields);
  await batch.commit();
  return firestore.collection(collection);
}

const idsOf = async (query) => (await query.get()).docs.map(({id}) => id);

async function expectIds(query, ids) {
  assert.deepStrictEqual(await idsOf(query), ids);
}

const people = {
  ann: {age: 30, city: 'Rome', tags: ['a', 'b'], address: {zip: 1}},
  bob: {age: 25, city: 'Oslo', tags: ['b']},
  cid: {age: 30.5, city: 'Rome', tags: []},
  dan: {age: null, city: 'Bonn'},
  eve: {city: 'Oslo', tags: ['a'], address: {zip: 2}},
};

test('every operator', async () => {
  const all = await fill(people);
  await expectIds(all, ['ann', 'bob', 'cid', 'dan', 'eve']);
  await expectIds(all.where('age', '==', 30), ['ann']);
  await expectIds(all.where('age', '<', 30), ['bob']);
  await expectIds(all.where('age', '<=', 30), ['bob', 'ann']);
  await expectIds(all.where('age', '>', 25), ['ann', 'cid']);
  await expectIds(all.where('age', '>=', 25), ['bob', 'ann', 'cid']);
  await expectIds(all.where('age', '!=', 30), ['bob', 'cid']);
  await expectIds(all.where('age', '==', null), ['dan']);
  await expectIds(all.where('age', '!=', null), ['bob', 'ann', 'cid']);
  await expectIds(all.where('city', 'in', ['Oslo', 'Bonn']), ['bob', 'dan', 'eve']);
  await expectIds(all.where('city', 'not-in', ['Oslo', 'Bonn']), ['ann', 'cid']);
  await expectIds(all.where('tags', 'array-contains', 'b'), ['ann', 'bob']);
  await expectIds(all.where('tags', 'array-contains-any', ['a', 'c']), ['ann', 'eve']);
  await expectIds(all.where('address.zip', '>', 1), ['eve']);
  await expectIds(all.where('tags', '==', ['b']), ['bob']);
  await expectIds(all.where(FieldPath.documentId(), '>', 'bob').where(FieldPath.documentId(), '<=', 'dan'), ['cid', 'dan']);
  await expectIds(all.where(FieldPath.documentId(), 'in', ['eve', 'ann', 'nobody']), ['ann', 'eve']);
});

test('and, or, and inequalities on several fields', async () => {
  const all = await fill(people);
  await expectIds(all.where('city', '==', 'Rome').where('tags', 'array-contains', 'a'), ['ann']);
  await expectIds(all.where(Filter.or(Filter.where('city', '==', 'Bonn'), Filter.where('age', '==', 25))), ['bob', 'dan']);
  await expectIds(all.where(Filter.and(Filter.where('city', '==', 'Rome'),
    Filter.or(Filter.where('age', '==', 30.5), Filter.where('tags', 'array-contains', 'b')))), ['ann', 'cid']);
  await expectIds(all.where('age', '>=', 25).where('city', '<', 'Rome'), ['bob']);
  // Documents that lack an ordered field are not in the result, whichever branch they match.
  await expectIds(all.where(Filter.or(Filter.where('city', '==', 'Oslo'), Filter.where('age', '>', 30))), ['bob', 'cid']);
});

test('orders, cursors, limits and offsets', async () => {
  const all = await fill(people);
  await expectIds(all.orderBy('age'), ['dan', 'bob', 'ann', 'cid']);
  await expectIds(all.orderBy('age', 'desc'), ['cid', 'ann', 'bob', 'dan']);
  await expectIds(all.orderBy('city').orderBy('age', 'desc'), ['dan', 'bob', 'cid', 'ann']);
  await expectIds(all.orderBy('city').orderBy(FieldPath.documentId(), 'desc'), ['dan', 'eve', 'bob', 'cid', 'ann']);
  await expectIds(all.orderBy('city').startAt('Oslo').limit(2), ['bob', 'eve']);
  await expectIds(all.orderBy('city').startAfter('Oslo'), ['ann', 'cid']);
  await expectIds(all.orderBy('city').endBefore('Oslo'), ['dan']);
  await expectIds(all.orderBy('city').endAt('Oslo').offset(1), ['bob', 'eve']);
  await expectIds(all.orderBy('city').limitToLast(2), ['ann', 'cid']);
  const bob = await all.doc('bob').get();
  await expectIds(all.orderBy('city').startAfter(bob), ['eve', 'ann', 'cid']);
  await expectIds(all.orderBy('city', 'desc').startAt(bob), ['bob', 'dan']);
});

ownTest('names descending', 'it does not support that', async () => {
  const all = await fill(people);
  await expectIds(all.orderBy(FieldPath.documentId(), 'desc').limit(2), ['eve', 'dan']);
  await expectIds(all.orderBy(FieldPath.documentId(), 'desc').startAfter('cid'), ['bob', 'ann']);
});

test('projections', async () => {
  const all = await fill(people);
  const [ann] = (await all.select('city', 'address.zip').limit(1).get()).docs;
  assert.deepStrictEqual(ann.data(), {city: 'Rome', address: {zip: 1}});
  const [name] = (await all.select().limit(1).get()).docs;
  assert.deepStrictEqual([name.id, name.data()], ['ann', {}]);
  assert.ok(name.createTime.isEqual((await all.doc('ann').get()).createTime));
});

test('collection groups, and everything below a document', async () => {
  const firestore = openFirestore(context);
  const paths = ['a/1/g/x', 'a/1/g/x/g/y', 'a/2/g/w', 'g/z', 'a/1/h/q', 'b/1/c/2/g/v'];
  for (const path of paths) await firestore.doc(path).set({n: path.length});
  const found = async (query) => (await query.get()).docs.map(({ref}) => ref.path);
  assert.deepStrictEqual(await found(firestore.collectionGroup('g')), ['a/1/g/x', 'a/1/g/x/g/y', 'a/2/g/w', 'b/1/c/2/g/v', 'g/z']);
  assert.deepStrictEqual(await found(firestore.collectionGroup('g').where('n', '==', 7)), ['a/1/g/x', 'a/2/g/w']);
  assert.deepStrictEqual(await found(firestore.collectionGroup('g').orderBy('n', 'desc').limit(2)), ['b/1/c/2/g/v', 'a/1/g/x/g/y']);
  await firestore.recursiveDelete(firestore.doc('a/1'));
  assert.deepStrictEqual(await found(firestore.collectionGroup('g')), ['a/2/g/w', 'b/1/c/2/g/v', 'g/z']);
  assert.deepStrictEqual(await found(firestore.collectionGroup('h')), []);
});

test('aggregates', async () => {
  const all = await fill({a: {n: 1, k: 1}, b: {n: 2.5, k: 1}, c: {n: 'x', k: 1}, d: {k: 2}});
  const one = all.where('k', '==', 1);
  const {count} = (await all.count().get()).data();
  assert.equal(count, 4);
  const both = (await one.aggregate({count: AggregateField.count(), sum: AggregateField.sum('n'), average: AggregateField.average('n')}).get()).data();
  assert.deepStrictEqual(both, {count: 3, sum: 3.5, average: 1.75});
  const none = (await all.where('k', '==', 9).aggregate({sum: AggregateField.sum('n'), average: AggregateField.average('n')}).get()).data();
  assert.deepStrictEqual(none, {sum: 0, average: null});
  assert.equal((await all.limit(2).count().get()).data().count, 2);
});

test('a query of the past', async () => {
  const all = await fill({a: {n: 1}, b: {n: 2}, c: {n: 3}});
  const {readTime} = await all.get();
  await all.doc('a').delete();
  await all.doc('b').set({n: 9});
  await all.doc('d').set({n: 0});
  const past = async (query) => all.firestore.runTransaction(async (transaction) =>
    (await transaction.get(query)).docs.map(({id}) => id), {readOnly: true, readTime});
  assert.deepStrictEqual(await past(all.orderBy('n')), ['a', 'b', 'c']);
  assert.deepStrictEqual(await past(all.where('n', '<', 3)), ['a', 'b']);
  await expectIds(all.orderBy('n'), ['d', 'c', 'b']);
});

test('a transaction that has queried is not disturbed by new documents', async () => {
  const all = await fill({a: {n: 1}, b: {n: 2}});
  const names = new Names(all.firestore.projectId);
  let outside;
  const seen = await all.firestore.runTransaction(async (transaction) => {
    const before = (await transaction.get(all.where('n', '>', 0))).size;
    // It is sent before what is asked next, over the same connection: once that is answered, it waits or is done.
    outside ??= context.raw.must('Commit', names.commit(names.set('rooms/c', {n: 3})));
    await context.raw.must('ListCollectionIds', {parent: names.root});
    const after = (await transaction.get(all.where('n', '>', 0))).size;
    transaction.set(all.firestore.doc('results/r'), {before, after});
    return [before, after];
  });
  await outside;
  assert.deepStrictEqual(seen, [2, 2]);
  assert.equal((await all.where('n', '>', 0).get()).size, 3);
});

test('twenty transactions that count a collection and add to it all get numbers of their own', async () => {
  const all = await fill({first: {n: 0}}, 'tickets');
  await Promise.all(Array.from({length: 20}, () => all.firestore.runTransaction(async (transaction) => {
    const {size} = await transaction.get(all);
    transaction.create(all.doc(`t${size}`), {n: size});
  }, {maxAttempts: 40})));
  assert.deepStrictEqual((await all.orderBy('n').get()).docs.map((each) => each.get('n')), Array.from({length: 21}, (_, n) => n));
});

test('a result larger than any buffer arrives whole, also at a slow reader', async () => {
  const firestore = openFirestore(context);
  const writer = firestore.bulkWriter();
  const text = 'x'.repeat(20_000);
  for (let n = 0; n < 2_000; ++n) writer.set(firestore.doc(`big/${String(n).padStart(5, '0')}`), {n, text});
  await writer.close();
  let expected = 0;
  for await (const document of firestore.collection('big').orderBy('n').stream()) {
    assert.equal(document.get('n'), expected++);
    if (expected % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(expected, 2_000);
});

ownTest('explain tells the truth', 'it ignores explain options', async () => {
  const data = Object.fromEntries(Array.from({length: 400}, (_, n) => [`d${n}`, {n, k: n % 4}]));
  const all = await fill(data);
  const query = all.where('k', '==', 1).orderBy('n').limit(5);
  const plan = await query.explain();
  assert.equal(plan.snapshot, null);
  assert.ok(plan.metrics.planSummary.indexesUsed.length > 0);
  assert.equal(plan.metrics.executionStats, null);
  // The first runs look at everything and have the index made.
  for (const end = Date.now() + patienceMs; ;) {
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

ownTest('explain counts each document once, and bills as the cloud does', 'it ignores explain options', async () => {
  const all = await fill({a: {N: 3, v: FieldValue.vector([3, 1])}, b: {N: 1, v: FieldValue.vector([1, 1])}, c: {N: 2, v: FieldValue.vector([2, 1])}});
  const nearest = all.findNearest({vectorField: 'v', queryVector: [1, 1], limit: 2, distanceMeasure: 'EUCLIDEAN'});
  const sum = {sum: AggregateField.sum('N'), average: AggregateField.average('N')};
  // Results, documents scanned, read operations.
  const shapes = [
    [all, 3, '3', 3], [all.orderBy('N'), 3, '3', 3], [all.orderBy('N').limit(1), 1, '3', 1], [all.orderBy('N').limitToLast(2), 2, '3', 2],
    [all.orderBy('N').offset(2), 1, '3', 3], [all.where('N', '>', 1), 2, '3', 2], [all.where('N', '==', 7), 0, '3', 1],
    [all.where('N', '>', 1).orderBy('v'), 2, '3', 3], [nearest, 2, '3', 3], [all.count(), 1, '3', 1], [all.aggregate(sum), 1, '3', 1],
  ];
  for (const [position, [query, results, documents, reads]] of shapes.entries()) {
    const {executionStats} = (await query.explain({analyze: true})).metrics;
    const {resultsReturned, readOperations, debugStats} = executionStats;
    assert.deepEqual([resultsReturned, debugStats.documents_scanned, readOperations], [results, documents, reads], `shape ${position}`);
    const {documents_billable: returned, index_entries_billable: entries, min_query_cost: minimum} = debugStats.billing_details;
    assert.equal(Number(returned) + Math.ceil(Number(entries) / 100) + Number(minimum), reads, `shape ${position}`);
  }
});

ownTest('a count by index reads no document', 'it ignores explain options', async () => {
  const data = Object.fromEntries(Array.from({length: 450}, (_, n) => [`d${n}`, {n}]));
  const all = await fill(data);
  for (const end = Date.now() + patienceMs; ;) {
    const {metrics, snapshot} = await all.aggregate({count: AggregateField.count(), sum: AggregateField.sum('n')}).explain({analyze: true});
    assert.deepStrictEqual(snapshot.data(), {count: 450, sum: 450 * 449 / 2});
    if (metrics.executionStats.debugStats.documents_scanned === '0') {
      assert.equal(metrics.executionStats.debugStats.index_entries_scanned, '450');
      break;
    }
    assert.ok(Date.now() < end, 'no index was made');
    await pause(20);
  }
});

ownTest('partitions split a group evenly', 'it has none', async () => {
  const data = Object.fromEntries(Array.from({length: 400}, (_, n) => [`d${String(n).padStart(4, '0')}`, {n}]));
  const all = await fill(data, 'group');
  const sizes = [];
  for await (const partition of all.firestore.collectionGroup('group').getPartitions(4)) {
    sizes.push((await partition.toQuery().get()).size);
  }
  assert.equal(sizes.reduce((sum, size) => sum + size), 400);
  assert.equal(sizes.length, 4);
  for (const size of sizes) assert.ok(size >= 90 && size <= 110, sizes.join());
});

test('nearest neighbours', async () => {
  const all = await fill({
    a: {v: FieldValue.vector([1, 0]), k: 1}, b: {v: FieldValue.vector([0, 2]), k: 1}, c: {v: FieldValue.vector([3, 3]), k: 2},
    d: {v: FieldValue.vector([1, 1, 1]), k: 1}, e: {v: [1, 0], k: 1}, f: {k: 1},
  });
  const nearest = (query, options) => idsOf(query.findNearest({vectorField: 'v', queryVector: [1, 0.5], limit: 10, ...options}));
  assert.deepStrictEqual(await nearest(all, {distanceMeasure: 'EUCLIDEAN'}), ['a', 'b', 'c']);
  assert.deepStrictEqual(await nearest(all, {distanceMeasure: 'COSINE'}), ['c', 'a', 'b'].sort((x, y) => cosine[x] - cosine[y]));
  assert.deepStrictEqual(await nearest(all, {distanceMeasure: 'DOT_PRODUCT'}), ['c', 'a', 'b']);
  assert.deepStrictEqual(await nearest(all, {distanceMeasure: 'EUCLIDEAN', limit: 1}), ['a']);
  assert.deepStrictEqual(await nearest(all.where('k', '==', 2), {distanceMeasure: 'EUCLIDEAN'}), ['c']);
  assert.deepStrictEqual(await nearest(all, {distanceMeasure: 'EUCLIDEAN', distanceThreshold: 1}), ['a']);
  const {docs} = await all.findNearest({vectorField: 'v', queryVector: [1, 0], limit: 1, distanceMeasure: 'EUCLIDEAN', distanceResultField: 'far'}).get();
  assert.equal(docs[0].get('far'), 0);
});
const cosine = {a: 1 - 1 / Math.hypot(1, 0.5), b: 1 - 0.5 / Math.hypot(1, 0.5), c: 1 - 4.5 / (Math.hypot(1, 0.5) * Math.hypot(3, 3))};

test('timestamps, and fields with odd names', async () => {
  const all = await fill({a: {'odd.name': 1, at: Timestamp.fromMillis(1000)}, b: {'odd.name': 2, at: Timestamp.fromMillis(2000)}});
  await expectIds(all.where(new FieldPath('odd.name'), '>', 1), ['b']);
  await expectIds(all.where('at', '>', Timestamp.fromMillis(1500)), ['b']);
});

ownTest('pipelines are refused as by the Standard edition', 'it does not know them', async () => {
  const rooms = await fill({a: {n: 1}});
  await assert.rejects(rooms.firestore.pipeline().collection('rooms').execute(), {code: 9, message: /only allowed on ENTERPRISE mode/});
});
