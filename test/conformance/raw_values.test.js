// Values, fields and document sizes: what is kept exactly, and what is refused.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {double, geo, increment, int, reference, time, toValue, union, unset, vector} from './support/values.js';

const context = useServer();

// `x` inside `levels` maps called m, n, m, n...
const nest = (levels, x) => (levels === 0 ? x : nest(levels - 1, {n: x}));

test('values are stored exactly', async () => {
  const fixture = new Fixture(context);
  const data = {
    'int and double': [1, double(1), 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)],
    doubles: [NaN, -0, double(0), Infinity, -Infinity, 5e-324],
    empty: [{}, '', Buffer.alloc(0), {list: []}],
    'odd names': {'a.b': 1, '`': 2, '\u0000': 3, ___: 4, __: 5, é: 6},
    times: [time(-62135596800), time(253402300799, 999999000), time(0), time(-1, 1000)],
    geo: [geo(-0, 180), geo(90, -180)],
    bytes: Buffer.from([0, 255]),
    vector: vector(1, -0, Infinity),
    reference: reference(fixture.doc('c/d')),
    null: null,
    deepest: nest(19, true),
  };
  await fixture.write(fixture.set('c/d', data));
  await fixture.expectFields('c/d', data);
});

test('timestamps are rounded down to microseconds', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {a: time(1, 999), b: [time(-1, 999_999_999)]}));
  await fixture.expectFields('c/d', {a: time(1), b: [time(-1, 999_999_000)]});
});

test('values that are refused', async (t) => {
  const long = 'x'.repeat(1_048_488);
  const nested = 'Property a contains an invalid nested entity.';
  const notSet = 'Cannot convert firestore.v1.Value with type unset.';
  const vectorOf = (...values) => ({__type__: '__vector__', value: values});
  const latitude = (text) => `Geo point latitude '${text}' outside permitted range -90.0 to 90.0.`;
  const longitude = (text) => `Geo point longitude '${text}' outside permitted range -180.0 to 180.0.`;
  const cases = [
    [unset, notSet], [[1, unset], notSet], [{m: unset}, notSet],
    [[[1]], 'Cannot convert an array value in an array value.'],
    [[vector(1)], 'Cannot convert a vector value in an array value.'],
    [nest(21, 1), nested], [nest(20, {}), nested], [nest(10, [nest(10, 1)]), nested],
    [{'': 1}, nested], [{['n'.repeat(1501)]: 1}, nested], [{m: long}, nested],
    [{['n'.repeat(1499)]: 1}, nested], [{m: {['n'.repeat(1497)]: 1}}, nested], [{['n'.repeat(800)]: {['n'.repeat(800)]: 1}}, nested],
    [[{['n'.repeat(1499)]: 1}], nested], [{m: [{['n'.repeat(1497)]: 1}]}, nested],
    [{__x__: 1}, "field name '__x__' is reserved."], [{m: [{__name__: 1}]}, "field name '__name__' is reserved."],
    [long, 'The value of property "a" is longer than 1048487 bytes.'],
    [Buffer.from(long), 'The value of property "a" is longer than 1048487 bytes.'],
    [[long], 'The value of property "a" is longer than 1048487 bytes.'],
    [time(-62135596801), 'Timestamp seconds exceeds limit for field.'],
    [time(253402300800), 'Timestamp seconds exceeds limit for field.'],
    [time(0, -1), 'Timestamp nanos exceeds limit for field.'],
    [time(0, 1_000_000_000), 'Timestamp nanos exceeds limit for field.'],
    [geo(90.1, 0), latitude('90.1')], [geo(-91, 200), latitude('-91.0')], [geo(NaN, 0), latitude('NaN')],
    [geo(0, 180.1), longitude('180.1')], [geo(0, Infinity), longitude('Infinity')],
    [vectorOf(), 'Cannot have a zero length vector.'],
    [vectorOf(1), "Vector must only contain values of type 'double'"],
    [vector(NaN), 'Vector cannot contain NaN values.'],
    [vector(...Array(2049).fill(0.5)), 'Vectors must be at most 2048 dimensions.'],
    [{...vector(1), more: 1}, 'Vector Value map has extraneous entries.'],
    [{__type__: '__vector__'}, "Vector map is missing key 'value'."],
    [{__type__: '__vector__', value: 1}, 'Vector Value type must be an array.'],
    [{__type__: 1}, 'Field __type__ is not a string.'],
    [{__type__: 'other'}, nested],
  ];
  const fixture = new Fixture(context);
  for (const [value, message] of cases) {
    await t.test(`${message} ${JSON.stringify(value)}`.slice(0, 100), async () => {
      const expected = invalid(message);
      expectOutcome(await fixture.tryWrite(fixture.set('c/d', {a: value})), expected);
      // The field does not have to be in the mask to be looked at, though not for what only storing it would break.
      if (!/nested entity|longer than|NaN values/.test(message)) {
        expectOutcome(await fixture.tryWrite(fixture.patch('c/d', {a: value}, ['b'])), expected);
      }
      expectOutcome(await fixture.call('BatchWrite', fixture.commit(fixture.set('c/e', {}), fixture.set('c/d', {a: value}))),
        expected);
      expectOutcome(await fixture.call('CreateDocument', {parent: fixture.root, collectionId: 'c',
        document: {fields: fixture.set('c/d', {a: value}).update.fields}}), expected);
    });
  }
  assert.deepStrictEqual(await fixture.listIds({collectionId: 'c'}), []);
});

test('the longest paths', async () => {
  const fixture = new Fixture(context);
  const long = (bytes) => 'é'.repeat(bytes / 2);
  const data = {a: {[long(1498)]: 1, b: {[long(1496)]: [1]}}, l: [{[long(1498)]: {}}], v: {[long(1498)]: vector(1)}, [long(1500)]: [{}]};
  await fixture.write(fixture.set('c/d', data));
  await fixture.expectFields('c/d', data);
});

ownTest('no path is longer than 1,500 bytes after a transform', 'not checked', async () => {
  const fixture = new Fixture(context);
  const expected = invalid('Property a contains an invalid nested entity.');
  await fixture.write(fixture.transform('c/d', union('a', {['n'.repeat(1498)]: 1})));
  expectOutcome(await fixture.tryWrite(fixture.transform('c/d', union('a', {['n'.repeat(1499)]: 1}))), expected);
  expectOutcome(await fixture.tryWrite(fixture.transform('c/e', increment(`a.${'n'.repeat(1499)}`, 1))),
    invalid('property path is longer than 1500 bytes.'));
});

ownTest('a path of 1,500 bytes can be asked for', 'one byte less', async () => {
  const fixture = new Fixture(context);
  const path = `a.${'n'.repeat(1498)}`;
  await fixture.write(fixture.patch('c/d', {a: {['n'.repeat(1498)]: 1}}, [path]));
  const [field, from] = [{fieldPath: path}, [{collectionId: 'c'}]];
  const queries = [{where: {fieldFilter: {field, op: 'EQUAL', value: toValue(1)}}}, {orderBy: [{field}]}, {select: {fields: [field]}}];
  for (const query of queries) {
    const answers = await fixture.must('RunQuery', {parent: fixture.root, structuredQuery: {from, ...query}});
    assert.deepStrictEqual(answers.map(({document}) => document?.name), [fixture.doc('c/d')]);
    const longer = JSON.parse(JSON.stringify({from, ...query}).replace(path, `${path}n`));
    expectOutcome(await fixture.call('RunQuery', {parent: fixture.root, structuredQuery: longer}),
      invalid('property path is longer than 1500 bytes.'));
  }
});

test('top-level field names that are refused', async () => {
  const fixture = new Fixture(context);
  const cases = [
    ['', 'The property.name is the empty string.'],
    ['__x__', 'field name __x__ is reserved'],
    ['__name__', 'field name __name__ is reserved'],
    ['__type__', 'field name __type__ is reserved'],
    ['é'.repeat(751), 'The property.name is longer than 1500 bytes.'],
    ['____', 'field name ____ is reserved', {code: 'OK', message: ''}],
  ];
  for (const [name, message, emulator] of cases) {
    expectOutcome(await fixture.tryWrite(fixture.set('c/d', {[name]: 1})), invalid(message, emulator));
  }
  await fixture.write(fixture.set('c/d', {['é'.repeat(750)]: 1}));
});

test('the size of a document, to the byte', async (t) => {
  const limit = 1_048_576;
  const fixture = new Fixture(context);
  const overhead = 32 + 16 + 'c'.length + 1 + 'd'.length + 1;
  const tooBig = (size) => invalid(
    `Document '${fixture.doc('c/d')}' cannot be written because its size (${size.toLocaleString('en')} bytes) ` +
    'exceeds the maximum allowed size of 1,048,576 bytes.', {message: 'maximum entity size is 1048576 bytes'});
  const parts = {
    'strings in UTF-8': [{s: 'é😀'}, 1 + 1 + 6 + 1],
    bytes: [{b: Buffer.from([1, 2, 3])}, 1 + 1 + 3],
    numbers: [{i: 1, d: 0.5, t: time(5)}, 3 * (1 + 1 + 8)],
    'booleans and null': [{x: true, y: null}, 2 * (1 + 1 + 1)],
    'a geo point': [{g: geo(1, 2)}, 1 + 1 + 16],
    'a reference': [{r: reference(fixture.doc('cc/dd/__id7__'.replace('/__id7__', '')))}, 1 + 1 + 16 + 3 + 3],
    'a numeric reference': [{r: reference(fixture.doc('cc/__id7__'))}, 1 + 1 + 16 + 3 + 8],
    arrays: [{l: [1, 'a', true]}, 1 + 1 + 8 + 2 + 1],
    maps: [{m: {ab: 1, c: 'x'}}, 1 + 1 + (3 + 8) + (2 + 2)],
    'empty ones': [{l: [], m: {}}, 2 * (1 + 1 + 1)],
    'a vector': [{v: vector(1, 2, 3)}, 1 + 1 + 24],
  };
  for (const [name, [data, size]] of Object.entries(parts)) {
    await t.test(name, async () => {
      // The rest is one array of two strings, because one value alone may not fill a document.
      const rest = limit - overhead - size - (1 + 1) - 2 * 1;
      const fill = (bytes) => ({...data, f: ['x'.repeat(500_000), 'x'.repeat(bytes - 500_000)]});
      expectOutcome(await fixture.tryWrite(fixture.set('c/d', fill(rest + 1))), tooBig(limit + 1));
      expectOutcome(await fixture.tryWrite(fixture.set('c/d', fill(rest))), {code: 'OK'});
    });
  }
});

test('what a mask and transforms make of a document is what counts', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {big: 'x'.repeat(1_048_000)}));
  const size = 32 + 20 + (4 + 1_048_001) + (2 + 601);
  const expected = invalid(
    `Document '${fixture.doc('c/d')}' cannot be written because its size (${size.toLocaleString('en')} bytes) ` +
    'exceeds the maximum allowed size of 1,048,576 bytes.', {message: 'maximum entity size is 1048576 bytes'});
  expectOutcome(await fixture.tryWrite(fixture.patch('c/d', {m: 'x'.repeat(600)}, ['m'])), expected);
  const append = fixture.transform('c/d', {fieldPath: 'm', appendMissingElements: {values: [{stringValue: 'x'.repeat(600)}]}});
  expectOutcome(await fixture.tryWrite(append), expected);
  const {status} = await fixture.must('BatchWrite', fixture.commit(fixture.set('c/e', {n: int(1)}), append));
  assert.deepStrictEqual(status.map(({code = 0}) => code), [0, 3]);
  expectOutcome({code: 'INVALID_ARGUMENT', message: status[1].message}, expected);
  await fixture.expectFields('c/e', {n: 1});
});
