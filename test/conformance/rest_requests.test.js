// REST requests in general: content types, system parameters, CORS, and invalid requests.

import assert from 'node:assert/strict';
import {connect} from 'node:http2';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {ownTest, useServer} from './support/check.js';
import {Rest, expectError, integer, invalidRequest} from './support/rest.js';

const context = useServer();
const origin = 'http://localhost:3000';

test('the type of the body does not matter', async () => {
  const rest = new Rest(context);
  const body = {writes: [{update: {name: rest.doc('c/a'), fields: {n: integer(1)}}}]};
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'text/plain;charset=UTF-8',
  ]) {
    assert.equal((await rest.post(':commit', body, {headers: {'content-type': type}})).status, 200, type);
  }
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(body)));
  assert.equal((await fetch(rest.url(`/v1/${rest.root}:commit`), {method: 'POST', body: bytes})).status, 200);
  assert.equal((await rest.ask('POST', ':commit')).status, 200);
});

ownTest('a body may be compressed', 'it may not', async () => {
  const rest = new Rest(context);
  const response = await fetch(rest.url(`/v1/${rest.root}/c/a`), {
    method: 'PATCH',
    headers: {'content-encoding': 'gzip'},
    body: gzipSync(JSON.stringify({fields: {n: integer(1)}})),
  });
  assert.deepEqual((await response.json()).fields, {n: integer(1)});
});

ownTest('answers have the right headers', 'it sends fewer', async () => {
  const rest = new Rest(context);
  for (const answer of [await rest.ask('GET', 'c'), await rest.ask('GET', 'c/a'), await rest.post(':runQuery', {})]) {
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=UTF-8');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

ownTest('system parameters shape the answer', 'it ignores them', async () => {
  const rest = new Rest(context);
  await rest.put('c/a', {n: integer(1)});
  assert.match((await rest.ask('GET', 'c/a')).text, /^\{\n {2}"name": /);
  for (const query of [
    'prettyPrint=false',
    '$prettyPrint=false',
    'alt=json&key=k&access_token=t&fields=x&quotaUser=u&prettyPrint=false',
  ]) {
    assert.match((await rest.ask('GET', 'c/a', {query})).text, /^\{"name":/);
  }
  for (const query of [
    'alt=json',
    '$alt=json',
    'uploadType=media',
    'callback=f',
    '$.xgafv=1',
    'upload_protocol=raw',
    'oauth_token=t',
  ]) {
    assert.equal((await rest.ask('GET', 'c/a', {query})).status, 200, query);
  }
  expectError(await rest.ask('GET', 'c/a', {query: 'alt=proto'}), invalidRequest(/alt/));
});

test('web pages of every origin are allowed', async () => {
  const rest = new Rest(context);
  const preflight = await rest.ask('OPTIONS', ':commit', {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-goog-api-client',
    },
  });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin);
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization,content-type,x-goog-api-client');
  for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']) {
    assert.match(preflight.headers.get('access-control-allow-methods'), new RegExp(method));
  }
  for (const answer of [
    await rest.ask('GET', 'c', {headers: {origin}}),
    await rest.ask('GET', 'c/none', {headers: {origin}}),
    await rest.post(':commit', '{', {headers: {origin}}),
    await rest.post(':runQuery', {}, {headers: {origin}}),
  ]) {
    assert.equal(answer.headers.get('access-control-allow-origin'), origin, answer.text);
  }
  assert.equal((await rest.ask('GET', 'c')).headers.get('access-control-allow-origin'), null);
});

ownTest('a browser caches the answer to a preflight, for any origin', 'it is asked every time', async () => {
  const rest = new Rest(context);
  const preflight = await rest.ask('OPTIONS', ':nope', {headers: {origin, 'access-control-request-method': 'POST'}});
  assert.ok(Number(preflight.headers.get('access-control-max-age')) > 0);
  assert.equal(
    (await rest.ask('GET', ':nope', {headers: {origin}})).headers.get('access-control-allow-origin'),
    origin,
  );
});

ownTest("operators' requests are not for web pages", 'it has none', async () => {
  const rest = new Rest(context);
  const answer = await rest.send('GET', '/hearth/v1/databases', {headers: {origin}});
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
  assert.equal(answer.status, 403);
});

test('unknown paths are not found', async () => {
  const rest = new Rest(context);
  for (const [method, path] of [
    ['GET', `/v1/${rest.root}:commit`],
    ['POST', `/v1/${rest.root}:nope`],
    ['PUT', `/v1/${rest.root}/c/a`],
    ['GET', '/v1/nope'],
    ['GET', `/v1/${rest.database}`],
    ['GET', `/v1/${rest.root}`],
  ]) {
    assert.equal((await rest.send(method, path)).status, 404, `${method} ${path}`);
  }
});

ownTest('unknown paths are answered in JSON', 'it is plain text', async () => {
  const rest = new Rest(context);
  expectError(await rest.send('GET', '/v1/nope'), {code: 404, name: 'NOT_FOUND', message: 'Method not found.'});
});

ownTest('HEAD is GET without a body', 'it is not found', async () => {
  const rest = new Rest(context);
  await rest.put('c/a', {});
  const {status, headers, text} = await rest.ask('HEAD', 'c/a');
  assert.equal(status, 200);
  assert.ok(Number(headers.get('content-length')) > 0);
  assert.equal(text, '');
  assert.equal((await rest.ask('HEAD', 'c/b')).status, 404);
});

ownTest('a method may be named in a header field', 'it may not', async () => {
  const rest = new Rest(context);
  const headers = {'x-http-method-override': 'PATCH'};
  assert.equal((await rest.ask('POST', 'c/a', {body: {}, headers})).json.name, rest.doc('c/a'));
});

test('invalid JSON, or JSON of another message, is refused', async () => {
  const rest = new Rest(context);
  const bad = [
    '{',
    '[]',
    '1',
    'null',
    '{"writes": {}}',
    '{"writes": [1]}',
    '{"nope": 1}',
    '{"writes": [{"delete": 1}]}',
    '{"writes": [{"delete": "x", "update": {}}]}',
    '{"writes": [null]}',
    '{"writes": [{"currentDocument": {"exists": "maybe"}}]}',
  ];
  for (const body of bad) expectError(await rest.post(':commit', body), invalidRequest());
});

ownTest('deep nesting is refused', 'it is not tried', async () => {
  const rest = new Rest(context);
  const depth = 100_000;
  for (const body of [
    '['.repeat(depth),
    '{"writes":'.repeat(depth),
    `{"writes": ${'['.repeat(depth)}`,
    `{"writes": [{"update": {"fields": {"a": ${'{"arrayValue": {"values": ['.repeat(depth)}`,
  ]) {
    expectError(await rest.post(':commit', body), invalidRequest(/^Invalid /));
  }
  let value = integer(1);
  for (let n = 0; n < 21; ++n) value = {mapValue: {fields: {a: value}}};
  expectError(await rest.ask('PATCH', 'c/a', {body: {fields: {a: value}}}), invalidRequest(/depth|nest/i));
});

ownTest('a body over the limit is refused', 'its limit differs', async () => {
  const rest = new Rest(context);
  const large = `{"writes": [], "x": "${'x'.repeat(11 * 1024 * 1024)}"}`;
  const answer = await rest
    .post(':commit', large, {headers: {origin}})
    .catch((error) => ({broken: error.cause?.code ?? error.message}));
  // A client may notice the closed connection before it reads the answer.
  if (answer.broken) return assert.match(answer.broken, /ECONNRESET|EPIPE|UND_ERR_SOCKET/);
  expectError(answer, {code: 413, message: /exceeds the limit/});
});

ownTest('REST speaks HTTP/2 as well', 'its HTTP/2 is for gRPC only', async () => {
  const rest = new Rest(context);
  await rest.put('c/a', {n: integer(1)});
  const session = connect(rest.url(''));
  const stream = session.request({':path': `/v1/${rest.root}/c/a`});
  let text = '';
  for await (const part of stream.setEncoding('utf8')) text += part;
  session.close();
  assert.deepEqual(JSON.parse(text).fields, {n: integer(1)});
});
