// Transactions through the Node SDK: isolation, retries, rollback, reads of the past.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ownTest, useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';
import {Names} from './support/values.js';

const context = useServer();
const aborted = 10;

// Resolves when `count` parties have arrived.
class Barrier {
  #waiting = [];

  constructor(count) {
    this.count = count;
  }

  arrive() {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === this.count) this.#waiting.forEach((release) => release());
    });
  }
}

async function newDocument(data, path = 'rooms/r1') {
  const document = openFirestore(context).doc(path);
  await document.set(data);
  return document;
}

const dataOf = async (document) => (await document.get()).data();

test('read, modify, write', async () => {
  const document = await newDocument({n: 1});
  const {firestore} = document;
  const result = await firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    transaction.update(document, {n: n + 1});
    transaction.create(firestore.doc('log/l1'), {was: n});
    return n;
  });
  assert.equal(result, 1);
  assert.deepStrictEqual([await dataOf(document), await dataOf(firestore.doc('log/l1'))], [{n: 2}, {was: 1}]);
});

test('a transaction sees its reads unchanged by its own writes, and getAll sees missing documents', async () => {
  const document = await newDocument({n: 1});
  const missing = document.firestore.doc('rooms/missing');
  await document.firestore.runTransaction(async (transaction) => {
    const [one, two] = await transaction.getAll(document, missing, {fieldMask: ['n']});
    assert.deepStrictEqual([one.data(), two.exists], [{n: 1}, false]);
    transaction.delete(document).set(missing, {n: 2});
  });
  assert.deepStrictEqual([await dataOf(document), await dataOf(missing)], [undefined, {n: 2}]);
});

test('writes without reads, and a transaction that does nothing', async () => {
  const document = await newDocument({n: 1});
  await document.firestore.runTransaction(async (transaction) => transaction.set(document, {n: 2}));
  assert.equal(await document.firestore.runTransaction(async () => 'nothing'), 'nothing');
  assert.deepStrictEqual(await dataOf(document), {n: 2});
});

test('a throw rolls back and frees the locks at once', async () => {
  const document = await newDocument({n: 1});
  let attempts = 0;
  await assert.rejects(document.firestore.runTransaction(async (transaction) => {
    ++attempts;
    await transaction.get(document);
    transaction.set(document, {n: 2});
    throw new Error('changed my mind');
  }), /changed my mind/);
  // Nobody tries this a second time: it would be aborted if the lock were still held.
  const names = new Names(document.firestore.projectId);
  await context.raw.must('Commit', names.commit(names.patch('rooms/r1', {m: 1}, ['m'])));
  assert.equal(attempts, 1);
  assert.deepStrictEqual(await dataOf(document), {n: 1, m: 1});
});

test('a failed precondition is not retried', async () => {
  const document = await newDocument({n: 1});
  let attempts = 0;
  await assert.rejects(document.firestore.runTransaction(async (transaction) => {
    ++attempts;
    await transaction.get(document);
    transaction.create(document, {n: 2});
  }), {code: 6});
  assert.equal(attempts, 1);
  assert.deepStrictEqual(await dataOf(document), {n: 1});
});

test('of two transactions that read the same document one is retried, once', async () => {
  const document = await newDocument({n: 0});
  const bothHaveRead = new Barrier(2);
  const attempts = [0, 0];
  await Promise.all([0, 1].map((who) => document.firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    if (++attempts[who] === 1) await bothHaveRead.arrive();
    transaction.update(document, {n: n + 1, [`seen${who}`]: n});
  })));
  const {n, seen0, seen1} = await dataOf(document);
  assert.equal(n, 2);
  assert.deepStrictEqual([seen0, seen1].sort(), [0, 1]);
  assert.deepStrictEqual(attempts.sort(), [1, 2]);
});

ownTest('the older of two transactions does not wait for the younger one', 'it does, and times out', async () => {
  const document = await newDocument({n: 0});
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

ownTest('a transaction that its client has left behind does not stop others for long', 'it holds its locks for a minute', async () => {
  const document = await newDocument({n: 0});
  const {raw} = context;
  const database = `projects/${document.firestore.projectId}/databases/(default)`;
  const [{transaction: left}] = await raw.must('BatchGetDocuments',
    {database, documents: [`${database}/documents/${document.path}`], newTransaction: {readWrite: {}}});
  await document.firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    transaction.update(document, {n: n + 1});
  });
  assert.deepStrictEqual(await dataOf(document), {n: 1});
  // It did not just come to its end.
  assert.equal((await raw.call('Commit', {database, transaction: left})).code, 'ABORTED');
});

test('write skew does not happen', async () => {
  const firestore = openFirestore(context);
  const [a, b] = [firestore.doc('doctors/a'), firestore.doc('doctors/b')];
  await Promise.all([a.set({onCall: true}), b.set({onCall: true})]);
  const bothHaveRead = new Barrier(2);
  const firstAttempt = [true, true];
  const leave = (who, document) => firestore.runTransaction(async (transaction) => {
    const onCall = (await transaction.getAll(a, b)).filter((snapshot) => snapshot.get('onCall')).length;
    if (firstAttempt[who]) {
      firstAttempt[who] = false;
      await bothHaveRead.arrive();
    }
    if (onCall < 2) return 'stays';
    transaction.update(document, {onCall: false});
    return 'leaves';
  });
  const outcomes = await Promise.all([leave(0, a), leave(1, b)]);
  assert.deepStrictEqual(outcomes.sort(), ['leaves', 'stays']);
});

test('a document that a transaction found missing cannot appear under it', async () => {
  const document = openFirestore(context).doc('rooms/new');
  const bothHaveRead = new Barrier(2);
  const firstAttempt = [true, true];
  const outcomes = await Promise.all([0, 1].map((who) => document.firestore.runTransaction(async (transaction) => {
    const {exists} = await transaction.get(document);
    if (firstAttempt[who]) {
      firstAttempt[who] = false;
      await bothHaveRead.arrive();
    }
    if (!exists) transaction.set(document, {by: who});
    return exists;
  })));
  assert.deepStrictEqual(outcomes.sort(), [false, true]);
});

test('a write from outside waits for the transaction that read the document', async () => {
  const document = await newDocument({n: 1});
  let outside;
  await document.firestore.runTransaction(async (transaction) => {
    await transaction.get(document);
    outside = document.update({outside: true});
    transaction.update(document, {n: 2});
  });
  await outside;
  assert.deepStrictEqual(await dataOf(document), {n: 2, outside: true});
});

ownTest('fifty transactions on one counter all succeed', 'its lock upgrades all time out', async () => {
  const document = await newDocument({n: 0});
  await Promise.all(Array.from({length: 50}, () => document.firestore.runTransaction(async (transaction) => {
    const {n} = (await transaction.get(document)).data();
    transaction.update(document, {n: n + 1});
  })));
  assert.deepStrictEqual(await dataOf(document), {n: 50});
});

test('transactions on documents of their own do not disturb each other', async () => {
  const firestore = openFirestore(context);
  let attempts = 0;
  await Promise.all(Array.from({length: 40}, (_, id) => firestore.runTransaction(async (transaction) => {
    ++attempts;
    await transaction.get(firestore.doc(`own/d${id}`));
    transaction.set(firestore.doc(`own/d${id}`), {id});
  })));
  assert.equal(attempts, 40);
});

test('a transaction gives up after the attempts it was allowed', {concurrency: true}, async (t) => {
  const cases = [1, 2].map((maxAttempts) => t.test(`${maxAttempts} attempts`, async () => {
    const document = await newDocument({n: 1});
    const release = new Barrier(2);
    const locked = new Barrier(2);
    const holder = document.firestore.runTransaction(async (transaction) => {
      await transaction.get(document);
      await locked.arrive();
      await release.arrive();
    }, {maxAttempts: 1});
    await locked.arrive();
    let attempts = 0;
    await assert.rejects(document.firestore.runTransaction(async (transaction) => {
      ++attempts;
      transaction.update(document, {n: 2});
    }, {maxAttempts}), {code: aborted});
    assert.equal(attempts, maxAttempts);
    await release.arrive();
    await holder;
    assert.deepStrictEqual(await dataOf(document), {n: 1});
  }));
  await Promise.all(cases);
});

test('a read-only transaction keeps one view and takes no locks', async () => {
  const document = await newDocument({n: 1});
  const other = document.firestore.doc('rooms/other');
  await document.firestore.runTransaction(async (transaction) => {
    assert.deepStrictEqual((await transaction.get(document)).data(), {n: 1});
    await Promise.all([document.update({n: 2}), other.set({n: 3})]);
    const [one, two] = await transaction.getAll(document, other);
    assert.deepStrictEqual([one.data(), two.exists], [{n: 1}, false]);
  }, {readOnly: true});
  assert.deepStrictEqual(await dataOf(document), {n: 2});
});

test('reads at earlier times, across deletes and new beginnings', async () => {
  const document = openFirestore(context).doc('rooms/r1');
  const {writeTime: first} = await document.set({n: 1});
  const {writeTime: second} = await document.update({n: 2});
  const {writeTime: deleted} = await document.delete();
  const {writeTime: again} = await document.create({n: 3});
  const past = [[first, {n: 1}], [second, {n: 2}], [deleted, undefined], [again, {n: 3}]];
  for (const [readTime, expected] of past) {
    const snapshot = await document.firestore.runTransaction((transaction) => transaction.get(document),
      {readOnly: true, readTime});
    assert.deepStrictEqual(snapshot.data(), expected);
    if (snapshot.exists) assert.ok(snapshot.updateTime.isEqual(readTime));
    assert.ok(snapshot.readTime.isEqual(readTime));
  }
});
