// BeginTransaction, Commit and Rollback: locks, waiting, deadlocks, snapshots, and transactions that are over.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {Raw} from './support/raw.js';
import {fieldsOf, microsOf, timeOf, toFields} from './support/values.js';

const context = useServer();
const contention = 'Too much contention on these documents. Please try again.';
const lockTimeout = {code: 'ABORTED', message: /^(?=.*Too much contention on these documents\. Please try again\.)(?=.*Transaction lock timeout)/,
  emulator: {message: 'Transaction lock timeout.'}};
const isOver = invalid('The referenced transaction has expired or is no longer valid.', {message: 'Transaction is invalid or closed.'});

// One document c/d {n: 1}, and calls with transactions.
class Room extends Fixture {
  static async open() {
    const room = new Room(context);
    await room.write(room.set('c/d', {n: 1}));
    return room;
  }

  read(transaction, path = 'c/d') {
    return this.call('GetDocument', {name: this.doc(path), transaction});
  }

  // Reads that must succeed, so that their locks are held.
  async lock(transaction, ...paths) {
    await this.must('BatchGetDocuments', {database: this.database, documents: paths.map((path) => this.doc(path)), transaction});
  }

  end(transaction, ...writes) {
    return this.call('Commit', {...this.commit(...writes), transaction});
  }

  rollback(transaction) {
    return this.call('Rollback', {database: this.database, transaction});
  }
}

// Whether the call is still waiting once another request, sent later, has been answered.
async function isWaiting(fixture, call) {
  let isDone = false;
  const done = () => { isDone = true; };
  call.then(done, done);
  for (let round = 0; round < 5; ++round) await fixture.get('other/document');
  return !isDone;
}

test('begin, read, commit', async () => {
  const room = await Room.open();
  for (const options of [undefined, {}, {readWrite: {}}]) {
    const transaction = await room.begin(options);
    assert.equal((await room.read(transaction)).code, 'OK');
    const {code, response} = await room.end(transaction, room.set('c/d', {n: 2}), room.set('c/e', {n: 3}));
    assert.equal(code, 'OK');
    assert.equal(response.writeResults.length, 2);
    await room.expectFields('c/e', {n: 3});
  }
  const [{transaction}] = await room.must('BatchGetDocuments',
    {database: room.database, documents: [room.doc('c/d')], newTransaction: {readWrite: {}}});
  expectOutcome(await room.end(transaction, room.set('c/d', {n: 4})), {code: 'OK'});
  await room.expectFields('c/d', {n: 4});
});

test('rollback, also twice', async () => {
  const room = await Room.open();
  const transaction = await room.begin();
  await room.lock(transaction, 'c/d');
  expectOutcome(await room.rollback(transaction), {code: 'OK'});
  expectOutcome(await room.rollback(transaction), {code: 'OK'});
  await room.write(room.set('c/d', {n: 2}));
});

test('a transaction that is over', async (t) => {
  const endings = {
    committed: (room, transaction) => room.end(transaction, room.set('c/d', {n: 2})),
    'committed without writes': (room, transaction) => room.end(transaction),
    'rolled back': (room, transaction) => room.rollback(transaction),
    'failed on a precondition': (room, transaction) => room.end(transaction, room.set('c/d', {}, {currentDocument: {exists: false}})),
  };
  for (const [name, finish] of Object.entries(endings)) {
    await t.test(name, async () => {
      const room = await Room.open();
      const transaction = await room.begin();
      await room.read(transaction);
      await finish(room, transaction);
      expectOutcome(await room.read(transaction), isOver);
      expectOutcome(await room.end(transaction, room.set('c/d', {n: 9})), isOver);
      expectOutcome(await room.call('BatchGetDocuments', {database: room.database, documents: [room.doc('c/d')], transaction}), isOver);
      expectOutcome(await room.call('ListDocuments', {parent: room.root, collectionId: 'c', transaction}), isOver);
      expectOutcome(await room.rollback(transaction), {code: 'OK'});
      const again = await room.begin({readWrite: {retryTransaction: transaction}});
      expectOutcome(await room.end(again, room.set('c/d', {n: 3})), {code: 'OK'});
    });
  }
});

test('ids that are no transactions', async () => {
  const room = await Room.open();
  const garbage = Buffer.from('garbage');
  const malformed = invalid('Invalid transaction.');
  expectOutcome(await room.read(garbage), malformed);
  expectOutcome(await room.read(Buffer.alloc(0)), malformed);
  expectOutcome(await room.end(garbage), malformed);
  expectOutcome(await room.rollback(garbage), malformed);
  expectOutcome(await room.rollback(Buffer.alloc(0)), malformed);
  expectOutcome(await room.call('BeginTransaction', {database: room.database, options: {readWrite: {retryTransaction: garbage}}}), malformed);
  expectOutcome(await room.end(Buffer.alloc(0), room.set('c/d', {n: 2})), {code: 'OK'});
});

test('a transaction of another database', async () => {
  const [room, other] = [await Room.open(), await Room.open()];
  // The emulator counts from 1 in each database, so the id must be one that the other has not reached.
  const transactions = [await other.begin(), await other.begin(), await other.begin()];
  const transaction = transactions.at(-1);
  const foreign = invalid(/^Transaction is invalid or closed\.$|^The referenced transaction has expired or is no longer valid\.$/);
  expectOutcome(await room.read(transaction), foreign);
  expectOutcome(await room.end(transaction, room.set('c/d', {n: 2})), foreign);
  expectOutcome(await room.rollback(transaction), invalid(/invalid or expired|no longer valid/));
  await Promise.all(transactions.map((id) => other.rollback(id)));
});

test('a write to a document that a transaction has read waits for its end', async (t) => {
  const locks = {
    GetDocument: (room, transaction) => room.read(transaction),
    'GetDocument of a missing one': (room, transaction) => room.read(transaction, 'c/new'),
    BatchGetDocuments: (room, transaction) => room.lock(transaction, 'c/d', 'c/new'),
    ListDocuments: (room, transaction) => room.must('ListDocuments', {parent: room.root, collectionId: 'c', transaction}),
  };
  const writes = {
    Commit: (room, path) => room.tryWrite(room.set(path, {outside: true})),
    DeleteDocument: (room, path) => room.call('DeleteDocument', {name: room.doc(path)}),
    BatchWrite: (room, path) => room.call('BatchWrite', room.commit(room.set(path, {outside: true}))),
  };
  for (const [reader, take] of Object.entries(locks)) {
    for (const [writer, write] of Object.entries(writes)) {
      await t.test(`${reader}, ${writer}`, async () => {
        const room = await Room.open();
        const path = reader.includes('missing') ? 'c/new' : 'c/d';
        const transaction = await room.begin();
        await take(room, transaction);
        const waiting = write(room, path);
        assert.ok(await isWaiting(room, waiting), 'the write did not wait');
        expectOutcome(await room.end(transaction, room.set('c/seen', {before: true})), {code: 'OK'});
        expectOutcome(await waiting, {code: 'OK'});
        await room.expectFields(path, writer === 'DeleteDocument' ? null : {outside: true});
      });
    }
  }
});

test('what a transaction does not lock', async () => {
  const room = await Room.open();
  const transaction = await room.begin();
  await room.lock(transaction, 'c/d');
  await room.write(room.set('c/e', {}), room.set('c/d/below/x', {}), room.set('cc/d', {}));
  await room.expectFields('c/d', {n: 1});
  await room.tryWrite();
  const other = await room.begin();
  await room.lock(other, 'c/d');
  await room.rollback(other);
  expectOutcome(await room.end(transaction, room.set('c/d', {n: 2})), {code: 'OK'});
});

test('a transaction sees the newest committed state at each read, and then keeps it', async () => {
  const room = await Room.open();
  const transaction = await room.begin();
  await room.lock(transaction, 'c/d');
  await room.write(room.set('c/e', {n: 5}));
  const {response} = await room.read(transaction, 'c/e');
  assert.deepStrictEqual(fieldsOf(response), toFields({n: 5}));
  await room.rollback(transaction);
});

test('several waiting writes all go through', async () => {
  const room = await Room.open();
  const transaction = await room.begin();
  await room.lock(transaction, 'c/d');
  const waiting = ['a', 'b', 'c'].map((id) => room.tryWrite(room.patch('c/d', {[id]: 1}, [id])));
  assert.ok(await isWaiting(room, Promise.race(waiting)));
  await room.rollback(transaction);
  for (const outcome of await Promise.all(waiting)) expectOutcome(outcome, {code: 'OK'});
  await room.expectFields('c/d', {n: 1, a: 1, b: 1, c: 1});
});

test('waiting ends after a while', {concurrency: true}, async (t) => {
  const cases = {
    Commit: async (room) => expectOutcome(await room.tryWrite(room.set('c/d', {n: 2})), lockTimeout),
    'a failing precondition': async (room) =>
      expectOutcome(await room.tryWrite(room.set('c/d', {}, {currentDocument: {exists: false}})), lockTimeout),
    DeleteDocument: async (room) => expectOutcome(await room.call('DeleteDocument', {name: room.doc('c/d')}), lockTimeout),
    BatchWrite: async (room) => {
      const {status} = await room.must('BatchWrite', room.commit(room.set('c/d', {n: 2}), room.set('c/free', {})));
      assert.deepStrictEqual(status.map(({code = 0}) => code), [10, 0]);
      expectOutcome({code: 'ABORTED', message: status[0].message}, lockTimeout);
    },
    'a transaction': async (room) => {
      const blind = await room.begin();
      expectOutcome(await room.end(blind, room.set('c/d', {n: 2})), lockTimeout);
      expectOutcome(await room.end(blind), isOver);
    },
  };
  await Promise.all(Object.entries(cases).map(([name, body]) => t.test(name, async () => {
    const room = await Room.open();
    const holder = await room.begin();
    await room.lock(holder, 'c/d');
    const ended = body(room);
    assert.ok(await isWaiting(room, ended), 'it did not wait');
    await ended;
    await room.expectFields('c/d', {n: 1});
    expectOutcome(await room.end(holder, room.set('c/d', {n: 3})), {code: 'OK'});
  })));
});

ownTest('of two that wait for each other one is given up at once', 'both time out', async (t) => {
  const cases = {
    'both read one document': ['c/d', 'c/d'],
    'each writes what the other read': ['c/d', 'c/e'],
  };
  for (const [name, [first, second]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const room = await Room.open();
      const [a, b] = [await room.begin(), await room.begin()];
      await room.lock(a, first);
      await room.lock(b, second);
      const outcomes = await Promise.all([room.end(a, room.set(second, {by: 'a'})), room.end(b, room.set(first, {by: 'b'}))]);
      const lost = outcomes.filter(({code}) => code !== 'OK');
      assert.equal(lost.length, 1);
      // Whoever had waited to the end would be told of a lock timeout.
      expectOutcome(lost[0], {code: 'ABORTED', message: contention});
      const loser = outcomes[0] === lost[0] ? a : b;
      expectOutcome(await room.read(loser), isOver);
    });
  }
});

ownTest('a transaction that commits goes ahead of younger ones that have read the document', 'it waits, and times out', async (t) => {
  const overtaken = {code: 'ABORTED', message: contention};
  const nextCalls = {
    read: (room, transaction) => room.read(transaction, 'c/e'),
    query: (room, transaction) => room.call('RunQuery',
      {parent: room.root, structuredQuery: {from: [{collectionId: 'c'}]}, transaction}),
    commit: (room, transaction) => room.end(transaction, room.set('c/d', {n: 9})),
    'commit without writes': (room, transaction) => room.end(transaction),
  };
  for (const [name, next] of Object.entries(nextCalls)) {
    await t.test(name, async () => {
      const room = await Room.open();
      const [older, younger] = [await room.begin(), await room.begin()];
      await room.lock(older, 'c/d');
      await room.lock(younger, 'c/d');
      expectOutcome(await room.end(older, room.set('c/d', {n: 2})), {code: 'OK'});
      expectOutcome(await next(room, younger), overtaken);
      if (name.startsWith('commit')) {
        expectOutcome(await room.read(younger), isOver);
      } else {
        expectOutcome(await room.read(younger), overtaken);
        expectOutcome(await room.rollback(younger), {code: 'OK'});
      }
      const retry = await room.begin({readWrite: {retryTransaction: younger}});
      await room.lock(retry, 'c/d');
      expectOutcome(await room.end(retry, room.set('c/d', {n: 3})), {code: 'OK'});
      await room.expectFields('c/d', {n: 3});
    });
  }
});

ownTest('an attempt takes the locks that the one before it still holds', 'they are strangers to each other', async () => {
  const room = await Room.open();
  const first = await room.begin();
  await room.lock(first, 'c/d');
  const second = await room.begin({readWrite: {retryTransaction: first}});
  await room.lock(second, 'c/d');
  expectOutcome(await room.end(second, room.set('c/d', {n: 2})), {code: 'OK'});
  expectOutcome(await room.end(first, room.set('c/d', {n: 3})), {code: 'ABORTED', message: contention});
});

ownTest('a transaction whose client is gone does not hold writes up', 'it holds its locks for a minute', async (t) => {
  const begins = {
    BeginTransaction: async (room, raw) => {
      const {transaction} = await raw.must('BeginTransaction', {database: room.database});
      await raw.must('GetDocument', {name: room.doc('c/d'), transaction});
      return transaction;
    },
    BatchGetDocuments: async (room, raw) => {
      const [{transaction}] = await raw.must('BatchGetDocuments',
        {database: room.database, documents: [room.doc('c/d')], newTransaction: {readWrite: {}}});
      return transaction;
    },
    RunQuery: async (room, raw) => {
      const [{transaction}] = await raw.must('RunQuery', {parent: room.root,
        structuredQuery: {from: [{collectionId: 'c'}]}, newTransaction: {readWrite: {}}});
      return transaction;
    },
    ListDocuments: async (room, raw) => {
      const transaction = await room.begin();
      await raw.must('ListDocuments', {parent: room.root, collectionId: 'c', transaction});
      return transaction;
    },
  };
  for (const [name, begin] of Object.entries(begins)) {
    await t.test(name, async () => {
      const room = await Room.open();
      const raw = new Raw(context.address);
      const transaction = await begin(room, raw);
      raw.close();
      expectOutcome(await room.tryWrite(room.set('c/d', {n: 2})), {code: 'OK'});
      expectOutcome(await room.end(transaction, room.set('c/d', {n: 3})), {code: 'ABORTED', message: contention});
    });
  }
});

test('read-only transactions', async () => {
  const room = await Room.open();
  const transaction = await room.begin({readOnly: {}});
  await room.write(room.set('c/d', {n: 2}), room.set('c/e', {}));
  assert.deepStrictEqual(fieldsOf((await room.read(transaction)).response), toFields({n: 1}));
  const {documents} = await room.list({collectionId: 'c', transaction});
  assert.equal(documents.length, 1);
  await room.write(room.set('c/d', {n: 3}));
  expectOutcome(await room.end(transaction, room.set('c/d', {n: 4})), invalid('Cannot modify entities in a read-only transaction.'));
  assert.deepStrictEqual(fieldsOf((await room.read(transaction)).response), toFields({n: 1}));
  expectOutcome(await room.end(transaction), {code: 'OK'});
});

test('read-only transactions at a time', async () => {
  const room = await Room.open();
  const {updateTime} = await room.get('c/d');
  await room.write(room.remove('c/d'));
  await room.write(room.set('c/d', {again: true}));
  const transaction = await room.begin({readOnly: {readTime: updateTime}});
  const [{found, readTime}] = await room.must('BatchGetDocuments', {database: room.database, documents: [room.doc('c/d')], transaction});
  assert.deepStrictEqual([fieldsOf(found), readTime], [toFields({n: 1}), updateTime]);
  expectOutcome(await room.end(transaction), {code: 'OK'});
  const future = timeOf(microsOf(updateTime) + 3_600_000_000n);
  for (const [bad, message] of [
    [future, "The requested 'read_time' cannot be in the future."],
    [{seconds: '1600000000', nanos: 1}, 'timestamp cannot have more than microseconds precision'],
    [{seconds: '0'}, 'Only timestamps past epoch are supported.']]) {
    expectOutcome(await room.call('BeginTransaction', {database: room.database, options: {readOnly: {readTime: bad}}}), invalid(message));
  }
});
