// Locks of transactions whose client has disconnected: this takes several connections, so no case can express it.

import {Fixture, expectOutcome, ownTest, useServer} from './support/check.js';
import {Raw} from './support/raw.js';

const context = useServer();
const contention = 'Too much contention on these documents. Please try again.';

ownTest('a transaction whose client is gone does not block writes', 'it holds its locks for a minute', async (t) => {
  const begins = {
    BeginTransaction: async (room, raw) => {
      const {transaction} = await raw.must('BeginTransaction', {database: room.database});
      await raw.must('GetDocument', {name: room.doc('c/d'), transaction});
      return transaction;
    },
    BatchGetDocuments: async (room, raw) => {
      const [{transaction}] = await raw.must('BatchGetDocuments', {
        database: room.database,
        documents: [room.doc('c/d')],
        newTransaction: {readWrite: {}},
      });
      return transaction;
    },
    RunQuery: async (room, raw) => {
      const [{transaction}] = await raw.must('RunQuery', {
        parent: room.root,
        structuredQuery: {from: [{collectionId: 'c'}]},
        newTransaction: {readWrite: {}},
      });
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
      const room = new Fixture(context);
      await room.write(room.set('c/d', {n: 1}));
      const raw = new Raw(context.address);
      const transaction = await begin(room, raw);
      raw.close();
      expectOutcome(await room.tryWrite(room.set('c/d', {n: 2})), {code: 'OK'});
      expectOutcome(await room.call('Commit', {...room.commit(room.set('c/d', {n: 3})), transaction}), {
        code: 'ABORTED',
        message: contention,
      });
    });
  }
});
