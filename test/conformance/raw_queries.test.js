// RunQuery, RunAggregationQuery and PartitionQuery as messages: the shape of answers, and what is refused with which words.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {toValue} from './support/values.js';

const context = useServer();
const field = (fieldPath) => ({fieldPath});
const where = (fieldPath, op, value) => ({fieldFilter: {field: field(fieldPath), op, value: toValue(value)}});
const all = (op, ...filters) => ({compositeFilter: {op, filters}});
const order = (fieldPath, direction = 'ASCENDING') => ({field: field(fieldPath), direction});
const times = (count, make) => Array.from({length: count}, (_, index) => make(index));
const array = (count) => ({arrayValue: {values: times(count, (n) => ({integerValue: n}))}});
const inOf = (fieldPath, op, count) => ({fieldFilter: {field: field(fieldPath), op, value: array(count)}});

class Room extends Fixture {
  static async open(documents = {a: {n: 1}, b: {n: 2}, c: {n: 3}}) {
    const room = new Room(context);
    await room.write(...Object.entries(documents).map(([id, data]) => room.set(`c/${id}`, data)));
    return room;
  }

  run(query, more = {}) {
    return this.call('RunQuery', {parent: this.root, structuredQuery: {from: [{collectionId: 'c'}], ...query}, ...more});
  }

  async answers(query, more) {
    const {code, message, response} = await this.run(query, more);
    assert.equal(code, 'OK', message);
    return response;
  }

  async ids(query, more) {
    return (await this.answers(query, more)).filter(({document}) => document).map(({document}) => document.name.split('/').at(-1));
  }

  aggregate(aggregations, query = {}) {
    return this.call('RunAggregationQuery', {parent: this.root,
      structuredAggregationQuery: {structuredQuery: {from: [{collectionId: 'c'}], ...query}, aggregations}});
  }
}

test('each result is a message with the read time; the last one says that it is', async () => {
  const room = await Room.open();
  const answers = await room.answers({});
  assert.equal(answers.length, 3);
  assert.deepStrictEqual(answers.map(({done}) => done ?? false), [false, false, true]);
  assert.equal(new Set(answers.map(({readTime}) => JSON.stringify(readTime))).size, 1);
  const [only, ...rest] = await room.answers({where: where('n', 'EQUAL', 9)});
  assert.deepStrictEqual(rest, []);
  assert.ok(only.readTime && only.done && !only.document);
});

test('a transaction that begins with a query is told first', async () => {
  const room = await Room.open();
  const [first, second] = await room.answers({}, {newTransaction: {readOnly: {}}});
  assert.ok(first.transaction.length > 0 && !first.document);
  assert.ok(second.document);
});

ownTest('skipped results are told once', 'it tells them with every result but the last', async () => {
  const room = await Room.open();
  const answers = await room.answers({offset: 1});
  assert.deepStrictEqual(answers.map(({skippedResults}) => skippedResults ?? 0), [1, 0]);
});

test('limits, empty cursors, and a cursor that is a prefix', async () => {
  const room = await Room.open();
  assert.deepStrictEqual(await room.ids({limit: {value: 0}}), []);
  assert.deepStrictEqual(await room.ids({limit: {value: 2}, offset: 2}), ['c']);
  assert.deepStrictEqual(await room.ids({orderBy: [order('n')], startAt: {values: [], before: true}}), ['a', 'b', 'c']);
  assert.deepStrictEqual(await room.ids({orderBy: [order('n')], startAt: {values: [], before: false}}), []);
  assert.deepStrictEqual(await room.ids({orderBy: [order('n'), order('__name__')], startAt: {values: [toValue(2)], before: false}}), ['c']);
  assert.deepStrictEqual(await room.ids({orderBy: [order('n', 'DESCENDING')], endAt: {values: [toValue(2)], before: true}}), ['c']);
});

test('null and NaN match only where they are asked for by name', async () => {
  const room = await Room.open({a: {n: null}, b: {n: NaN}, c: {n: 1}, d: {}});
  assert.deepStrictEqual(await room.ids({where: where('n', 'EQUAL', null)}), []);
  assert.deepStrictEqual(await room.ids({where: where('n', 'EQUAL', NaN)}), []);
  assert.deepStrictEqual(await room.ids({where: {unaryFilter: {op: 'IS_NULL', field: field('n')}}}), ['a']);
  assert.deepStrictEqual(await room.ids({where: {unaryFilter: {op: 'IS_NAN', field: field('n')}}}), ['b']);
  assert.deepStrictEqual(await room.ids({where: {unaryFilter: {op: 'IS_NOT_NULL', field: field('n')}}}), ['b', 'c']);
  assert.deepStrictEqual(await room.ids({where: {unaryFilter: {op: 'IS_NOT_NAN', field: field('n')}}}), ['c']);
  assert.deepStrictEqual(await room.ids({where: where('n', 'NOT_EQUAL', 1)}), ['b']);
});

const refusedQueries = [
  [{from: [{collectionId: 'c'}, {collectionId: 'd'}]}, 'StructuredQuery.from cannot have more than one collection selector.'],
  [{from: [{collectionId: 'a/b'}]}, 'Collection id "a/b" is invalid because it contains "/".'],
  [{where: {}}, 'Unknown Filter type.'],
  [{where: {fieldFilter: {op: 'EQUAL', value: toValue(1)}}}, 'Invalid empty property path string.'],
  [{where: {fieldFilter: {field: field('n'), value: toValue(1)}}}, 'Unknown FieldFilter operator.'],
  [{where: {fieldFilter: {field: field('n'), op: 'EQUAL'}}}, 'Cannot convert firestore.v1.Value with type unset.'],
  [{where: {unaryFilter: {field: field('n')}}}, 'Unknown UnaryFilter operator.'],
  [{where: all('OPERATOR_UNSPECIFIED')}, 'Unsupported CompositeFilter operator.'],
  [{where: all('OR')}, 'Composite filter must have at least one sub-filter.'],
  [{where: all('AND')}, 'Composite filter must have at least one sub-filter.', {code: 'OK', message: ''}],
  [{where: all('AND', where('n', 'EQUAL', 1), all('AND'))}, 'Composite filter must have at least one sub-filter.', {code: 'OK', message: ''}],
  [{where: where('n', 'IN', 1)}, "'IN' requires an ArrayValue."],
  [{where: inOf('n', 'IN', 0)}, "'IN' requires an non-empty ArrayValue."],
  [{where: inOf('n', 'IN', 31)}, "'IN' supports up to 30 comparison values."],
  [{where: inOf('n', 'NOT_IN', 11)}, "'NOT_IN' supports up to 10 comparison values."],
  [{where: all('AND', inOf('n', 'NOT_IN', 1), inOf('m', 'IN', 1))},
    "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'."],
  [{where: all('AND', where('n', 'NOT_EQUAL', 1), where('m', 'NOT_EQUAL', 1))},
    "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query."],
  [{where: all('AND', where('n', 'ARRAY_CONTAINS', 1), where('m', 'ARRAY_CONTAINS', 1))},
    "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction."],
  [{where: all('AND', inOf('n', 'IN', 4), inOf('m', 'IN', 8))},
    'Too many disjunctions after normalization. Result had 32 disjunctions which is more than the maximum of 30'],
  [{where: all('AND', inOf('n', 'IN', 10), inOf('m', 'IN', 10))}, 'Too many disjunctions after normalization, the maximum is 30'],
  [{where: all('AND', ...times(11, (n) => where(`f${n}`, 'GREATER_THAN', 1)))},
    /^The query contains 11 distinct inequality fields: \[.*\]\. A query may not have more than 10 distinct inequality fields\.$/],
  [{where: all('AND', ...times(101, (n) => where('n', 'EQUAL', n)))},
    'The query may not have more than 100 filters + sort orders + ancestor total. Currently there are 101 filters, 0 sort orders, and no ancestor filter.'],
  [{where: where('__name__', 'EQUAL', 'x')}, '__key__ filter value must be a Key'],
  [{orderBy: [order('n'), order('n')]}, 'order by clause cannot contain duplicate fields n'],
  [{orderBy: [order('__name__'), order('n')]}, 'order by clause cannot contain more fields after the key'],
  [{orderBy: [order('a..b')]}, /^Invalid property path "a\.\.b"\./],
  [{select: {fields: [field('__x__')]}}, 'Invalid reserved name in field path __x__'],
  [{limit: {value: -1}}, 'limit is negative'],
  [{offset: -1}, 'offset is negative'],
  [{orderBy: [order('n')], startAt: {values: [toValue(1), toValue(2)]}}, 'Cursor has too many values.'],
  [{orderBy: [order('__name__')], startAt: {values: [toValue('x')]}}, 'Cursor __key__ value is not a document reference.'],
  [{from: [{}], where: where('n', 'EQUAL', 1)}, 'kind is required for filter: n'],
  [{from: [{}], orderBy: [order('n')]}, 'kind is required for all orders except __key__ ascending'],
  [{findNearest: {vectorField: field('v'), queryVector: toValue([1]), distanceMeasure: 'COSINE', limit: {value: 1}}},
    'Query Value must be of type vector.'],
];

test('queries that are refused', async () => {
  const room = await Room.open();
  for (const [query, message, emulator] of refusedQueries) expectOutcome(await room.run(query), invalid(message, emulator), query);
  expectOutcome(await room.call('RunQuery', {parent: room.root}), invalid('only structured queries are supported'));
});

ownTest('pipelines are refused as by the Standard edition', 'UNIMPLEMENTED', async () => {
  const room = await Room.open();
  const stages = [{name: 'collection', args: [{referenceValue: '/c'}]}, {name: 'limit', args: [toValue(1)]}];
  const request = {database: room.database, structuredPipeline: {pipeline: {stages}}};
  expectOutcome(await room.call('ExecutePipeline', request), {code: 'FAILED_PRECONDITION',
    message: 'Pipeline operations are only allowed on ENTERPRISE mode databases. This is a Standard edition database.'});
  expectOutcome(await room.call('ExecutePipeline', {...request, database: 'x'}), invalid('Database name "x" lacks "projects" at index 0.'));
});

test('aggregations', async () => {
  const room = await Room.open();
  const {response: [{result, readTime}]} = await room.aggregate([{count: {}}, {alias: 'sum', sum: {field: field('n')}}, {avg: {field: field('n')}}]);
  assert.ok(readTime);
  assert.deepStrictEqual(result.aggregateFields, {field_1: {integerValue: '3'}, sum: {integerValue: '6'}, field_2: {doubleValue: 2}});
  const upTo = await room.aggregate([{count: {upTo: {value: 2}}}]);
  assert.deepStrictEqual(upTo.response[0].result.aggregateFields, {field_1: {integerValue: '2'}});
  const most = await room.aggregate(times(2, () => ({sum: {field: field('big')}})));
  assert.deepStrictEqual(most.response[0].result.aggregateFields, {field_1: {integerValue: '0'}, field_2: {integerValue: '0'}});
});

test('aggregations that are refused', async () => {
  const room = await Room.open();
  const refused = [
    [[], 'Aggregations can not be empty.'],
    [[{}], 'Operator field in Aggregation is not set.'],
    [[{alias: 'x', count: {}}, {alias: 'x', count: {}}], 'Aggregation aliases contain duplicate alias: x.'],
    [[{alias: '__x__', count: {}}], 'The property.name "__x__" is reserved.'],
    [[{alias: '____', count: {}}], 'The property.name "____" is reserved.', {code: 'OK', message: ''}],
    [[{count: {upTo: {value: -1}}}], 'The `up_to` value in a COUNT aggregation must be greater than zero.',
      {message: 'The `up_to` value in a COUNT aggregation must be greater than or equal to zero.'}],
    [[{count: {upTo: {value: 0}}}], 'The `up_to` value in a COUNT aggregation must be greater than zero.', {code: 'OK', message: ''}],
    [[{sum: {field: field('__name__')}}], 'Aggregations are not supported for the property: __key__'],
  ];
  for (const [aggregations, message, emulator] of refused) {
    expectOutcome(await room.aggregate(aggregations), invalid(message, emulator), aggregations);
  }
});

ownTest('more than five aggregations', 'it crashes', async () => {
  const room = await Room.open();
  expectOutcome(await room.aggregate(times(6, (n) => ({alias: `a${n}`, count: {}}))), invalid(/maximum number of aggregations/));
});

ownTest('partitions', 'it has none', async () => {
  const room = await Room.open(Object.fromEntries(times(40, (n) => [`d${n + 10}`, {n}])));
  const partition = (more = {}, query = {}) => room.call('PartitionQuery', {parent: room.root, partitionCount: 3,
    structuredQuery: {from: [{collectionId: 'c', allDescendants: true}], orderBy: [order('__name__')], ...query}, ...more});
  const {response} = await partition();
  assert.deepStrictEqual(response.partitions.map(({values: [{referenceValue}]}) => referenceValue.split('/').at(-1)), ['d20', 'd30', 'd40']);
  assert.equal((await partition({partitionCount: 0})).code, 'INVALID_ARGUMENT');
  assert.equal((await partition({}, {orderBy: [order('n')]})).code, 'INVALID_ARGUMENT');
  assert.equal((await partition({}, {from: [{collectionId: 'c'}]})).code, 'INVALID_ARGUMENT');
});

test('a query that nobody waits for any more ends, and does no harm', async () => {
  const room = await Room.open(Object.fromEntries(times(400, (n) => [`d${n}`, {n, text: 'x'.repeat(5_000)}])));
  for (let round = 0; round < 5; ++round) {
    const call = context.raw.start('RunQuery', {parent: room.root, structuredQuery: {from: [{collectionId: 'c'}], orderBy: [order('n')]}});
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, round));
    call.cancel();
    await call.done;
  }
  assert.equal((await room.ids({})).length, 400);
});
