// Requests as web pages of other sites make them, and the databases of applications through every door.

import assert from 'node:assert/strict';
import {request} from 'node:http';
import {connect as connectHttp2} from 'node:http2';
import {connect} from 'node:net';
import {after, before, test} from 'node:test';
import {Channel} from '../conformance/support/channel.js';
import {Raw, decode, encode} from '../conformance/support/raw.js';
import {openFirestore} from '../conformance/support/sdk.js';
import {startHearth} from '../conformance/support/server.js';

const password = 'correct horse battery staple';
const database = 'projects/hearth/databases/(default)';
const users = `${database}/documents/dev-feed-users`;
const form = 'application/x-www-form-urlencoded';
const context = {};

before(async () => {
  context.server = await startHearth({flags: ['--apps', 'feed', '--protect-project', 'locked']});
  context.address = context.server.address;
  context.owner = new Raw(context.address);
  context.admin = new Raw(context.address, {owner: false});
  context.admin.headers = context.server.admin;
  const registered = await ask('POST', '/apps/feed/auth/register', {
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({username: 'victim', password}),
  });
  assert.equal(registered.status, 201, registered.body);
});
after(async () => {
  context.owner?.close();
  context.admin?.close();
  await context.server?.stop();
});

// A whole answer. Unlike fetch, this sends any Host.
function ask(method, path, {headers = {}, body} = {}) {
  const [host, port] = context.address.split(':');
  return new Promise((resolve, reject) => {
    const asked = request({host, port, method, path, headers, agent: false}, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.once('end', () => resolve({status: response.statusCode, headers: response.headers, body: text}));
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

const isCors = (name) => name.startsWith('access-control-');
const canLogIn = async () =>
  (
    await ask('POST', '/apps/feed/auth/login', {
      headers: {'content-type': 'application/json'},
      body: JSON.stringify({username: 'victim', password}),
    })
  ).status === 200;

// One request for each door, as [method, path, headers, body].
const doors = {
  rest: ['GET', '/v1/projects/p/databases/(default)/documents/c'],
  'rest, a simple write': [
    'PATCH',
    '/v1/projects/p/databases/(default)/documents/c/hit',
    {'content-type': 'text/plain'},
    '{"fields":{}}',
  ],
  'rest, a form': [
    'POST',
    '/v1/projects/p/databases/(default)/documents/c?documentId=hit',
    {'content-type': form},
    '{"fields":{}}',
  ],
  'gRPC-Web': [
    'POST',
    '/google.firestore.v1.Firestore/GetDocument',
    {'content-type': 'application/grpc-web+proto'},
    '\0\0\0\0\0',
  ],
  WebChannel: [
    'POST',
    '/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&CVER=22',
    {'content-type': form},
    'count=0',
  ],
  'the back channel': ['GET', '/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=rpc&SID=x&TYPE=xmlhttp'],
  clear: ['DELETE', '/emulator/v1/projects/p/databases/(default)/documents'],
  control: ['GET', '/hearth/v1/databases'],
  metrics: ['GET', '/metrics'],
  application: ['GET', '/apps/feed/health'],
  'application, a write': [
    'POST',
    '/apps/feed/auth/login',
    {'content-type': 'text/plain'},
    JSON.stringify({username: 'victim', password}),
  ],
  'front page': ['GET', '/', {accept: 'text/html'}],
  'front data': ['GET', '/hearth/front'],
  nothing: ['GET', '/no/such/path'],
};

// What a browser adds to the requests of a strange page, or of a page whose host name leads here.
const strangers = {
  'another site': {origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors'},
  'another site, an old browser': {origin: 'http://evil.example:8080'},
  'a sandboxed frame': {origin: 'null'},
  'an image or a script': {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image'},
  'a frame': {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe'},
  'a rebound name': {host: 'evil.example:8080', origin: 'http://evil.example:8080', 'sec-fetch-site': 'same-origin'},
  'a rebound name without an origin': {host: 'evil.example'},
  'a rebound name that looks local': {host: 'localhost.evil.example'},
};

for (const [stranger, sent] of Object.entries(strangers)) {
  test(`${stranger} gets nothing from any door, not even with the token`, async () => {
    await context.owner.call('DeleteDocument', {name: 'projects/p/databases/(default)/documents/c/hit'});
    for (const [door, [method, path, headers, body]] of Object.entries(doors)) {
      const answer = await ask(method, path, {headers: {...headers, ...context.server.admin, ...sent}, body});
      assert.equal(answer.status, 403, `${door}: ${answer.body}`);
      assert.match(answer.body, /"status":"PERMISSION_DENIED"/);
      assert.ok(!Object.keys(answer.headers).some(isCors), door);
    }
    const preflight = await ask('OPTIONS', doors.rest[1], {
      headers: {
        ...sent,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization',
        'access-control-request-private-network': 'true',
      },
    });
    assert.equal(preflight.status, 403);
    assert.ok(!Object.keys(preflight.headers).some(isCors));
    const {code} = await context.owner.call('GetDocument', {
      name: 'projects/p/databases/(default)/documents/c/hit',
    });
    assert.equal(code, 'NOT_FOUND');
    assert.ok(await canLogIn());
  });
}

// The answer to bytes that no HTTP library would send.
function sendBytes(bytes) {
  const [host, port] = context.address.split(':');
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({host, port}, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (piece) => (text += piece));
    socket.once('end', () => resolve(text)).once('error', reject);
  });
}

test('HTTP/1: a host anywhere in the head must be one of the server, and there must be one', async () => {
  const path = doors.rest[1];
  const own = `http://${context.address}${path}`;
  const foreign = `http://evil.example${path}`;
  const status = async (target, headers, version = '1.1') =>
    Number((await sendBytes(`GET ${target} HTTP/${version}\r\n${headers}Connection: close\r\n\r\n`)).split(' ')[1]);
  const host = `Host: ${context.address}\r\n`;
  assert.equal(await status(own, host), 200);
  assert.equal(await status(path, host, '1.0'), 200);
  const refused = [400, 403];
  for (const [target, headers, version] of [
    [foreign, host],
    [foreign, 'Host: evil.example\r\n'],
    [own, 'Host: evil.example\r\n'],
    [path, '', '1.0'],
    [foreign, '', '1.0'],
    [foreign, host, '1.0'],
  ])
    assert.ok(refused.includes(await status(target, headers, version)), `${target} ${headers}`);
});

test('HTTP/2: the authority and the host must be names of the server', async () => {
  const client = connectHttp2(`http://${context.address}`);
  const status = (headers) =>
    new Promise((resolve, reject) => {
      const stream = client.request({':path': doors.rest[1], ...headers});
      stream.once('response', (head) => resolve(head[':status']));
      stream.once('error', reject).resume();
    });
  const outcome = (headers) => status(headers).catch(({code}) => code);
  try {
    assert.equal(await status({':authority': context.address}), 200);
    assert.equal(await status({':authority': 'evil.example'}), 403);
    assert.equal(await status({':authority': 'evil.example', ...context.server.admin}), 403);
    const refusals = [400, 403, 'ERR_HTTP2_STREAM_ERROR'];
    assert.ok(refusals.includes(await outcome({':authority': context.address, host: 'evil.example'})));
    assert.ok(refusals.includes(await outcome({':authority': 'evil.example', host: context.address})));
  } finally {
    client.close();
  }
});

test('a page under development uses every door that pages use', async () => {
  const origin = 'http://localhost:5173';
  const sent = {origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors'};
  for (const door of ['rest', 'rest, a simple write', 'gRPC-Web', 'WebChannel', 'clear']) {
    const [method, path, headers, body] = doors[door];
    const answer = await ask(method, path, {headers: {...headers, ...sent}, body});
    assert.equal(answer.status, 200, `${door}: ${answer.body}`);
    assert.equal(answer.headers['access-control-allow-origin'], origin, door);
  }
  const preflight = await ask('OPTIONS', doors.rest[1], {
    headers: {...sent, 'access-control-request-method': 'PATCH', 'access-control-request-private-network': 'true'},
  });
  assert.equal(preflight.headers['access-control-allow-private-network'], 'true');
});

test('a link of another site opens pages, and nothing else', async () => {
  const link = {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document'};
  const open = (path) => ask('GET', path, {headers: {...link, accept: 'text/html', ...context.server.admin}});
  assert.equal((await open('/')).status, 200);
  assert.equal((await open('/apps/feed/')).status, 200);
  for (const path of ['/v1/projects/p/databases/(default)/documents/c', '/metrics', '/hearth/v1/databases'])
    assert.equal((await open(path)).status, 403, path);
});

test('flags allow other hosts and origins', async () => {
  const other = await startHearth({
    flags: ['--allow-host', 'db.example', '--allow-origin', 'https://app.example'],
  });
  const {address} = context;
  try {
    context.address = other.address;
    const [method, path] = doors.rest;
    const status = async (headers) => (await ask(method, path, {headers})).status;
    assert.equal(await status({host: 'db.example:8080'}), 200);
    assert.equal(await status({host: 'evil.example'}), 403);
    assert.equal(await status({origin: 'https://app.example'}), 200);
    assert.equal(await status({origin: 'http://app.example'}), 403);
  } finally {
    context.address = address;
    await other.stop();
  }
});

// The fields of the victim, as an answer contains them.
const hasHash = (answer) => JSON.stringify(answer).includes('password_hash');
const write = {update: {name: `${users}/1`, fields: {password_hash: {stringValue: 'mine'}}}};
const target = {query: {parent: `${database}/documents`, structuredQuery: {from: [{collectionId: 'dev-feed-users'}]}}};

test("gRPC: applications' documents are for the administrator only", async () => {
  const attempts = {
    ListDocuments: {parent: `${database}/documents`, collectionId: 'dev-feed-users'},
    RunQuery: {parent: `${database}/documents`, structuredQuery: {from: [{collectionId: 'dev-feed-users'}]}},
    ListCollectionIds: {parent: `${database}/documents`},
    Commit: {database, writes: [write]},
    BatchWrite: {database, writes: [write]},
    BeginTransaction: {database},
  };
  for (const [method, message] of Object.entries(attempts)) {
    const outcome = await context.owner.call(method, message);
    assert.equal(outcome.code, 'PERMISSION_DENIED', method);
    assert.match(outcome.message, /admin\.token/);
  }
  for (const [method, message] of [
    ['Listen', {database, addTarget: {...target, targetId: 2}}],
    ['Write', {database}],
  ]) {
    const stream = context.owner.open(method).send(message);
    assert.equal((await stream.ended).code, 'PERMISSION_DENIED', method);
  }
  assert.ok(hasHash(await context.admin.call('ListDocuments', attempts.ListDocuments)));
  assert.ok(await canLogIn());
});

test('REST, gRPC-Web, WebChannel and the clear endpoint: the same', async () => {
  const bearer = {authorization: 'Bearer owner'};
  for (const headers of [{}, bearer, {origin: 'http://localhost:5173', ...bearer}]) {
    const read = await ask('GET', `/v1/${users}`, {headers});
    assert.equal(read.status, 403);
    assert.match(read.body, /PERMISSION_DENIED/);
    const changed = await ask('PATCH', `/v1/${users}/1`, {
      headers,
      body: JSON.stringify({fields: write.update.fields}),
    });
    assert.equal(changed.status, 403);
    assert.equal((await ask('DELETE', `/emulator/v1/${database}/documents`, {headers})).status, 403);
  }
  assert.ok(hasHash((await ask('GET', `/v1/${users}`, {headers: context.server.admin})).body));

  const message = encode('RunQuery', {parent: target.query.parent, structuredQuery: target.query.structuredQuery});
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const web = (headers) =>
    fetch(`http://${context.address}/google.firestore.v1.Firestore/RunQuery`, {
      method: 'POST',
      headers: {'content-type': 'application/grpc-web+proto', ...headers},
      body: frame,
    }).then(async (response) => Buffer.from(await response.arrayBuffer()));
  const refused = await web(bearer);
  assert.match(refused.toString(), /grpc-status: 7/);
  assert.ok(!refused.includes('password_hash'));
  const found = await web(context.server.admin);
  assert.ok(hasHash(decode('RunQuery', found.subarray(5, 5 + found.readUInt32BE(1)))));

  for (const [authorization, expected] of [
    ['Bearer owner', /PERMISSION_DENIED/],
    [context.server.admin.authorization, /password_hash/],
  ]) {
    const channel = new Channel(context.address, 'Listen', database);
    await channel.open([{database, addTarget: {...target, targetId: 2}}], `Authorization:${authorization}\r\n`);
    const back = await channel.back();
    await back.until(({messages}) => messages.some((each) => expected.test(JSON.stringify(each))));
    assert.equal(hasHash(back.messages), expected.source === 'password_hash');
    back.drop();
  }
  assert.ok(await canLogIn());
});

test('--protect-project protects other projects, and SDKs can send the token', async () => {
  const projectId = 'locked';
  const stranger = openFirestore(context, {projectId});
  await assert.rejects(stranger.doc('a/b').get(), /admin\.token/);
  await assert.rejects(stranger.doc('a/b').set({}), /admin\.token/);
  await new Promise((resolve) => stranger.doc('a/b').onSnapshot(assert.fail, resolve));
  const owner = openFirestore(context, {
    projectId,
    customHeaders: {Authorization: context.server.admin.authorization},
  });
  await owner.doc('a/b').set({n: 1});
  let stop;
  const heard = await new Promise((resolve, reject) => {
    stop = owner.doc('a/b').onSnapshot(resolve, reject);
  });
  stop();
  assert.equal(heard.get('n'), 1);
});
