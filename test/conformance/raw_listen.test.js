// Listen: the order and the form of messages, and streams. test/cases/listen defines the results of targets.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, ownTest, useServer} from './support/check.js';
import {Listener, isSnapshot, orderOf, queryOf, typeOf} from './support/listener.js';
import {targetIsEmulator} from './support/server.js';
import {microsOf, toFields, toValue} from './support/values.js';

const context = useServer();
const noDeltas = 'it sends all results anew instead of what has changed';

function open(more) {
  const fixture = new Fixture(context);
  return {fixture, listener: new Listener(fixture.raw, fixture, more)};
}

// The messages after a write, in short form, without the snapshots.
async function after(listener, write) {
  await listener.snapshotAt(await write);
  return listener.take().short.filter((each) => each !== 'snapshot');
}

const where = (fieldPath, op, x) => ({fieldFilter: {field: {fieldPath}, op, value: toValue(x)}});

test('a query: its results in order, then CURRENT, then a snapshot', async () => {
  const {fixture, listener} = open();
  const {commitTime} = await fixture.write(
    fixture.set('c/a', {n: 2}),
    fixture.set('c/b', {n: 1}),
    fixture.set('d/a', {n: 0}),
  );
  listener.addQuery(2, queryOf('c', {orderBy: orderOf('n')}));
  await listener.current(2);
  const {messages, short} = listener.take();
  assert.deepStrictEqual(short, ['ADD 2', 'change c/b 2', 'change c/a 2', 'CURRENT 2', 'snapshot']);
  assert.deepStrictEqual(messages[2].documentChange.document, {
    name: fixture.doc('c/a'),
    fields: toFields({n: 2}),
    createTime: commitTime,
    updateTime: commitTime,
  });
  const [add, current, snapshot] = [messages[0], messages[3], messages[4]].map(({targetChange}) => targetChange);
  assert.ok(!add.resumeToken?.length && !add.readTime);
  for (const {resumeToken, readTime} of [current, snapshot]) {
    assert.ok(resumeToken.length > 0);
    assert.ok(microsOf(readTime) >= microsOf(commitTime));
  }
  assert.ok(microsOf(snapshot.readTime) >= microsOf(current.readTime));
  await listener.cancel();
});

test('documents: between ADD and CURRENT, in the order in which they were first named', async () => {
  const {fixture, listener} = open();
  await fixture.write(fixture.set('c/a', {n: 1}), fixture.set('c/b', {n: 2}));
  listener.addDocuments(4, ['c/b', 'c/none', 'c/a', 'c/b']);
  await listener.current(4);
  const {messages, short} = listener.take();
  assert.deepStrictEqual(short, ['ADD 4', 'change c/b 4', 'delete c/none 4', 'change c/a 4', 'CURRENT 4', 'snapshot']);
  assert.ok(messages[2].documentDelete.readTime);
  listener.addDocuments(6, []);
  await listener.current(6);
  assert.deepStrictEqual(listener.take().short, ['ADD 6', 'CURRENT 6', 'snapshot']);
  await listener.cancel();
});

ownTest('one message reports a document to all its targets', noDeltas, async () => {
  const {fixture, listener} = open();
  await fixture.write(fixture.set('c/a', {n: 1}));
  listener
    .addQuery(2, queryOf('c'))
    .addQuery(4, queryOf('c', {where: where('n', 'EQUAL', 1)}))
    .addDocuments(6, ['c/a']);
  await listener.current(6);
  listener.take();
  assert.deepStrictEqual(await after(listener, fixture.write(fixture.set('c/a', {n: 1, x: 1}))), ['change c/a 2,4,6']);
  assert.deepStrictEqual(await after(listener, fixture.write(fixture.set('c/a', {n: 2}))), ['change c/a 2,6,!4']);
  assert.deepStrictEqual(await after(listener, fixture.write(fixture.remove('c/a'))), ['delete c/a 2,6']);
  await listener.cancel();
});

test('targets come and go at any time', async () => {
  const {fixture, listener} = open();
  await fixture.write(fixture.set('c/a', {n: 1}), fixture.set('d/a', {n: 1}));
  listener.addQuery(2, queryOf('c')).addQuery(4, queryOf('d'));
  await listener.current(4);
  listener.remove(2).remove(99).remove(0);
  await listener.removed(2);
  assert.deepStrictEqual(listener.take().messages.at(-1), {targetChange: {targetChangeType: 'REMOVE', targetIds: [2]}});
  const write = await fixture.write(fixture.set('c/a', {n: 2}), fixture.set('d/a', {n: 2}));
  await listener.snapshotAt(write);
  assert.deepStrictEqual(
    listener.take().short.filter((each) => each.includes(' c/')),
    [],
  );
  assert.deepStrictEqual(listener.fields(4), {'d/a': toFields({n: 2})});
  // Its id can be reused for another target.
  listener.addDocuments(2, ['c/a']);
  await listener.current(2);
  assert.deepStrictEqual(listener.fields(2), {'c/a': toFields({n: 2})});
  // All at once, and removed before the first is answered.
  for (let id = 10; id < 40; ++id) listener.addQuery(id, queryOf('c'));
  for (let id = 10; id < 39; ++id) listener.remove(id);
  await listener.current(39);
  await listener.snapshotAt(await fixture.write(fixture.set('c/a', {n: 3})));
  listener.remove(39);
  await listener.removed(39);
  for (let id = 10; id < 40; ++id) assert.ok(!listener.results.has(id));
  assert.deepStrictEqual(listener.fields(2), {'c/a': toFields({n: 3})});
  await listener.cancel();
});

ownTest('no snapshot shows half a commit, for any targets', 'its targets are not at one moment', async () => {
  const {fixture, listener} = open();
  const write = (n) => fixture.write(fixture.set('c/a', {n}), fixture.set('d/b', {n}), fixture.set('e/f/c/g', {n}));
  await write(0);
  listener
    .addQuery(2, queryOf('c'))
    .addDocuments(4, ['d/b'])
    .addQuery(6, queryOf('e'))
    .addQuery(8, queryOf('c'), {parent: fixture.doc('e/f')});
  const writing = (async () => {
    for (let n = 1; n < 200; ++n) {
      await write(n);
      // A target that is added later must not be ahead of, or behind, the others.
      if (n % 20 === 0) listener.addQuery(100 + n, queryOf(n % 40 ? 'c' : 'd'));
      if (n % 20 === 10 && n > 20) listener.remove(100 + n - 10);
    }
    return write(200);
  })();
  const check = (snapshot) => {
    const values = [...listener.results.values()].flatMap((documents) =>
      [...documents.values()].map(({fields}) => fields.n.integerValue),
    );
    assert.ok(new Set(values).size <= 1, `${values} at ${JSON.stringify(snapshot)}`);
    return values[0];
  };
  let last;
  let before = 0n;
  do {
    const {targetChange} = await listener.until(isSnapshot);
    last = check(targetChange);
    assert.ok(microsOf(targetChange.readTime) >= before, 'snapshots go forward');
    before = microsOf(targetChange.readTime);
  } while (last !== '200');
  await writing;
  await listener.cancel();
});

ownTest(
  'a snapshot is what a query at its time answers',
  'its results may be newer than the time they come with',
  async () => {
    const {fixture, listener} = open();
    const structuredQuery = queryOf('c', {orderBy: orderOf('n'), limit: {value: 3}});
    listener.addQuery(2, structuredQuery);
    await listener.current(2);
    const writes = [];
    for (let i = 0; i < 60; ++i) {
      const path = `c/${(i * 7) % 10}`;
      writes.push(fixture.write(i % 4 === 3 ? fixture.remove(path) : fixture.set(path, {n: (i * 5) % 13})));
    }
    const last = (await Promise.all(writes))
      .map(({commitTime}) => commitTime)
      .reduce((a, b) => (microsOf(a) > microsOf(b) ? a : b));
    for (let readTime = {seconds: '0'}; microsOf(readTime) < microsOf(last); ) {
      ({
        targetChange: {readTime},
      } = await listener.until(isSnapshot));
      const answers = await fixture.must('RunQuery', {parent: fixture.root, structuredQuery, readTime});
      const expected = answers
        .filter(({document}) => document)
        .map(({document}) => document.name.slice(fixture.root.length + 1))
        .sort();
      assert.deepStrictEqual(listener.paths(2), expected);
    }
    await listener.cancel();
  },
);

ownTest('a refused target: ADD, then REMOVE; its id is free again', 'the stream ends', async () => {
  const {listener} = open();
  listener.add(2, {});
  await listener.removed(2);
  assert.deepStrictEqual(listener.take().short, ['ADD 2', 'REMOVE 2']);
  listener.addQuery(2, queryOf('c'));
  await listener.current(2);
  await listener.cancel();
});

ownTest('once: REMOVE follows the first snapshot', 'it ignores once', async () => {
  const {fixture, listener} = open();
  await fixture.write(fixture.set('c/a', {n: 1}));
  listener.addQuery(2, queryOf('c'), {once: true});
  await listener.removed(2);
  assert.deepStrictEqual(listener.take().short, ['ADD 2', 'change c/a 2', 'CURRENT 2', 'snapshot', 'REMOVE 2']);
  await listener.cancel();
});

test('ids that the server assigns', async () => {
  const {fixture, listener} = open();
  await fixture.write(fixture.set('c/a', {n: 1}), fixture.set('d/b', {n: 1}));
  listener.addQuery(0, queryOf('c')).addQuery(0, queryOf('d'));
  const added = [];
  while (added.length < 2) {
    const {targetChange} = await listener.until(({targetChange}) => targetChange && typeOf(targetChange) === 'CURRENT');
    added.push(...targetChange.targetIds);
  }
  assert.ok(added.every((id) => id > 0) && added[0] !== added[1], `${added}`);
  assert.deepStrictEqual(
    added.map((id) => listener.paths(id)),
    [['c/a'], ['d/b']],
  );
  listener.remove(added[0]);
  await listener.removed(added[0]);
  await listener.snapshotAt(await fixture.write(fixture.set('d/b', {n: 2})));
  assert.deepStrictEqual(listener.fields(added[1]), {'d/b': toFields({n: 2})});
  await listener.cancel();
});

test('ids that end the stream', async () => {
  for (const {id, again, message, emulator} of [
    {id: -1, message: 'Invalid target id: -1', emulator: {code: 'UNKNOWN', message: /./}},
    {id: 2, again: 2, message: 'Target id 2 is already in use.', emulator: {code: 'UNKNOWN', message: ''}},
    {
      id: 2,
      again: 0,
      message: 'Target ids must be assigned either all by the client or all by the server.',
      emulator: {code: 'OK', message: ''},
    },
  ]) {
    const {listener} = open();
    listener.addQuery(id, queryOf('c'));
    if (again !== undefined) listener.addQuery(again, queryOf('d'));
    if (emulator.code === 'OK' && targetIsEmulator) listener.stream.halfClose();
    expectOutcome(await listener.end(), {code: 'INVALID_ARGUMENT', message, emulator});
  }
});

test('a request without a target', async () => {
  const {listener} = open();
  listener.send({});
  expectOutcome(await listener.end(), {
    code: 'INVALID_ARGUMENT',
    message: 'A listen request must add or remove a target.',
    emulator: {code: 'UNKNOWN', message: /./},
  });
});

test('selecting the database', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/a', {n: 1}));
  // By header only, not in the request.
  const byHeader = new Listener(fixture.raw, fixture, {database: ''});
  byHeader.addQuery(2, queryOf('c'));
  await byHeader.current(2);
  assert.deepStrictEqual(byHeader.paths(2), ['c/a']);
  await byHeader.cancel();
  // Neither header nor request.
  const none = new Listener(fixture.raw, fixture, {database: '', headers: {}});
  none.addQuery(2, queryOf('c'));
  expectOutcome(await none.end(), {
    code: 'INVALID_ARGUMENT',
    message: "'database' must be set on the first request of a stream.",
    emulator: {code: 'UNKNOWN', message: ''},
  });
});

ownTest('the database named in the requests', 'only the header counts there', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/a', {n: 1}));
  const listener = new Listener(fixture.raw, fixture, {headers: {}});
  listener.addQuery(2, queryOf('c'));
  await listener.current(2);
  assert.deepStrictEqual(listener.paths(2), ['c/a']);
  listener.database = ''; // Only needed in the first request.
  listener.addQuery(4, queryOf('c'));
  await listener.current(4);
  const other = `${fixture.database}2`;
  listener.send({database: other, removeTarget: 4});
  expectOutcome(await listener.end(), {
    code: 'INVALID_ARGUMENT',
    message: `Request specified a database (${other}) that did not match the expected database (${fixture.database})`,
  });
  const wrong = new Listener(fixture.raw, fixture, {database: 'foo', headers: {}});
  wrong.addQuery(2, queryOf('c'));
  expectOutcome(await wrong.end(), {code: 'INVALID_ARGUMENT'});
});

test('half-close ends the stream', async () => {
  const {fixture, listener} = open();
  listener.addQuery(2, queryOf('c'));
  await listener.current(2);
  listener.stream.halfClose();
  expectOutcome(await listener.end(), {code: 'OK'});
  await fixture.write(fixture.set('c/a', {}));
  const silent = open().listener;
  silent.stream.halfClose();
  expectOutcome(await silent.end(), {code: 'OK'});
});

test('large results', async () => {
  const {fixture, listener} = open();
  const text = 'x'.repeat(900_000);
  for (let i = 0; i < 20; ++i) await fixture.write(fixture.set(`c/${i}`, {text, i}));
  listener.addQuery(2, queryOf('c'));
  await listener.current(2);
  assert.equal(listener.paths(2).length, 20);
  assert.ok([...listener.results.get(2).values()].every(({fields}) => fields.text.stringValue.length === text.length));
  await listener.cancel();
});
