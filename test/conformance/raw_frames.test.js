// Frames that no client library would send. After each of them the same connection, and a new one, must still work.

import assert from 'node:assert/strict';
import {connect} from 'node:net';
import {afterEach, beforeEach, test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {Fixture, useServer} from './support/check.js';
import {Session, frame} from './support/frames.js';
import {encode} from './support/raw.js';
import {targetIsEmulator} from './support/server.js';

const service = '/google.firestore.v1.Firestore';
const get = `${service}/GetDocument`;
const gzip = {'grpc-encoding': 'gzip'};
let fixture;
let session;
let request;

const context = useServer(async (ready) => {
  fixture = new Fixture(ready);
  await fixture.write(fixture.set('c/d', {text: 'x'.repeat(2000)}));
  request = encode('GetDocument', {name: fixture.doc('c/d')});
});
beforeEach(() => {
  session = new Session(context.address);
});
afterEach(() => session.close());

// A call that must work, on the session that was just abused and on a fresh one.
async function expectService() {
  const fresh = new Session(context.address);
  try {
    for (const each of [session, fresh]) {
      const answer = await each.post(get, frame(request));
      assert.equal(answer.code, 'OK', `the next request: ${answer.reset ?? answer.code}`);
      assert.equal(answer.body.readUInt32BE(1), answer.body.length - 5);
      assert.match(answer.headers['content-type'], /^application\/grpc/);
    }
  } finally {
    fresh.close();
  }
}

// The bytes sent, and the code that answers them. The emulator only has to survive.
const cases = {
  'a normal request': [() => session.post(get, frame(request)), 'OK'],
  'a compressed request': [() => session.post(get, frame(gzipSync(request), {flag: 1}), {headers: gzip}), 'OK'],
  'an uncompressed message of a compressing client': [() => session.post(get, frame(request), {headers: gzip}), 'OK'],
  'an unknown method': [() => session.post(`${service}/Nope`, frame(request)), 'UNIMPLEMENTED'],
  'an unknown service': [
    () => session.post('/google.firestore.v2.Firestore/GetDocument', frame(request)),
    'UNIMPLEMENTED',
  ],
  'no message': [() => session.post(get, undefined), 'UNIMPLEMENTED'],
  'a cut prefix': [() => session.post(get, Buffer.from([0, 0, 0])), 'INTERNAL'],
  'a cut message': [() => session.post(get, frame(request, {length: request.length + 1})), 'INTERNAL'],
  'a cut message of a huge size': [
    () => session.post(get, frame(request, {length: 0xffffffff}), {keepOpen: true}),
    'RESOURCE_EXHAUSTED',
  ],
  'two messages': [() => session.post(get, Buffer.concat([frame(request), frame(request)])), 'UNIMPLEMENTED'],
  'an unknown flag': [() => session.post(get, frame(request, {flag: 7})), 'INTERNAL'],
  'compression without an encoding': [() => session.post(get, frame(gzipSync(request), {flag: 1})), 'INTERNAL'],
  'an unknown encoding': [
    () => session.post(get, frame(request, {flag: 1}), {headers: {'grpc-encoding': 'snappy'}}),
    'UNIMPLEMENTED',
  ],
  'compressed garbage': [
    () => session.post(get, frame(Buffer.from('garbage'), {flag: 1}), {headers: gzip}),
    'INTERNAL',
  ],
  'cut gzip': [
    () => session.post(get, frame(gzipSync(request).subarray(0, 12), {flag: 1}), {headers: gzip}),
    'INTERNAL',
  ],
  'a bomb': [
    () => session.post(get, frame(gzipSync(Buffer.alloc(200_000_000)), {flag: 1}), {headers: gzip}),
    'RESOURCE_EXHAUSTED',
  ],
  'a deadline that has passed': [
    () =>
      session.post(`${service}/Commit`, frame(encode('Commit', fixture.commit(fixture.set('c/late', {})))), {
        headers: {'grpc-timeout': '1n'},
      }),
    'DEADLINE_EXCEEDED',
  ],
  'a garbled deadline': [() => session.post(get, frame(request), {headers: {'grpc-timeout': 'soon'}}), 'OK'],
};

for (const [name, [send, code]] of Object.entries(cases)) {
  test(name, async () => {
    const answer = await send();
    if (!targetIsEmulator)
      assert.equal(answer.code, code, `reset ${answer.reset}, HTTP ${answer.status}: ${answer.message}`);
    await expectService();
  });
}

test('an unknown method is named', async () => {
  const {message} = await session.post(`${service}/Nope`, frame(request));
  assert.equal(message, 'Method not found: google.firestore.v1.Firestore/Nope');
});

test('a message larger than the limit', async () => {
  const body = Buffer.alloc(targetIsEmulator ? 5_000_000 : 12_000_000);
  const answer = await session.post(get, frame(body));
  assert.equal(answer.code, 'RESOURCE_EXHAUSTED');
  await expectService();
});

test('a request that is not gRPC is refused with an HTTP status', async () => {
  for (const options of [{headers: {'content-type': 'text/plain'}}, {headers: {'content-type': 'application/json'}}]) {
    const answer = await session.post(get, frame(request), options);
    assert.ok(answer.status >= 400 || (answer.code && answer.code !== 'OK'), `got ${answer.status}`);
    await expectService();
  }
});

test('streams aborted in the middle', async () => {
  await Promise.all(Array.from({length: 50}, (_, n) => session.abandon(get, frame(request).subarray(0, 1 + (n % 40)))));
  await expectService();
});

test('connections that end or begin badly', async () => {
  const [host, port] = context.address.split(':');
  const say = (bytes) =>
    new Promise((resolve) => {
      const socket = connect(Number(port), host, () => socket.write(bytes, () => socket.end()));
      socket.on('error', resolve);
      socket.on('close', resolve);
      socket.resume();
    });
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  await say('');
  await say('\u0000\u0001\u0002garbage\r\n\r\n');
  await say(preface.slice(0, 10));
  await say(`${preface}not a frame at all, but quite long enough to be one`);
  await say('GET /'.padEnd(100_000, 'x'));
  await expectService();
});
