// Field transforms: what each leaves in the document and what it answers.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, ownTest, useServer} from './support/check.js';
import {double, increment, int, maximum, microsOf, minimum, serverTime, toValue, union, vector, without}
  from './support/values.js';

const context = useServer();
const [most, least] = [2n ** 63n - 1n, -(2n ** 63n)];
const missing = Symbol('missing');

// Kind, value before, operand, value after; the transform answers with the value after.
const numeric = [
  [increment, missing, 3, 3], [increment, missing, double(-0), double(-0)], [increment, 'x', 3, 3], [increment, null, 0.5, 0.5],
  [increment, {m: 1}, 3, 3], [increment, 1, 2, 3], [increment, 1, 0.5, 1.5], [increment, 0.5, 1, 1.5],
  [increment, 1, double(1), double(2)], [increment, most, 1, int(most)], [increment, least, -1, int(least)],
  [increment, int(most), double(1), double(2 ** 63)], [increment, Infinity, -Infinity, NaN], [increment, 0, double(-0), double(0)],
  [increment, double(-0), double(-0), double(-0)], [increment, NaN, 1, NaN],
  [maximum, missing, 3, 3], [maximum, 'x', 3, 3], [maximum, 1, 2, 2], [maximum, 2, 1, 2], [maximum, 3, double(3), 3],
  [maximum, double(3), 3, double(3)], [maximum, 0, double(-0), 0], [maximum, double(-0), double(0), double(-0)],
  [maximum, NaN, 1, NaN], [maximum, 1, NaN, NaN], [maximum, 9007199254740993n, double(9007199254740992), 9007199254740993n],
  [maximum, 9007199254740992n, double(9007199254740994), double(9007199254740994)],
  [minimum, missing, 3, 3], [minimum, [1], 3, 3], [minimum, 1, 2, 1], [minimum, 2, 1, 1], [minimum, double(3), 3, double(3)],
  [minimum, double(0), double(-0), double(0)], [minimum, NaN, 1, NaN], [minimum, 1, NaN, NaN],
  [minimum, 9007199254740993n, double(9007199254740992), double(9007199254740992)], [minimum, 1, -Infinity, -Infinity],
];
// Kind, value before, operands, value after; the transform answers null.
const lists = [
  [union, missing, [1, 2, 1], [1, 2]], [union, 'x', [1], [1]], [union, [1, 1], [1, 2], [1, 1, 2]],
  [union, [1, NaN, 0], [double(1), NaN, double(-0)], [1, NaN, 0]], [union, [{a: 1}], [{a: double(1)}, {a: 2}], [{a: 1}, {a: 2}]],
  [union, [null], [null], [null]], [union, [3], [], [3]], [union, missing, [], []], [union, vector(1), [1], [1]],
  [without, missing, [1], []], [without, 'x', [1], []], [without, [1, 2, 1, double(1)], [1], [2]],
  [without, [NaN, null, 0, double(-0)], [NaN, null, double(0)], []], [without, [1], [], [1]], [without, [{a: [1]}], [{a: [double(1)]}], []],
];

const describe = (kind, before, operand) =>
  `${kind.name} ${JSON.stringify([before === missing ? 'missing' : before, operand], (_, x) => (typeof x === 'bigint' ? `${x}n` : x))}`;

async function apply(before, transform) {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {other: 1, ...(before === missing ? {} : {f: before, m: {f: before}})}));
  const {writeResults} = await fixture.write(fixture.transform('c/d', transform('f'), transform('m.f')));
  return {fixture, results: writeResults[0].transformResults};
}

test('numbers', async (t) => {
  for (const [kind, before, operand, after] of numeric) {
    await t.test(describe(kind, before, operand), async () => {
      const {fixture, results} = await apply(before, (path) => kind(path, operand));
      assert.deepStrictEqual(results, [toValue(after), toValue(after)]);
      await fixture.expectFields('c/d', {other: 1, f: after, m: {f: after}});
    });
  }
});

test('lists', async (t) => {
  for (const [kind, before, operands, after] of lists) {
    await t.test(describe(kind, before, operands), async () => {
      const {fixture, results} = await apply(before, (path) => kind(path, ...operands));
      assert.deepStrictEqual(results, [toValue(null), toValue(null)]);
      await fixture.expectFields('c/d', {other: 1, f: after, m: {f: after}});
    });
  }
});

test('the server time', async () => {
  const fixture = new Fixture(context);
  const {writeResults, commitTime} = await fixture.write(fixture.transform('c/a', serverTime('x'), serverTime('y.z')),
    {transform: {document: fixture.doc('c/b'), fieldTransforms: [serverTime('x')]}});
  const [now] = writeResults[0].transformResults;
  assert.deepStrictEqual(writeResults.map(({transformResults}) => transformResults), [[now, now], [now]]);
  const micros = microsOf(now.timestampValue);
  assert.equal(micros % 1000n, 0n);
  assert.ok(micros <= microsOf(commitTime) && microsOf(commitTime) - micros < 5_000_000n);
  assert.deepStrictEqual((await fixture.get('c/a')).fields, {x: now, y: {mapValue: {fields: {z: now}}}});
});

test('transforms apply in order, after the fields of the write', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {n: 1, keep: 1}));
  const two = await fixture.write(fixture.transform('c/d', increment('n', 1), increment('n', 2)));
  assert.deepStrictEqual(two.writeResults[0].transformResults, [toValue(2), toValue(4)]);
  await fixture.write(fixture.patch('c/d', {n: 5}, ['n'], {updateTransforms: [increment('n', 1)]}));
  await fixture.expectFields('c/d', {n: 6, keep: 1});
  await fixture.write(fixture.set('c/d', {a: 1}, {updateTransforms: [increment('n', 1), union('l.x', 'y')]}));
  await fixture.expectFields('c/d', {a: 1, n: 1, l: {x: ['y']}});
  await fixture.write(fixture.transform('c/d', increment('a.deep', 1), increment('l.x.y', 2)));
  await fixture.expectFields('c/d', {a: {deep: 1}, n: 1, l: {x: {y: 2}}});
});

test('transforms make a missing document', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.transform('c/a', increment('n', 1)),
    {transform: {document: fixture.doc('c/b'), fieldTransforms: [union('l', 1)]}});
  await fixture.expectFields('c/a', {n: 1});
  await fixture.expectFields('c/b', {l: [1]});
});

ownTest('no more than 500 transforms a document', 'no limit', async () => {
  const fixture = new Fixture(context);
  const transforms = (count) => Array.from({length: count}, (_, n) => increment(`f${n}`, 1));
  await fixture.write(fixture.transform('c/d', ...transforms(500)));
  expectOutcome(await fixture.tryWrite(fixture.transform('c/d', ...transforms(501))), {code: 'INVALID_ARGUMENT'});
});
