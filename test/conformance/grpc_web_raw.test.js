// gRPC-Web with fetch: the methods without WebChannel and without HTTP/2.

import assert from 'node:assert/strict';
import {Fixture, ownTest, useServer} from './support/check.js';
import {decode, encode} from './support/raw.js';

const context = useServer();
const why = 'it does not speak gRPC-Web';

// The messages and the trailers of a call.
async function call(method, request, type = 'application/grpc-web+proto') {
  const message = encode(method, request);
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, 5);
  const text = type.includes('-text');
  const response = await fetch(`http://${context.address}/google.firestore.v1.Firestore/${method}`, {
    method: 'POST',
    headers: {'content-type': type, authorization: 'Bearer owner', 'x-grpc-web': '1'},
    body: text ? frame.toString('base64') : frame,
  });
  assert.equal(response.status, 200);
  assert.ok(response.headers.get('content-type').startsWith(type.split('+')[0]));
  const trailers = {status: response.headers.get('grpc-status'), message: response.headers.get('grpc-message')};
  // In the text format, each piece may be padded separately.
  let body = Buffer.from(await response.arrayBuffer());
  const pieces = body.toString().match(/[\w+/]+=*/g) ?? [];
  if (text) body = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')));
  const messages = [];
  for (let at = 0; at < body.length; ) {
    const size = body.readUInt32BE(at + 1);
    const content = body.subarray(at + 5, at + 5 + size);
    if (body[at] === 0x80) trailers.status = /grpc-status: (\d+)/.exec(content.toString())[1];
    else messages.push(decode(method, content));
    at += 5 + size;
  }
  return {messages, ...trailers};
}

for (const type of ['application/grpc-web+proto', 'application/grpc-web-text+proto']) {
  ownTest(`${type}: one answer, many, and errors`, why, async () => {
    const fixture = new Fixture(context);
    await fixture.write(...Array.from({length: 50}, (_, i) => fixture.set(`c/${i}`, {n: i})));
    const got = await call('GetDocument', {name: fixture.doc('c/7')}, type);
    assert.equal(got.status, '0');
    assert.equal(got.messages[0].fields.n.integerValue, '7');
    const query = {parent: fixture.root, structuredQuery: {from: [{collectionId: 'c'}]}};
    const found = await call('RunQuery', query, type);
    assert.equal(found.status, '0');
    assert.equal(found.messages.filter(({document}) => document).length, 50);
    const missing = await call('GetDocument', {name: fixture.doc('c/none')}, type);
    assert.equal(missing.status, '5');
    const pipeline = await call('ExecutePipeline', {database: fixture.database}, type);
    assert.equal(pipeline.status, '9');
  });
}
