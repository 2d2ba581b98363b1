// Requests at the protocol level: unknown, undecodable, oversized, cancelled.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, ownTest, useServer} from './support/check.js';
import {Raw, encode} from './support/raw.js';
import {toFields} from './support/values.js';

const context = useServer();

test('undecodable requests', async (t) => {
  const emulator = {code: 'UNKNOWN'};
  const fixture = new Fixture(context);
  const write = encode('Commit', fixture.commit(fixture.set('c/name', {field: 'value'})));
  const spoil = (text, bytes) => {
    const body = Buffer.from(write);
    bytes.forEach((byte, n) => {
      body[body.indexOf(text) + n] = byte;
    });
    return body;
  };
  const bodies = {
    'cut short': write.subarray(0, write.length - 3),
    'a length beyond the end': Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    'an endless varint': Buffer.alloc(20, 0xff),
    'a wrong wire type': Buffer.from([0x0f, 0x01]),
    'invalid UTF-8 in a name': spoil('name', [0xff]),
    'invalid UTF-8 in a field name': spoil('field', [0xff]),
    'invalid UTF-8 in a value': spoil('value', [0xff]),
    'a surrogate in a value': spoil('value', [0xed, 0xa0, 0x80]),
  };
  for (const [name, body] of Object.entries(bodies)) {
    await t.test(name, async () => {
      expectOutcome(await fixture.call('Commit', {}, {body}), {code: 'INVALID_ARGUMENT', emulator});
      await fixture.expectFields('c/name', null);
    });
  }
  await t.test('unknown fields are ignored', async () => {
    const body = Buffer.concat([write, Buffer.from([0xfa, 0x3f, 0x02, 0x68, 0x69])]);
    expectOutcome(await fixture.call('Commit', {}, {body}), {code: 'OK'});
    await fixture.expectFields('c/name', {field: 'value'});
  });
});

ownTest('requests up to 10 MiB', 'its limit is 4 MiB', async () => {
  const fixture = new Fixture(context);
  const part = 'x'.repeat(1_000_000);
  await fixture.write(...Array.from({length: 10}, (_, n) => fixture.set(`c/d${n}`, {part})));
  const outcome = await fixture.tryWrite(...Array.from({length: 11}, (_, n) => fixture.set(`e/d${n}`, {part})));
  assert.ok(['RESOURCE_EXHAUSTED', 'INVALID_ARGUMENT'].includes(outcome.code), outcome.code);
  assert.equal(await fixture.get('e/d0'), null);
  await fixture.expectFields('c/d9', {part});
});

test('answers larger than that', async () => {
  const fixture = new Fixture(context);
  const ids = Array.from({length: 14}, (_, n) => `d${10 + n}`);
  const part = 'x'.repeat(1_000_000);
  for (const id of ids) await fixture.write(fixture.set(`c/${id}`, {part}));
  const listed = [];
  let pageToken;
  do {
    const {documents = [], nextPageToken} = await fixture.list({collectionId: 'c', pageToken});
    listed.push(...documents.map(({name}) => name.slice(-3)));
    pageToken = nextPageToken;
  } while (pageToken);
  assert.deepStrictEqual(listed, ids);
  const answers = await fixture.must('BatchGetDocuments', {
    database: fixture.database,
    documents: ids.map((id) => fixture.doc(`c/${id}`)),
  });
  assert.ok(answers.every(({found}) => found.fields.part.stringValue.length === 1_000_000));
});

test('without a token', async () => {
  const fixture = new Fixture(context);
  const anonymous = new Raw(context.address, {owner: false});
  try {
    expectOutcome(await anonymous.call('Commit', fixture.commit(fixture.set('c/d', {}))), {code: 'OK'});
  } finally {
    anonymous.close();
  }
});

test('a deadline and a cancellation end a waiting call, and nothing else', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {n: 1}));
  const transaction = await fixture.begin();
  await fixture.must('GetDocument', {name: fixture.doc('c/d'), transaction});
  expectOutcome(await fixture.call('Commit', fixture.commit(fixture.set('c/d', {n: 2})), {deadlineMs: 200}), {
    code: 'DEADLINE_EXCEEDED',
  });
  const cancelled = fixture.raw.start('Commit', fixture.commit(fixture.set('c/d', {n: 3})));
  await fixture.get('c/d');
  cancelled.cancel();
  expectOutcome(await cancelled.done, {code: 'CANCELLED'});
  await fixture.must('Rollback', {database: fixture.database, transaction});
  await fixture.write(fixture.set('c/d', {n: 4}));
  const {updateTime} = await fixture.get('c/d');
  assert.ok(updateTime);
  await fixture.expectFields('c/e', null);
});

test('many calls at once on one connection', async () => {
  const fixture = new Fixture(context);
  const writes = await Promise.all(Array.from({length: 500}, (_, n) => fixture.tryWrite(fixture.set(`c/d${n}`, {n}))));
  assert.ok(writes.every(({code}) => code === 'OK'));
  const reads = await Promise.all(Array.from({length: 500}, (_, n) => fixture.get(`c/d${n}`)));
  for (const [n, {fields}] of reads.entries()) assert.deepStrictEqual(fields, toFields({n}));
});
