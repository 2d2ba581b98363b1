// Documents in REST: URLs, their parameters, and JSON.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ownTest, useServer} from './support/check.js';
import {Rest, expectError, integer, invalidRequest, text} from './support/rest.js';

const context = useServer();

test('a document is created, read, changed and deleted', async () => {
  const rest = new Rest(context);
  const created = await rest.mustPost('rooms', {fields: {size: integer(3)}}, {query: {documentId: 'r1'}});
  assert.equal(created.name, rest.doc('rooms/r1'));
  assert.deepEqual(created.fields, {size: integer(3)});
  assert.match(created.createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?Z$/);
  assert.deepEqual(await rest.must('GET', 'rooms/r1'), created);
  const updated = await rest.put('rooms/r1', {size: integer(4)});
  assert.equal(updated.createTime, created.createTime);
  assert.deepEqual(updated.fields, {size: integer(4)});
  assert.deepEqual(await rest.must('DELETE', 'rooms/r1'), {});
  assert.deepEqual(await rest.must('DELETE', 'rooms/r1'), {});
  assert.equal((await rest.ask('GET', 'rooms/r1')).status, 404);
});

test('masks select the fields to write and to return', async () => {
  const rest = new Rest(context);
  await rest.put('c/a', {x: integer(1), y: integer(2), z: integer(3)});
  const patched = await rest.must('PATCH', 'c/a', {
    body: {fields: {x: integer(9), y: integer(9)}},
    query: 'updateMask.fieldPaths=x&updateMask.field_paths=z&mask.fieldPaths=x&mask.fieldPaths=y',
  });
  assert.deepEqual(patched.fields, {x: integer(9), y: integer(2)});
  assert.deepEqual((await rest.must('GET', 'c/a')).fields, {x: integer(9), y: integer(2)});
  assert.deepEqual((await rest.must('GET', 'c/a', {query: 'mask.fieldPaths=y'})).fields, {y: integer(2)});
  assert.deepEqual((await rest.must('GET', 'c', {query: 'mask.fieldPaths=y'})).documents[0].fields, {y: integer(2)});
});

ownTest('an update time in the URL is a precondition too', 'it reads message-typed parameters as empty', async () => {
  const rest = new Rest(context);
  const {updateTime} = await rest.put('c/a', {n: integer(1)});
  expectError(await rest.ask('DELETE', 'c/a', {query: {'currentDocument.updateTime': '2020-01-01T00:00:00Z'}}), {
    code: 400,
    name: 'FAILED_PRECONDITION',
  });
  await rest.must('DELETE', 'c/a', {query: {'currentDocument.updateTime': updateTime}});
});

ownTest('documents are read as of a time, and in a transaction', 'it cannot read these parameters', async () => {
  const rest = new Rest(context);
  const {updateTime: before} = await rest.put('c/a', {n: integer(1)});
  await rest.put('c/a', {n: integer(2)});
  assert.deepEqual((await rest.must('GET', 'c/a', {query: {readTime: before}})).fields, {n: integer(1)});
  assert.deepEqual((await rest.must('GET', 'c', {query: {readTime: before}})).documents[0].fields, {n: integer(1)});
  const {transaction} = await rest.mustPost(':beginTransaction', {options: {readOnly: {readTime: before}}});
  assert.deepEqual((await rest.must('GET', 'c/a', {query: {transaction}})).fields, {n: integer(1)});
  const urlSafe = transaction.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  assert.deepEqual((await rest.must('GET', 'c/a', {query: {transaction: urlSafe}})).fields, {n: integer(1)});
});

test('ids are percent-decoded', async () => {
  const rest = new Rest(context);
  for (const id of ['a b', 'ü', 'a+b', 'a%b', '100%', 'a?b', 'a#b', 'a&b=c', '(x)', "it's", 'a:b']) {
    await rest.send('PATCH', `/v1/${rest.root}/c/${encodeURIComponent(id)}`, {body: {fields: {id: text(id)}}});
    const {status, json} = await rest.send('GET', `/v1/${rest.root}/c/${encodeURIComponent(id)}`);
    assert.equal(status, 200, id);
    assert.equal(json.name, rest.doc(`c/${id}`));
    assert.deepEqual(json.fields, {id: text(id)});
  }
});

ownTest(
  'a colon in an id needs no encoding; an encoded slash is not a separator',
  'it decodes the path first',
  async () => {
    const rest = new Rest(context);
    const {name} = (await rest.send('PATCH', `/v1/${rest.root}/c/a:commit`, {body: {}})).json;
    assert.equal(name, rest.doc('c/a:commit'));
    const slash = await rest.send('PATCH', `/v1/${rest.root}/c%2Fx/y`, {body: {}});
    assert.equal(slash.json.name, rest.doc('c%2Fx/y'));
  },
);

test('a name in the body does not override the URL', {
  skip: process.env.HEARTH_TARGET === 'emulator' && 'never answers',
}, async () => {
  const rest = new Rest(context);
  const {name} = await rest.must('PATCH', 'c/a', {body: {name: rest.doc('c/b'), fields: {}}});
  assert.equal(name, rest.doc('c/a'));
});

test('values survive a round trip', async () => {
  const rest = new Rest(context);
  const fields = {
    array: {arrayValue: {values: [integer(1), text('x'), {mapValue: {fields: {a: {booleanValue: false}}}}]}},
    bytes: {bytesValue: 'AP/+'},
    double: {doubleValue: 1.5},
    emptyArray: {arrayValue: {}},
    emptyMap: {mapValue: {}},
    geo: {geoPointValue: {latitude: -12.5, longitude: 170.25}},
    infinity: {doubleValue: '-Infinity'},
    largest: {integerValue: '9223372036854775807'},
    nan: {doubleValue: 'NaN'},
    nothing: {nullValue: null},
    reference: {referenceValue: rest.doc('c/b')},
    smallest: {integerValue: '-9223372036854775808'},
    string: text('é😀\u2028"\\\n'),
    time: {timestampValue: '2024-02-29T12:34:56.123456Z'},
    truth: {booleanValue: true},
    zero: integer(0),
  };
  await rest.put('c/a', fields);
  assert.deepEqual((await rest.must('GET', 'c/a')).fields, fields);
});

test('values may be written in several ways', async () => {
  const rest = new Rest(context);
  const cases = [
    [{integerValue: 7}, integer(7)],
    [{integer_value: '7'}, integer(7)],
    [{integerValue: '1e3'}, integer(1000)],
    [{doubleValue: '1.5'}, {doubleValue: 1.5}],
    [{nullValue: 'NULL_VALUE'}, {nullValue: null}],
    [{nullValue: 0}, {nullValue: null}],
    [{bytesValue: '-_8'}, {bytesValue: '+/8='}],
    [{bytesValue: '+/8='}, {bytesValue: '+/8='}],
    [{timestampValue: '2024-01-01T02:00:00+02:00'}, {timestampValue: '2024-01-01T00:00:00Z'}],
    [{timestampValue: '2024-01-01T00:00:00.1234567Z'}, {timestampValue: '2024-01-01T00:00:00.123456Z'}],
  ];
  for (const [sent, stored] of cases) {
    const {fields} = await rest.put('c/a', {v: sent});
    assert.deepEqual(fields, {v: stored}, JSON.stringify(sent));
  }
});

ownTest("errors in requests have the cloud's wording", 'its wording differs', async () => {
  const rest = new Rest(context);
  const unbound = (name) =>
    `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. ` +
    `Field '${name}' could not be found in request message.`;
  expectError(await rest.ask('GET', 'c/a', {query: 'foo=1'}), invalidRequest(unbound('foo')));
  expectError(await rest.ask('GET', 'c/a', {query: 'mask.foo=1'}), invalidRequest(unbound('mask.foo')));
  expectError(
    await rest.ask('GET', 'c', {query: 'pageSize=abc'}),
    invalidRequest(`Invalid value at 'page_size' (TYPE_INT32), "abc"`),
  );
  expectError(await rest.ask('GET', 'c/a'), {
    code: 404,
    name: 'NOT_FOUND',
    message: `Document "${rest.doc('c/a')}" not found.`,
  });
  expectError(
    await rest.ask('PATCH', 'c/a', {body: {fields: {a: {foo: 1}}}}),
    invalidRequest(
      `Invalid JSON payload received. Unknown name "foo" at 'document.fields[0].value': Cannot find field.`,
    ),
  );
});
