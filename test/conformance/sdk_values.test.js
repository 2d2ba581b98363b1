// Every type of value through the Node SDK and back, and the transforms it knows.

import {FieldValue, GeoPoint, Timestamp} from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';

const context = useServer();

test('values round trip', async (t) => {
  const firestore = openFirestore(context);
  let deep = 'bottom';
  for (let level = 0; level < 18; ++level) deep = level % 2 ? [deep] : {deep};
  const values = {
    null: null,
    booleans: [true, false],
    integers: [0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    doubles: [0.5, -1.25, 1e300, -1e-300, Number.MIN_VALUE, Number.MAX_VALUE, 2 ** 60],
    'not a number': NaN,
    'negative zero': -0,
    infinities: [Infinity, -Infinity],
    strings: ['', 'plain', 'žluťoučký', '日本語', '😀', '\u0000\n', '\u{10ffff}'],
    bytes: [Buffer.alloc(0), Buffer.from([0, 255, 128])],
    timestamps: [new Timestamp(0, 0), new Timestamp(1_700_000_000, 123_456_000), new Timestamp(-62_135_596_800, 0),
      new Timestamp(253_402_300_799, 999_999_000), new Timestamp(-1, 1000)],
    'geo points': [new GeoPoint(0, 0), new GeoPoint(-90, 180), new GeoPoint(48.137, 11.575)],
    'a vector': FieldValue.vector([1, -0.5, 3e10]),
    'a vector of 2048 dimensions': FieldValue.vector(Array.from({length: 2048}, (_, n) => n / 3)),
    maps: {empty: {}, 'a.b': {'`': 1}, 'поле': {x: [{y: []}]}},
    arrays: {empty: [], inner: [1, {more: [2]}]},
    deep,
  };
  for (const [name, value] of Object.entries(values)) {
    await t.test(name, async () => {
      const document = firestore.collection('values').doc(name);
      await document.set({value, nested: {value}});
      const {value: top, nested} = (await document.get()).data();
      assert.deepStrictEqual(top, value);
      assert.deepStrictEqual(nested.value, value);
    });
  }
});

test('references of the own and of other collections come back as references', async () => {
  const firestore = openFirestore(context);
  const document = firestore.doc('values/reference');
  const targets = [firestore.doc('a/b'), firestore.doc('a/b/c/d'), document];
  await document.set({targets});
  const {targets: read} = (await document.get()).data();
  assert.deepStrictEqual(read.map(({path}) => path), targets.map(({path}) => path));
  assert.ok(read.every((reference, n) => reference.isEqual(targets[n])));
});

test('timestamps are kept in microseconds, rounded down', async () => {
  const document = openFirestore(context).doc('values/nanos');
  await document.set({late: new Timestamp(5, 123_456_999), early: new Timestamp(-5, 999)});
  assert.deepStrictEqual((await document.get()).data(), {late: new Timestamp(5, 123_456_000), early: new Timestamp(-5, 0)});
});

test('64-bit integers are exact', async () => {
  const document = openFirestore(context, {useBigInt: true}).doc('values/big');
  const numbers = [2n ** 63n - 1n, -(2n ** 63n), 9_007_199_254_740_993n, 0n];
  await document.set({numbers});
  assert.deepStrictEqual((await document.get()).data(), {numbers});
});

test('transforms', async (t) => {
  const firestore = openFirestore(context);
  const {increment, arrayUnion, arrayRemove} = FieldValue;
  const cases = {
    'increment of nothing': [undefined, increment(3), 3],
    'increment of an integer': [4, increment(3), 7],
    'increment by a double': [4, increment(0.5), 4.5],
    'increment of a double': [0.5, increment(-1), -0.5],
    'increment of a string': ['x', increment(3), 3],
    'increment by infinity': [Infinity, increment(-Infinity), NaN],
    'union with nothing': [undefined, arrayUnion(1, 2, 1), [1, 2]],
    'union with an array': [[1, 'a'], arrayUnion('b', 'a', 1), [1, 'a', 'b']],
    'union keeps what is there twice': [[1, 1], arrayUnion(1, 2), [1, 1, 2]],
    'union of maps': [[{a: 1}], arrayUnion({a: 1}, {a: 2}), [{a: 1}, {a: 2}]],
    'union with a string': ['x', arrayUnion(1), [1]],
    'removal': [[1, 'a', 1, 2], arrayRemove(1, 3), ['a', 2]],
    'removal from nothing': [undefined, arrayRemove(1), []],
    'removal of not-a-number and null': [[NaN, null, 0], arrayRemove(NaN, null), [0]],
  };
  for (const [name, [start, transform, expected]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const document = firestore.collection('transforms').doc();
      await document.set(start === undefined ? {other: 1} : {other: 1, value: start, nested: {value: start}});
      await document.update({value: transform, 'nested.value': transform});
      assert.deepStrictEqual((await document.get()).data(), {other: 1, value: expected, nested: {value: expected}});
    });
  }
});

test('increments saturate', async () => {
  const document = openFirestore(context, {useBigInt: true}).doc('transforms/big');
  await document.set({up: 2n ** 63n - 2n, down: -(2n ** 63n) + 1n});
  await document.update({up: FieldValue.increment(5), down: FieldValue.increment(-5)});
  assert.deepStrictEqual((await document.get()).data(), {up: 2n ** 63n - 1n, down: -(2n ** 63n)});
});

test('the server time is one time for all fields of a request', async () => {
  const firestore = openFirestore(context);
  const [one, two] = [firestore.doc('times/one'), firestore.doc('times/two')];
  await firestore.batch()
    .set(one, {at: FieldValue.serverTimestamp(), nested: {at: FieldValue.serverTimestamp()}, n: 1})
    .create(two, {at: FieldValue.serverTimestamp()})
    .commit();
  const snapshot = await one.get();
  const {at, nested, n} = snapshot.data();
  assert.equal(n, 1);
  assert.ok(at.isEqual(nested.at) && at.isEqual((await two.get()).get('at')));
  assert.equal(at.nanoseconds % 1_000_000, 0);
  assert.ok(at.valueOf() <= snapshot.updateTime.valueOf());
  assert.ok(snapshot.updateTime.toMillis() - at.toMillis() < 10_000);
});

test('transforms with merge, create and set', async () => {
  const firestore = openFirestore(context);
  const document = firestore.doc('transforms/mixed');
  await document.create({n: FieldValue.increment(1), list: FieldValue.arrayUnion('a'), keep: 1});
  await document.set({n: FieldValue.increment(2), list: FieldValue.arrayUnion('b')}, {merge: true});
  assert.deepStrictEqual((await document.get()).data(), {n: 3, list: ['a', 'b'], keep: 1});
  await document.set({n: FieldValue.increment(2), m: {x: FieldValue.arrayRemove('a')}});
  assert.deepStrictEqual((await document.get()).data(), {n: 2, m: {x: []}});
});

test('a thousand concurrent increments are all counted', async () => {
  const document = openFirestore(context).doc('counters/c');
  await Promise.all(Array.from({length: 1000}, () => document.set({n: FieldValue.increment(1)}, {merge: true})));
  assert.deepStrictEqual((await document.get()).data(), {n: 1000});
});
