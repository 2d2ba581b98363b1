// Write: commits over a stream, and streams that outlive their connection.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {Listener, queryOf} from './support/listener.js';
import {eventually} from './support/own_server.js';
import {Raw} from './support/raw.js';
import {targetIsEmulator} from './support/server.js';
import {increment, microsOf, serverTime, toFields, toValue, union} from './support/values.js';

const context = useServer();
const noResume = 'it does not resume streams';

function open(
  fixture = new Fixture(context),
  {raw = fixture.raw, headers = {'google-cloud-resource-prefix': fixture.database}} = {},
) {
  return {fixture, stream: raw.open('Write', {headers})};
}

// A stream after its handshake: `id` and `token` as assigned by the server. `more`: additional request fields.
async function shake(fixture, more = {}, options) {
  const {fixture: used, stream} = open(fixture, options);
  const {streamId: id, streamToken: token} = await stream.send({database: used.database, ...more}).next();
  return {fixture: used, stream, id, token};
}

const outcome = async (stream) => {
  const answers = [];
  for (let answer = await stream.nextOrEnd(); answer !== null; answer = await stream.nextOrEnd()) answers.push(answer);
  return {...(await stream.ended), answers};
};

test('the handshake', async () => {
  const {fixture, stream} = open();
  stream.send({database: fixture.database});
  const answer = await stream.next();
  assert.deepStrictEqual(
    Object.keys(answer)
      .filter((key) => answer[key].length)
      .sort(),
    ['streamId', 'streamToken'],
  );
  stream.halfClose();
  expectOutcome(await outcome(stream), {code: 'OK'});
});

test('first requests that are refused', async () => {
  const fixture = new Fixture(context);
  const cases = [
    [
      {database: fixture.database, writes: [fixture.set('c/a', {})]},
      invalid("'writes' must not be set on an initial write request."),
    ],
    [
      {database: fixture.database, streamToken: Buffer.from('0')},
      invalid("Resuming a stream requires its 'stream_id' and a 'stream_token'.", {
        message: /^Resuming streams is not supported/,
      }),
    ],
    [
      {database: fixture.database, streamId: '12345', streamToken: Buffer.from('0')},
      {
        code: 'ABORTED',
        message: 'The stream can no longer be resumed.',
        emulator: {code: 'INVALID_ARGUMENT', message: /^Resuming streams is not supported/},
      },
    ],
  ];
  if (!targetIsEmulator) cases.push([{database: 'foo'}, invalid(/"foo"/)]);
  for (const [request, expected] of cases) {
    const {stream} = open(fixture);
    expectOutcome(await outcome(stream.send(request)), expected, request);
  }
  assert.equal(await fixture.get('c/a'), null);
});

test('selecting the database', async () => {
  const fixture = new Fixture(context);
  const none = open(fixture, {headers: {}}).stream;
  expectOutcome(await outcome(none.send({})), {
    ...invalid("'database' must be set on the first request of a stream."),
    emulator: {code: 'UNKNOWN', message: ''},
  });
  const {stream, token} = await shake(fixture);
  stream.send({streamToken: token, writes: [fixture.set('c/a', {})], database: fixture.database});
  await stream.next();
  const other = `${fixture.database}2`;
  stream.send({streamToken: token, writes: [fixture.set('c/b', {})], database: other});
  expectOutcome(
    await outcome(stream),
    invalid(`Request specified a database (${other}) that did not match the expected database (${fixture.database})`),
  );
  assert.ok(await fixture.get('c/a'));
  assert.equal(await fixture.get('c/b'), null);
});

ownTest(
  'the header names the database if the first request does not',
  'it also requires it in the request',
  async () => {
    const {fixture, stream} = open();
    const {streamToken} = await stream.send({}).next();
    await stream.send({streamToken, writes: [fixture.set('c/a', {n: 1})]}).next();
    await fixture.expectFields('c/a', {n: 1});
    await stream.cancel();
  },
);

test('each request is a commit, and gets an answer', async () => {
  const {fixture, stream, token} = await shake();
  stream.send({streamToken: token, writes: [fixture.set('c/a', {n: 1}), fixture.set('c/b', {n: 2})]});
  const first = await stream.next();
  assert.equal(first.writeResults.length, 2);
  assert.ok(!first.streamId && first.streamToken.length && !first.streamToken.equals(token));
  for (const {updateTime} of first.writeResults) assert.deepStrictEqual(updateTime, first.commitTime);
  stream.send({
    streamToken: first.streamToken,
    writes: [
      fixture.set('c/a', {n: 1}),
      fixture.remove('c/b'),
      fixture.patch('c/c', {}, [], {updateTransforms: [increment('n', 2), union('l', 1), serverTime('t')]}),
    ],
  });
  const second = await stream.next();
  assert.ok(microsOf(second.commitTime) > microsOf(first.commitTime));
  const [same, gone, transformed] = second.writeResults;
  assert.deepStrictEqual(same.updateTime, first.commitTime, 'nothing has changed');
  assert.ok(!gone.updateTime);
  assert.deepStrictEqual(transformed.transformResults.slice(0, 2), [toValue(2), toValue(null)]);
  assert.ok(transformed.transformResults[2].timestampValue);
  await fixture.expectFields('c/a', {n: 1});
  assert.equal(await fixture.get('c/b'), null);
  stream.halfClose();
  expectOutcome(await outcome(stream), {code: 'OK'});
});

test('pipelined requests are executed in order', async () => {
  const {fixture, stream, token} = await shake();
  const count = 200;
  for (let n = 0; n < count; ++n) {
    stream.send({
      streamToken: token,
      writes: [
        fixture.set('c/a', {n}, {currentDocument: {exists: n > 0}}),
        fixture.transform('c/sum', increment('n', n)),
      ],
    });
  }
  stream.halfClose();
  const {code, answers} = await outcome(stream);
  assert.equal(code, 'OK');
  assert.equal(answers.length, count);
  const sums = answers.map(({writeResults}) => Number(writeResults[1].transformResults[0].integerValue));
  assert.deepStrictEqual(
    sums,
    Array.from({length: count}, (_, n) => (n * (n + 1)) / 2),
  );
  assert.equal(new Set(answers.map(({streamToken}) => String(streamToken))).size, count);
  await fixture.expectFields('c/a', {n: count - 1});
});

test('a failed write ends the stream; neither it nor anything after it is executed', async () => {
  const {fixture, stream, token} = await shake();
  const name = fixture.doc('c/none');
  stream.send({streamToken: token, writes: [fixture.set('c/a', {n: 1})]});
  stream.send({
    streamToken: token,
    writes: [fixture.set('c/b', {n: 1}), fixture.set('c/none', {}, {currentDocument: {exists: true}})],
  });
  stream.send({streamToken: token, writes: [fixture.set('c/d', {n: 1})]});
  const {answers, ...ended} = await outcome(stream);
  expectOutcome(ended, {
    code: 'NOT_FOUND',
    message: `No document to update: ${name}`,
    emulator: {message: /^no entity to update/},
  });
  assert.equal(answers.length, 1);
  await fixture.expectFields('c/a', {n: 1});
  for (const path of ['c/b', 'c/d', 'c/none']) await fixture.expectFields(path, null);
});

test('how writes fail', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/a', {n: 1}));
  const cases = [
    [
      [fixture.set('c/a', {}, {currentDocument: {exists: false}})],
      {
        code: 'ALREADY_EXISTS',
        message: `Document already exists: ${fixture.doc('c/a')}`,
        emulator: {message: /^entity already exists/},
      },
    ],
    [
      [fixture.set('c/a', {}, {currentDocument: {updateTime: {seconds: '5'}}})],
      {
        code: 'FAILED_PRECONDITION',
        message: /^the stored version \(\d+\) does not match the required base version \(5000000\)$/,
      },
    ],
    [
      [fixture.set('c/a', {}, {currentDocument: {updateTime: {seconds: '4000000000'}}})],
      invalid(`Invalid base version, it is greater than the stored version: ${fixture.doc('c/a')}`, {
        message: /^Invalid base version, /,
      }),
    ],
    [[{update: {name: 'foo'}}], invalid('Document name "foo" lacks "projects" at index 0.')],
    [[{}], {code: 'INVALID_ARGUMENT'}],
  ];
  for (const [writes, expected] of cases) {
    const {stream, token} = await shake(fixture);
    expectOutcome(await outcome(stream.send({streamToken: token, writes})), expected, writes);
  }
  await fixture.expectFields('c/a', {n: 1});
});

ownTest('writes to another database are refused', 'it does not compare names', async () => {
  const {fixture, stream, token} = await shake();
  const other = new Fixture(context);
  expectOutcome(await outcome(stream.send({streamToken: token, writes: [other.set('c/a', {})]})), {
    code: 'INVALID_ARGUMENT',
  });
  assert.equal(await other.get('c/a'), null);
  assert.equal(await fixture.get('c/a'), null);
});

test('a request without writes is the last', async () => {
  const {fixture, stream, token} = await shake();
  stream.send({streamToken: token, writes: [fixture.set('c/a', {n: 1})]});
  const {streamToken} = await stream.next();
  stream.send({streamToken});
  stream.send({streamToken, writes: [fixture.set('c/b', {})]});
  const {code, answers} = await outcome(stream);
  assert.equal(code, 'OK');
  assert.equal(answers.length, 1);
  assert.ok(answers[0].streamToken.length && !answers[0].writeResults?.length && !answers[0].commitTime);
  assert.equal(await fixture.get('c/b'), null);
});

test('any token is accepted while the stream is open', async () => {
  const {fixture, stream, token} = await shake();
  for (const streamToken of [token, Buffer.from('garbage'), token, Buffer.alloc(0)]) {
    stream.send({streamToken, writes: [fixture.transform('c/a', increment('n', 1))]});
    await stream.next();
  }
  await fixture.expectFields('c/a', {n: 4});
  await stream.cancel();
});

test('half-close: earlier requests are answered', async () => {
  const {fixture, stream, token} = await shake();
  for (let i = 0; i < 5; ++i) stream.send({streamToken: token, writes: [fixture.transform('c/a', increment('n', 1))]});
  stream.halfClose();
  const {code, answers} = await outcome(stream);
  assert.equal(code, 'OK');
  assert.equal(answers.length, 5);
  await fixture.expectFields('c/a', {n: 5});
  const silent = open().stream;
  expectOutcome(await outcome(silent.halfClose()), {code: 'OK'});
});

test('listeners receive the commits', async () => {
  const {fixture, stream, token} = await shake();
  const listener = new Listener(fixture.raw, fixture);
  listener.addQuery(2, queryOf('c'));
  await listener.current(2);
  const {commitTime} = await stream.send({streamToken: token, writes: [fixture.set('c/a', {n: 1})]}).next();
  await listener.snapshotAt({commitTime});
  assert.deepStrictEqual(listener.fields(2), {'c/a': toFields({n: 1})});
  await Promise.all([stream.cancel(), listener.cancel()]);
});

const plusOne = (fixture) => ({writes: [fixture.transform('c/a', increment('n', 1))]});

// The stream is free once the server has noticed that the connection is gone.
async function resume(fixture, id, streamToken) {
  return eventually(async () => {
    const {stream} = open(fixture);
    const answer = await stream.send({database: fixture.database, streamId: id, streamToken}).next();
    return {stream, answer};
  });
}

ownTest('a request resent after a cut is answered again, and executed once', noResume, async () => {
  const fixture = new Fixture(context);
  const raw = new Raw(context.address);
  const {stream, id, token} = await shake(fixture, {}, {raw});
  const {streamToken: first, commitTime} = await stream.send({streamToken: token, ...plusOne(fixture)}).next();
  // Its answer is lost with the connection.
  stream.send({streamToken: first, ...plusOne(fixture)});
  await eventually(async () => (await fixture.get('c/a')).fields.n.integerValue === '2');
  await stream.cancel();
  raw.close();

  const again = await resume(fixture, id, first);
  assert.equal(again.answer.streamId, id);
  const second = await again.stream.send({streamToken: first, ...plusOne(fixture)}).next();
  assert.deepStrictEqual(second.writeResults[0].transformResults, [toValue(2)]);
  assert.ok(microsOf(second.commitTime) > microsOf(commitTime));
  const third = await again.stream.send({streamToken: second.streamToken, ...plusOne(fixture)}).next();
  assert.deepStrictEqual(third.writeResults[0].transformResults, [toValue(3)]);
  await fixture.expectFields('c/a', {n: 3});
  await again.stream.cancel();
});

ownTest('several requests resent', noResume, async () => {
  const {fixture, stream, id, token} = await shake();
  const count = 20;
  for (let i = 0; i < count; ++i) stream.send({streamToken: token, ...plusOne(fixture)});
  await stream.next(); // Some may have been executed, some not.
  await stream.cancel();
  const again = await resume(fixture, id, token);
  for (let i = 0; i < count; ++i) again.stream.send({streamToken: token, ...plusOne(fixture)});
  for (let i = 0; i < count; ++i) {
    const {writeResults} = await again.stream.next();
    assert.deepStrictEqual(writeResults[0].transformResults, [toValue(i + 1)]);
  }
  await fixture.expectFields('c/a', {n: count});
  await again.stream.cancel();
});

ownTest('a commit in progress when the connection was cut is executed once', noResume, async () => {
  for (let round = 0; round < 20; ++round) {
    const {fixture, stream, id, token} = await shake();
    stream.send({streamToken: token, ...plusOne(fixture)});
    if (round % 2) await new Promise((resolve) => setTimeout(resolve, round % 4));
    stream.cancel();
    const again = await resume(fixture, id, token);
    const {writeResults} = await again.stream.send({streamToken: token, ...plusOne(fixture)}).next();
    assert.deepStrictEqual(writeResults[0].transformResults, [toValue(1)]);
    await fixture.expectFields('c/a', {n: 1});
    await again.stream.cancel();
  }
});

ownTest('streams that cannot be resumed', noResume, async () => {
  const {fixture, stream, id, token} = await shake();
  const {streamToken: first} = await stream.send({streamToken: token, ...plusOne(fixture)}).next();
  const {streamToken: second} = await stream.send({streamToken: first, ...plusOne(fixture)}).next();
  const attempt = (more, database = fixture) =>
    outcome(open(database).stream.send({database: database.database, streamId: id, ...more}));
  // While another connection is using it.
  expectOutcome(await attempt({streamToken: second}), {
    code: 'ABORTED',
    message: 'The stream is in use by another connection.',
  });
  await stream.send({streamToken: second, ...plusOne(fixture)}).next();
  await stream.cancel();
  await eventually(async () => (await attempt({streamToken: Buffer.from('garbage')})).code === 'INVALID_ARGUMENT');
  const wrong = invalid('The stream token is not one of this stream.');
  expectOutcome(await attempt({streamToken: Buffer.from('garbage')}), wrong);
  expectOutcome(await attempt({streamToken: Buffer.from('99')}), wrong);
  expectOutcome(await attempt({}), wrong);
  // Answers that the client has acknowledged are gone.
  expectOutcome(await attempt({streamToken: token}), {
    code: 'ABORTED',
    message: 'The stream can no longer be resumed from this token.',
  });
  // A stream belongs to its database.
  expectOutcome(await attempt({streamToken: second}, new Fixture(context)), {
    code: 'ABORTED',
    message: 'The stream can no longer be resumed.',
  });
  const again = await resume(fixture, id, second);
  await again.stream.cancel();
  await fixture.expectFields('c/a', {n: 3});
});
