// The methods that REST offers as verbs: writes, transactions, queries; and those that only streams offer.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ownTest, useServer} from './support/check.js';
import {Rest, expectError, integer, invalidRequest, text} from './support/rest.js';

const context = useServer();
const field = (fieldPath) => ({fieldPath});
const idOf = ({name}) => name.slice(name.lastIndexOf('/') + 1);
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?Z$/;

async function withNumbers(count) {
  const rest = new Rest(context);
  const writes = Array.from({length: count}, (_, n) => ({update: {name: rest.doc(`c/${n}`), fields: {n: integer(n)}}}));
  await rest.commitAll(...writes);
  return rest;
}

test('a commit writes all or nothing', async () => {
  const rest = new Rest(context);
  const {writeResults, commitTime} = await rest.commitAll(
    {update: {name: rest.doc('c/a'), fields: {n: integer(1)}}},
    {
      update: {name: rest.doc('c/a')},
      updateMask: {},
      updateTransforms: [
        {fieldPath: 'n', increment: integer(4)},
        {fieldPath: 'at', setToServerValue: 'REQUEST_TIME'},
      ],
    },
    {delete: rest.doc('c/b')},
  );
  assert.match(commitTime, timePattern);
  assert.equal(writeResults.length, 3);
  assert.equal(writeResults[0].updateTime, commitTime);
  assert.deepEqual(writeResults[1].transformResults[0], integer(5));
  assert.match(writeResults[1].transformResults[1].timestampValue, timePattern);
  const refused = await rest.post(':commit', {
    writes: [{delete: rest.doc('c/a')}, {delete: rest.doc('c/none'), currentDocument: {exists: true}}],
  });
  expectError(refused, {code: 404, name: 'NOT_FOUND'});
  assert.deepEqual((await rest.must('GET', 'c/a')).fields.n, integer(5));
});

test('enumerations come by name or number', async () => {
  const rest = new Rest(context);
  for (const setToServerValue of ['REQUEST_TIME', 1]) {
    await rest.commitAll({
      transform: {document: rest.doc('c/a'), fieldTransforms: [{fieldPath: 't', setToServerValue}]},
    });
  }
  assert.match((await rest.must('GET', 'c/a')).fields.t.timestampValue, timePattern);
});

test('the writes of a batch succeed and fail individually', async () => {
  const rest = new Rest(context);
  await rest.put('c/a', {});
  const {writeResults, status} = await rest.mustPost(':batchWrite', {
    writes: [{update: {name: rest.doc('c/b')}}, {update: {name: rest.doc('c/a')}, currentDocument: {exists: false}}],
    labels: {a: 'b'},
  });
  assert.match(writeResults[0].updateTime, timePattern);
  assert.deepEqual(writeResults[1], {});
  assert.deepEqual(status[0], {});
  assert.equal(status[1].code, 6);
});

test('batchGet answers with a list', async () => {
  const rest = await withNumbers(2);
  const list = await rest.mustPost(':batchGet', {
    documents: [rest.doc('c/1'), rest.doc('c/none'), rest.doc('c/0')],
    mask: {fieldPaths: ['n']},
  });
  assert.deepEqual(
    list.map(({found, missing}) => found?.fields ?? missing),
    [{n: integer(1)}, rest.doc('c/none'), {n: integer(0)}],
  );
  for (const {readTime} of list) assert.match(readTime, timePattern);
  const fresh = await rest.mustPost(':batchGet', {documents: [rest.doc('c/1')], newTransaction: {}});
  assert.ok(fresh[0].transaction);
  assert.equal(fresh[1].found.name, rest.doc('c/1'));
});

test('runQuery answers with a list', async () => {
  const rest = await withNumbers(5);
  const list = await rest.mustPost(':runQuery', {
    structuredQuery: {
      from: [{collectionId: 'c'}],
      orderBy: [{field: field('n'), direction: 'DESCENDING'}],
      limit: 3,
      offset: 1,
      where: {fieldFilter: {field: field('n'), op: 'GREATER_THAN_OR_EQUAL', value: integer(1)}},
    },
  });
  assert.deepEqual(
    list.filter(({document}) => document).map(({document}) => idOf(document)),
    ['3', '2', '1'],
  );
  assert.equal(list.at(-1).done, true);
  const nothing = await rest.mustPost(':runQuery', {structuredQuery: {from: [{collectionId: 'none'}]}});
  assert.equal(nothing.length, 1);
  assert.match(nothing[0].readTime, timePattern);
  await rest.put('c/0/sub/x', {});
  const below = await rest.mustPost('c/0:runQuery', {structuredQuery: {from: [{collectionId: 'sub'}]}});
  assert.equal(below[0].document.name, rest.doc('c/0/sub/x'));
});

test('runAggregationQuery answers with a list', async () => {
  const rest = await withNumbers(5);
  const [{result, readTime}] = await rest.mustPost(':runAggregationQuery', {
    structuredAggregationQuery: {
      structuredQuery: {from: [{collectionId: 'c'}]},
      aggregations: [
        {alias: 'all', count: {}},
        {alias: 'few', count: {upTo: '2'}},
        {alias: 'total', sum: {field: field('n')}},
        {alias: 'mean', avg: {field: field('n')}},
      ],
    },
  });
  assert.deepEqual(result.aggregateFields, {
    all: integer(5),
    few: integer(2),
    total: integer(10),
    mean: {doubleValue: 2},
  });
  assert.match(readTime, timePattern);
});

ownTest('explain comes as JSON', 'it has none', async () => {
  const rest = await withNumbers(1);
  const [{explainMetrics}] = await rest.mustPost(':runQuery', {
    structuredQuery: {from: [{collectionId: 'c'}]},
    explainOptions: {analyze: true},
  });
  assert.ok(Array.isArray(explainMetrics.planSummary.indexesUsed));
  assert.equal(explainMetrics.executionStats.resultsReturned, '1');
  assert.match(explainMetrics.executionStats.executionDuration, /^[\d.]+s$/);
});

ownTest('streams are for gRPC and WebChannel', 'it answers 404', async () => {
  const rest = new Rest(context);
  for (const verb of [':listen', ':write']) {
    expectError(await rest.post(verb, {}), {
      code: 501,
      name: 'UNIMPLEMENTED',
      message: /only available via gRPC or WebChannel/,
    });
  }
});

ownTest('an error of a method that returns a list comes in a list', 'it comes without', async () => {
  const rest = new Rest(context);
  const pipeline = {structuredPipeline: {pipeline: {stages: [{name: 'collection', args: [{referenceValue: '/c'}]}]}}};
  for (const [verb, body, name = 'INVALID_ARGUMENT'] of [
    [':runQuery', {structuredQuery: {from: [{collectionId: 'c'}], offset: -1}}],
    [':batchGet', {documents: ['x']}],
    [':runAggregationQuery', {}],
    [':executePipeline', pipeline, 'FAILED_PRECONDITION'],
  ]) {
    const answer = await rest.post(verb, body);
    expectError(answer, {code: 400, name});
    assert.ok(Array.isArray(answer.json), answer.text);
  }
  expectError(
    await rest.post(':runQuery', {structuredQuery: {from: [{collectionID: 'c'}]}}),
    invalidRequest(
      `Invalid JSON payload received. Unknown name "collectionID" at 'structured_query.from[0]': Cannot find field.`,
    ),
  );
});

test('a long list is streamed, as fast as it is read', async () => {
  const rest = new Rest(context);
  const count = 400;
  const filler = text('x'.repeat(50_000));
  for (let n = 0; n < count; n += 50) {
    await rest.commitAll(
      ...Array.from({length: 50}, (_, k) => ({update: {name: rest.doc(`big/${n + k}`), fields: {filler}}})),
    );
  }
  const response = await fetch(rest.url(`/v1/${rest.root}:runQuery`), {
    method: 'POST',
    body: JSON.stringify({structuredQuery: {from: [{collectionId: 'big'}]}}),
  });
  assert.equal(response.status, 200);
  // Other requests are answered while this one waits for its reader.
  const reader = response.body.getReader();
  const parts = [(await reader.read()).value];
  assert.equal((await rest.ask('GET', 'big/7')).status, 200);
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  const list = JSON.parse(Buffer.concat(parts).toString());
  assert.equal(list.filter(({document}) => document).length, count);
});

test('a reader that disconnects does no harm', async () => {
  const rest = new Rest(context);
  const filler = text('x'.repeat(100_000));
  await rest.commitAll(
    ...Array.from({length: 30}, (_, k) => ({update: {name: rest.doc(`big/${k}`), fields: {filler}}})),
  );
  for (let n = 0; n < 5; ++n) {
    const leaving = new AbortController();
    const response = await fetch(rest.url(`/v1/${rest.root}:runQuery`), {
      method: 'POST',
      body: JSON.stringify({structuredQuery: {from: [{collectionId: 'big'}]}}),
      signal: leaving.signal,
    });
    await response.body.getReader().read();
    leaving.abort();
  }
  assert.equal((await rest.ask('GET', 'big/7')).status, 200);
});
