// Commit, BatchWrite, CreateDocument, UpdateDocument and DeleteDocument: results, masks, preconditions, errors.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {double, fieldsOf, int, microsOf, serverTime, timeOf, toFields, toValue, increment, maximum, union, unset}
  from './support/values.js';

const context = useServer();
const exists = (is) => ({currentDocument: {exists: is}});
const at = (updateTime) => ({currentDocument: {updateTime}});

const noDocument = (fixture, path) => ({code: 'NOT_FOUND', message: `No document to update: ${fixture.doc(path)}`,
  emulator: {message: /^no entity to update: /}});
const alreadyExists = (fixture, path) => ({code: 'ALREADY_EXISTS', message: `Document already exists: ${fixture.doc(path)}`,
  emulator: {message: /^entity already exists: /}});
const otherVersion = (stored, required) => ({code: 'FAILED_PRECONDITION',
  message: `the stored version (${stored}) does not match the required base version (${required})`});
const laterVersion = (fixture, path) => invalid(`Invalid base version, it is greater than the stored version: ${fixture.doc(path)}`,
  {message: /^Invalid base version, it is greater than the stored version: app: /});

test('a commit answers with one result a write and its time', async () => {
  const fixture = new Fixture(context);
  const {writeResults, commitTime} = await fixture.write(fixture.set('c/a', {n: 1}), fixture.set('c/b', {}), fixture.remove('c/c'));
  assert.deepStrictEqual(writeResults, [{updateTime: commitTime}, {updateTime: commitTime}, {}]);
  assert.equal(commitTime.nanos % 1000, 0);
  const document = await fixture.get('c/a');
  assert.deepStrictEqual(document, {name: fixture.doc('c/a'), fields: toFields({n: 1}), createTime: commitTime, updateTime: commitTime});
  const {commitTime: later} = await fixture.write(fixture.set('c/a', {n: 2}));
  assert.ok(microsOf(later) > microsOf(commitTime));
  const changed = await fixture.get('c/a');
  assert.deepStrictEqual([changed.createTime, changed.updateTime], [commitTime, later]);
});

test('commit times increase strictly', async () => {
  const fixture = new Fixture(context);
  const commits = await Promise.all(Array.from({length: 100}, (_, n) => fixture.write(fixture.set(`c/d${n}`, {}))));
  const times = new Set(commits.map(({commitTime}) => microsOf(commitTime)));
  assert.equal(times.size, 100);
});

ownTest('a commit without writes has a time', 'it has none', async () => {
  const fixture = new Fixture(context);
  const {writeResults = [], commitTime} = await fixture.write();
  assert.deepStrictEqual(writeResults, []);
  assert.ok(microsOf(commitTime) > 0n);
});

test('writes that change nothing keep the update time', async (t) => {
  const start = {a: 1, m: {x: NaN}, l: [1, 1], z: double(-0), max: 2n ** 63n - 1n};
  const cases = {
    'the same document': (f) => f.set('c/d', start),
    'the same in another order': (f) => f.set('c/d', Object.fromEntries(Object.entries(start).reverse())),
    'a masked field': (f) => f.patch('c/d', {a: 1}, ['a']),
    'a masked delete of an absent field': (f) => f.patch('c/d', {}, ['no.such']),
    'an empty mask': (f) => f.patch('c/d', {a: 9}, []),
    'increment by 0': (f) => f.transform('c/d', increment('a', 0)),
    'a saturated increment': (f) => f.transform('c/d', increment('max', 5)),
    'union of present elements': (f) => f.transform('c/d', union('l', 1)),
    'maximum below the value': (f) => f.transform('c/d', maximum('a', 0)),
  };
  for (const [name, write] of Object.entries(cases)) {
    await t.test(name, async () => {
      const fixture = new Fixture(context);
      const first = await fixture.write(fixture.set('c/d', start));
      const second = await fixture.write(write(fixture));
      assert.deepStrictEqual(second.writeResults[0].updateTime, first.commitTime);
      assert.ok(microsOf(second.commitTime) > microsOf(first.commitTime));
      const batch = await fixture.must('BatchWrite', fixture.commit(write(fixture)));
      assert.deepStrictEqual(batch.writeResults[0].updateTime, first.commitTime);
      assert.deepStrictEqual((await fixture.get('c/d')).updateTime, first.commitTime);
    });
  }
  await t.test('another type or sign is a change', async () => {
    const fixture = new Fixture(context);
    for (const value of [1, double(1), double(0), double(-0)]) {
      const {writeResults, commitTime} = await fixture.write(fixture.set('c/d', {value}));
      assert.deepStrictEqual(writeResults[0].updateTime, commitTime);
    }
  });
});

test('masks', async (t) => {
  const start = {a: 1, b: {c: 2, d: {e: 3}}};
  const cases = [
    [['a'], {a: 5, z: 9}, {...start, a: 5}],
    [['a'], {}, {b: start.b}],
    [['b.c'], {b: {c: 7, x: 8}}, {a: 1, b: {c: 7, d: {e: 3}}}],
    [['b.c', 'b.d'], {}, {a: 1, b: {}}],
    [['b.d.e'], {}, {a: 1, b: {c: 2, d: {}}}],
    [['n.o.q'], {}, start],
    [['n.o.q'], {n: {o: {q: 1}}}, {...start, n: {o: {q: 1}}}],
    [['a.x'], {}, start],
    [['a.x'], {a: {x: 1}}, {...start, a: {x: 1}}],
    [['b.c'], {b: 1}, {a: 1, b: {d: {e: 3}}}],
    [['`a.b`'], {'a.b': 1}, {...start, 'a.b': 1}],
    [['`x\\`y`'], {'x`y': 1}, {...start, 'x`y': 1}],
    [['`z\\\\`'], {'z\\': 1}, {...start, 'z\\': 1}],
    [['b.`1 x`'], {b: {'1 x': 1}}, {a: 1, b: {...start.b, '1 x': 1}}],
    [['`\\u0041`', '`\\x42`', '`\\103`', '`\\n`'], {A: 1, B: 2, C: 3, '\n': 4}, {...start, A: 1, B: 2, C: 3, '\n': 4}],
    [['a', 'a'], {a: 2}, {...start, a: 2}],
    [['__name__'], {}, start],
    [[], {a: 9}, start],
  ];
  for (const [paths, data, expected] of cases) {
    await t.test(JSON.stringify([paths, data]), async () => {
      const fixture = new Fixture(context);
      await fixture.write(fixture.set('c/d', start));
      await fixture.write(fixture.patch('c/d', data, paths));
      await fixture.expectFields('c/d', expected);
    });
  }
  await t.test('a missing document comes into being', async () => {
    const fixture = new Fixture(context);
    await fixture.write(fixture.patch('c/a', {x: 1}, []), fixture.patch('c/b', {}, ['x.y']), fixture.patch('c/c', {x: 1}, ['x']));
    await fixture.expectFields('c/a', {});
    await fixture.expectFields('c/b', {});
    await fixture.expectFields('c/c', {x: 1});
  });
});

test('field paths that are refused', async () => {
  const fixture = new Fixture(context);
  const regex = 'Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match ' +
    'regex (`(?:[^`\\\\]|(?:\\\\.))+`)';
  const bad = ['.', 'a.', '.a', 'a..b', '1a', 'a-b', 'a b', '`a', 'a`b', '``', '`a`b', 'a[0]', '*', 'é', 'a/b', '$a', 'a~b',
    'a\n', '`a\\x`', '`\\q`', '`\\.`'];
  const cases = [
    ...bad.map((path) => [path, `Invalid property path "${path}". ${regex}`]),
    ['', 'Invalid empty property path string.'],
    ['__foo__', 'Invalid reserved name in field path __foo__'],
    ['a.`__foo__`', 'Invalid reserved name in field path __foo__'],
    ['__name__.x', 'the name __key__ is reserved'],
    [`${'a'.repeat(800)}.${'b'.repeat(800)}`, 'property path is longer than 1500 bytes.'],
  ];
  for (const [path, message] of cases) {
    expectOutcome(await fixture.tryWrite(fixture.patch('c/d', {}, [path])), invalid(message));
    const emulator = /longer than|__key__/.test(message) ? {code: 'OK', message: undefined} : undefined;
    expectOutcome(await fixture.tryWrite(fixture.transform('c/d', increment(path, 1))), invalid(message, emulator));
    expectOutcome(await fixture.call('GetDocument', {name: fixture.doc('c/d'), mask: {fieldPaths: [path]}}), invalid(message));
  }
});

test('writes that are refused before anything happens', async () => {
  const fixture = new Fixture(context);
  const name = fixture.doc('c/d');
  const mask = {updateMask: {fieldPaths: ['a']}};
  const transforms = {updateTransforms: [increment('a', 1)]};
  const transform = (...fieldTransforms) => ({transform: {document: name, fieldTransforms}});
  const cases = [
    [{}, 'empty write operation'],
    [transforms, 'empty write operation'],
    [{delete: name, ...mask}, 'a delete must not specify a document mask.'],
    [{delete: name, ...transforms}, 'a delete must not specify a update transform.'],
    [{...transform(increment('a', 1)), ...mask}, 'a transform must not specify a document mask.'],
    [{...transform(increment('a', 1)), ...transforms}, 'a transform must not specify a update transform.'],
    [transform(), 'The list of FieldTransform must not be empty.'],
    [transform({fieldPath: 'a'}), 'Operation type must be specified for field transformation.'],
    [transform({fieldPath: 'a', setToServerValue: 'SERVER_VALUE_UNSPECIFIED'}),
      'ServerValue type must be specified for set_to_server_value transformation.'],
    [transform(increment('n', 1), increment('n.x', 1)), 'Cannot transform property n and its nested property at the same time.'],
    ...['increment', 'maximum', 'minimum'].flatMap((kind) => [
      [transform({fieldPath: 'a', [kind]: toValue('x')}), 'Input must be int64 or double.'],
      [transform({fieldPath: 'a', [kind]: toValue(unset)}), 'Cannot convert firestore.v1.Value with type unset.']]),
    [fixture.set('c/d', {}, at({seconds: 1, nanos: 1})), 'timestamp cannot have more than microseconds precision'],
    [fixture.set('c/d', {}, at({seconds: '253402300800'})), /^invalid timestamp, please check https:/],
  ];
  for (const [write, message] of cases) {
    const request = fixture.commit(fixture.set('c/first', {}), write);
    expectOutcome(await fixture.call('Commit', request), invalid(message));
    expectOutcome(await fixture.call('BatchWrite', request), invalid(message));
    assert.equal(await fixture.get('c/first'), null);
  }
});

test('preconditions, on every kind of write', async () => {
  const fixture = new Fixture(context);
  const kinds = [
    (path, more) => fixture.set(path, {n: 2}, more),
    (path, more) => fixture.patch(path, {n: 2}, ['n'], more),
    (path, more) => ({...fixture.transform(path, increment('n', 1)), ...more}),
    (path, more) => ({transform: {document: fixture.doc(path), fieldTransforms: [increment('n', 1)]}, ...more}),
    (path, more) => fixture.remove(path, more),
  ];
  const old = {seconds: '1000'};
  const zero = {seconds: '0'};
  const future = {seconds: '4000000000'};
  for (const [kind, write] of kinds.entries()) {
    const [gone, never] = [`c/gone${kind}`, `c/never${kind}`];
    await fixture.write(fixture.set('c/deleted', {n: 1}));
    await fixture.write(fixture.remove('c/deleted'));
    const {commitTime} = await fixture.write(fixture.remove('c/d'), fixture.set('c/d', {n: 1}));
    const stored = microsOf((await fixture.get('c/d')).updateTime);
    const refusals = [
      [write(gone, exists(true)), noDocument(fixture, gone)],
      [write('c/d', exists(false)), alreadyExists(fixture, 'c/d')],
      [write('c/d', at(old)), otherVersion(stored, 1_000_000_000)],
      [write(gone, at(old)), otherVersion(0, 1_000_000_000)],
      [write('c/d', at(zero)), otherVersion(stored, 0)],
      [write('c/d', at(timeOf(stored - 1n))), otherVersion(stored, stored - 1n)],
      [write('c/d', at(timeOf(stored + 1n))), laterVersion(fixture, 'c/d')],
      [write('c/d', at(future)), laterVersion(fixture, 'c/d')],
      [write(never, at(future)), otherVersion(0, 4_000_000_000_000_000n)],
      [write('c/deleted', at(future)), {...otherVersion(0, 4_000_000_000_000_000n),
        emulator: {message: /^the stored version \(\d+\) does not match the required base version \(4000000000000000\)$/}}],
    ];
    for (const [refused, expected] of refusals) {
      expectOutcome(await fixture.tryWrite(fixture.set('c/other', {n: 1}), refused), expected);
      const {writeResults, status} = await fixture.must('BatchWrite', fixture.commit(refused));
      assert.deepStrictEqual(writeResults, [{}]);
      assert.equal(status[0].code, {INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6, FAILED_PRECONDITION: 9}[expected.code]);
      expectOutcome({code: expected.code, message: status[0].message}, expected);
    }
    await fixture.expectFields('c/d', {n: 1});
    await fixture.expectFields('c/other', null);
    for (const [path, more] of [['c/d', exists(true)], [gone, exists(false)], ['c/d', {currentDocument: {}}]]) {
      expectOutcome(await fixture.tryWrite(write(path, more)), {code: 'OK'});
      await fixture.write(fixture.remove(gone), fixture.set('c/d', {n: 1}));
    }
    const {updateTime} = await fixture.get('c/d');
    assert.ok(microsOf(updateTime) >= microsOf(commitTime));
    expectOutcome(await fixture.tryWrite(write('c/d', at(updateTime)), write(never, at(zero))), {code: 'OK'});
  }
});

test('the first failing precondition in the order of the writes is reported', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/there', {}));
  const [gone, there] = [fixture.set('c/gone', {}, exists(true)), fixture.set('c/there', {}, exists(false))];
  expectOutcome(await fixture.tryWrite(gone, there), noDocument(fixture, 'c/gone'));
  expectOutcome(await fixture.tryWrite(there, gone), alreadyExists(fixture, 'c/there'));
});

test('several writes of one document in a commit', async (t) => {
  const set = (n, more) => (f) => f.set('c/d', {n}, more);
  const gone = (more) => (f) => f.remove('c/d', more);
  const inc = (f) => f.transform('c/d', increment('n', 1));
  // Start, writes, what is there afterwards, and what the update times are: new, old, or none.
  const cases = {
    'the last one wins': [{n: 1}, [set(2), set(3)], {n: 3}, 'new'],
    'a transform sees what came before': [{n: 1}, [set(5), inc, inc], {n: 7}, 'new'],
    'there and back is no change': [{n: 1}, [set(2), set(1)], {n: 1}, 'old'],
    'set and delete of a missing one': [null, [set(1), gone()], null, 'none'],
    'delete and set': [{n: 1}, [gone(), set(1)], {n: 1}, 'new'],
    'delete and create': [{n: 1}, [gone(), set(1, exists(false))], {n: 1}, 'new'],
    'create and update': [null, [set(1, exists(false)), set(2, exists(true))], {n: 2}, 'new'],
    'delete twice': [{n: 1}, [gone(), gone()], null, 'none'],
  };
  for (const [name, [start, writes, expected, times]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const fixture = new Fixture(context);
      const before = start && await fixture.write(fixture.set('c/d', start));
      const {writeResults, commitTime} = await fixture.write(...writes.map((write) => write(fixture)));
      const updateTime = {new: commitTime, old: before?.commitTime}[times];
      for (const result of writeResults) assert.deepStrictEqual(result.updateTime, updateTime);
      await fixture.expectFields('c/d', expected);
      if (expected) assert.deepStrictEqual((await fixture.get('c/d')).updateTime, updateTime);
    });
  }
  const emulator = {code: 'INVALID_ARGUMENT', message: /in the same request|Cannot collapse/};
  const cannot = (what) => () => ({code: 'INVALID_ARGUMENT', message: `Cannot ${what} an entity in the same request.`});
  const refused = {
    'set and create': [[set(1), set(2, exists(false))], cannot('upsert then insert')],
    'create twice': [[set(1, exists(false)), set(2, exists(false))], cannot('insert then insert')],
    'delete and update': [[gone(), set(1, exists(true))], cannot('delete then update')],
    'delete and delete again': [[gone(), gone(exists(true))], cannot('delete then delete')],
    'set and update of another version': [[set(1), set(2, at({seconds: '1000'}))],
      () => ({code: 'FAILED_PRECONDITION', message: /does not match the required base version \(1000000000\)/})],
    'create and update of a later version': [[set(1), set(2, at({seconds: '4000000000'}))],
      () => otherVersion(0, 4_000_000_000_000_000n)],
  };
  for (const [name, [writes, expected]] of Object.entries(refused)) {
    await t.test(name, async () => {
      const fixture = new Fixture(context);
      const outcome = await fixture.tryWrite(...writes.map((write) => write(fixture)));
      expectOutcome(outcome, {...expected(fixture, 'c/d'), emulator});
      await fixture.expectFields('c/d', null);
    });
  }
  await t.test('the second write is judged by what the first left', async () => {
    const fixture = new Fixture(context);
    const {commitTime} = await fixture.write(fixture.set('c/d', {n: 1}));
    await fixture.write(fixture.set('c/d', {n: 2}, at(commitTime)), fixture.patch('c/d', {m: 3}, ['m']));
    await fixture.expectFields('c/d', {n: 2, m: 3});
  });
});

test('UpdateDocument', async () => {
  const fixture = new Fixture(context);
  const name = fixture.doc('c/d');
  const update = (fields, more = {}) => fixture.must('UpdateDocument', {document: {name, fields: toFields(fields)}, ...more});
  const made = await update({a: 1, b: {c: 2}});
  assert.deepStrictEqual(made, {name, fields: toFields({a: 1, b: {c: 2}}), createTime: made.updateTime, updateTime: made.updateTime});
  const patched = await update({a: 5}, {updateMask: {fieldPaths: ['a']}, mask: {fieldPaths: ['b.c', 'none']}});
  assert.deepStrictEqual(fieldsOf(patched), toFields({b: {c: 2}}));
  assert.deepStrictEqual(patched.createTime, made.createTime);
  assert.ok(microsOf(patched.updateTime) > microsOf(made.updateTime));
  await fixture.expectFields('c/d', {a: 5, b: {c: 2}});
  const same = await update({a: 9}, {updateMask: {}});
  assert.deepStrictEqual([fieldsOf(same), same.updateTime], [toFields({a: 5, b: {c: 2}}), patched.updateTime]);
  const call = (more) => fixture.call('UpdateDocument', {document: {name: fixture.doc('c/gone')}, ...more});
  expectOutcome(await call(exists(true)), noDocument(fixture, 'c/gone'));
  expectOutcome(await call({document: {name}, ...exists(false)}), alreadyExists(fixture, 'c/d'));
  const stored = microsOf(patched.updateTime);
  expectOutcome(await call({document: {name}, ...at(timeOf(stored - 1n))}), otherVersion(stored, stored - 1n));
  expectOutcome(await call({document: {name}, ...at(timeOf(stored + 1n))}), laterVersion(fixture, 'c/d'));
  expectOutcome(await call({document: undefined}), invalid('Document name "" lacks "projects" at index 0.'));
});

test('CreateDocument', async () => {
  const fixture = new Fixture(context);
  const create = (more) => fixture.call('CreateDocument', {parent: fixture.root, collectionId: 'c', ...more});
  const {response: named} = await create({documentId: 'd', document: {fields: toFields({a: 1, b: 2})}, mask: {fieldPaths: ['b']}});
  assert.deepStrictEqual(named, {name: fixture.doc('c/d'), fields: toFields({b: 2}), createTime: named.updateTime, updateTime: named.updateTime});
  await fixture.expectFields('c/d', {a: 1, b: 2});
  expectOutcome(await create({documentId: 'd'}), alreadyExists(fixture, 'c/d'));
  expectOutcome(await create({document: {name: fixture.doc('c/x')}}), invalid('document.name must not be set'));
  const {response: chosen} = await create({});
  assert.match(chosen.name.slice(fixture.doc('c/').length), /^[A-Za-z0-9]{20}$/);
  assert.deepStrictEqual(fieldsOf(chosen), {});
  const {response: below} = await create({parent: fixture.doc('no/parent'), documentId: 'e'});
  assert.equal(below.name, fixture.doc('no/parent/c/e'));
});

test('DeleteDocument', async () => {
  const fixture = new Fixture(context);
  const remove = (path, more) => fixture.call('DeleteDocument', {name: fixture.doc(path), ...more});
  expectOutcome(await remove('c/gone'), {code: 'OK'});
  expectOutcome(await remove('c/gone', exists(true)), noDocument(fixture, 'c/gone'));
  const {commitTime} = await fixture.write(fixture.set('c/d', {}));
  expectOutcome(await remove('c/d', exists(false)), alreadyExists(fixture, 'c/d'));
  expectOutcome(await remove('c/d', at(timeOf(microsOf(commitTime) - 1n))),
    otherVersion(microsOf(commitTime), microsOf(commitTime) - 1n));
  expectOutcome(await remove('c/d', at(timeOf(microsOf(commitTime) + 1n))), laterVersion(fixture, 'c/d'));
  expectOutcome(await remove('c/d', at(commitTime)), {code: 'OK', message: ''});
  await fixture.expectFields('c/d', null);
});

test('BatchWrite applies each write by itself', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/there', {n: 1}));
  const {writeResults, status} = await fixture.must('BatchWrite', {...fixture.commit(
    fixture.set('c/new', {n: 2}),
    fixture.set('c/there', {n: 3}, exists(false)),
    fixture.set('c/gone', {n: 4}, exists(true)),
    fixture.transform('c/time', serverTime('at')),
    fixture.remove('c/gone2')), labels: {job: 'nightly'}});
  assert.deepStrictEqual(status.map(({code = 0}) => code), [0, 6, 5, 0, 0]);
  assert.deepStrictEqual(writeResults.map((result) => result.updateTime !== undefined), [true, false, false, true, false]);
  assert.equal(writeResults[3].transformResults.length, 1);
  await fixture.expectFields('c/new', {n: 2});
  await fixture.expectFields('c/there', {n: 1});
  await fixture.expectFields('c/gone', null);
  expectOutcome(await fixture.call('BatchWrite', fixture.commit(fixture.set('c/a', {}), fixture.remove('c/a'))),
    invalid('the same document cannot be written more than once in a single request'));
  assert.deepStrictEqual(await fixture.must('BatchWrite', fixture.commit()), {});
  const many = Array.from({length: 501}, (_, n) => fixture.set(`many/d${n}`, {n}));
  const answer = await fixture.must('BatchWrite', fixture.commit(...many));
  assert.ok(answer.status.length === 501 && answer.status.every(({code = 0}) => code === 0));
});

test('more than 500 writes in a commit', async () => {
  const fixture = new Fixture(context);
  const {writeResults} = await fixture.write(...Array.from({length: 501}, (_, n) => fixture.set(`c/d${n}`, {n: int(n)})));
  assert.equal(writeResults.length, 501);
});
