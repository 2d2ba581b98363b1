// RunQuery and RunAggregationQuery as messages: the form of answers, and cancelled calls.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, ownTest, useServer} from './support/check.js';
import {toValue} from './support/values.js';

const context = useServer();
const field = (fieldPath) => ({fieldPath});
const where = (fieldPath, op, value) => ({fieldFilter: {field: field(fieldPath), op, value: toValue(value)}});
const order = (fieldPath, direction = 'ASCENDING') => ({field: field(fieldPath), direction});
const times = (count, make) => Array.from({length: count}, (_, index) => make(index));

class Room extends Fixture {
  static async open(documents = {a: {n: 1}, b: {n: 2}, c: {n: 3}}) {
    const room = new Room(context);
    await room.write(...Object.entries(documents).map(([id, data]) => room.set(`c/${id}`, data)));
    return room;
  }

  run(query, more = {}) {
    return this.call('RunQuery', {
      parent: this.root,
      structuredQuery: {from: [{collectionId: 'c'}], ...query},
      ...more,
    });
  }

  async answers(query, more) {
    const {code, message, response} = await this.run(query, more);
    assert.equal(code, 'OK', message);
    return response;
  }

  async ids(query, more) {
    return (await this.answers(query, more))
      .filter(({document}) => document)
      .map(({document}) => document.name.split('/').at(-1));
  }

  aggregate(aggregations, query = {}) {
    return this.call('RunAggregationQuery', {
      parent: this.root,
      structuredAggregationQuery: {structuredQuery: {from: [{collectionId: 'c'}], ...query}, aggregations},
    });
  }
}

test('each result is a message with the read time; the last one is marked as such', async () => {
  const room = await Room.open();
  const answers = await room.answers({});
  assert.equal(answers.length, 3);
  assert.deepStrictEqual(
    answers.map(({done}) => done ?? false),
    [false, false, true],
  );
  assert.equal(new Set(answers.map(({readTime}) => JSON.stringify(readTime))).size, 1);
  const [only, ...rest] = await room.answers({where: where('n', 'EQUAL', 9)});
  assert.deepStrictEqual(rest, []);
  assert.ok(only.readTime && only.done && !only.document);
});

test('a transaction begun by a query is reported first', async () => {
  const room = await Room.open();
  const [first, second] = await room.answers({}, {newTransaction: {readOnly: {}}});
  assert.ok(first.transaction.length > 0 && !first.document);
  assert.ok(second.document);
});

ownTest('skipped results are reported once', 'it reports them with every result but the last', async () => {
  const room = await Room.open();
  const answers = await room.answers({offset: 1});
  assert.deepStrictEqual(
    answers.map(({skippedResults}) => skippedResults ?? 0),
    [1, 0],
  );
});

test('aggregations have aliases, given or numbered', async () => {
  const room = await Room.open();
  const {
    response: [{result, readTime}],
  } = await room.aggregate([{count: {}}, {alias: 'sum', sum: {field: field('n')}}, {avg: {field: field('n')}}]);
  assert.ok(readTime);
  assert.deepStrictEqual(result.aggregateFields, {
    field_1: {integerValue: '3'},
    sum: {integerValue: '6'},
    field_2: {doubleValue: 2},
  });
});

test('a cancelled query ends, and does no harm', async () => {
  const room = await Room.open(Object.fromEntries(times(400, (n) => [`d${n}`, {n, text: 'x'.repeat(5_000)}])));
  for (let round = 0; round < 5; ++round) {
    const call = context.raw.start('RunQuery', {
      parent: room.root,
      structuredQuery: {from: [{collectionId: 'c'}], orderBy: [order('n')]},
    });
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, round));
    call.cancel();
    await call.done;
  }
  assert.equal((await room.ids({})).length, 400);
});
