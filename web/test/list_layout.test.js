import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './support.js';

const {ListLayout, scrollIntoView} = await load('web/design/list_layout.ts');

const layout = (count, estimate = 10) => {
  const made = new ListLayout(estimate);
  made.reset(new Array(count).fill(undefined));
  return made;
};

test('rows that are not measured have the estimated height', () => {
  const list = layout(2_000, 76);
  assert.equal(list.total, 152_000);
  assert.equal(list.offset(1_999), 1_999 * 76);
  list.setEstimate(80);
  assert.equal(list.total, 160_000);
});

test('a measured row moves those below it, and only those', () => {
  const list = layout(10);
  assert.equal(list.total, 100);
  assert.equal(list.setHeight(4, 25), true);
  assert.equal(list.offset(4), 40);
  assert.equal(list.offset(5), 65);
  assert.equal(list.total, 115);
  assert.equal(list.setHeight(4, 25), false, 'nothing new');
  assert.equal(list.setHeight(3, 10), false, 'as expected');
  assert.equal(list.setHeight(10, 99), false, 'no such row');
});

test('finds the row at a position', () => {
  const list = layout(5);
  list.setHeight(1, 100);
  assert.deepEqual(
    [-5, 0, 9, 10, 109, 110, 139, 140, 1e9].map((y) => list.indexAt(y)),
    [0, 0, 0, 1, 1, 2, 4, 4, 4],
  );
});

test('a range has exactly the rows that are at least partly visible', () => {
  const list = layout(10);
  assert.deepEqual(list.range(0, 30), {start: 0, end: 3});
  assert.deepEqual(list.range(5, 31), {start: 0, end: 4});
  assert.deepEqual(list.range(-500, 1), {start: 0, end: 1});
  assert.deepEqual(list.range(95, 5_000), {start: 9, end: 10});
  assert.deepEqual(list.range(-50, 0), {start: 0, end: 0});
  assert.deepEqual(list.range(100, 200), {start: 0, end: 0});
  assert.deepEqual(layout(0).range(0, 100), {start: 0, end: 0});
});

test('agrees with a plain sum, for random heights and changes', () => {
  let seed = 1;
  const random = (below) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const heights = Array.from({length: 300}, () => 20 + random(80));
  const list = layout(300, 50);
  for (const [i, height] of heights.entries()) list.setHeight(i, height);
  for (let round = 0; round < 500; ++round) {
    const changed = random(300);
    heights[changed] = 20 + random(80);
    list.setHeight(changed, heights[changed]);
    const index = random(301);
    assert.equal(
      list.offset(index),
      heights.slice(0, index).reduce((sum, height) => sum + height, 0),
    );
    const y = random(list.total);
    const at = list.indexAt(y);
    assert.ok(list.offset(at) <= y && y < list.offset(at) + list.height(at));
  }
});

test('scrolls no further than necessary', () => {
  assert.equal(scrollIntoView(50, 20, 0, 100), 0);
  assert.equal(scrollIntoView(90, 20, 0, 100), 10);
  assert.equal(scrollIntoView(30, 20, 40, 100), -10);
  assert.equal(scrollIntoView(30, 500, 0, 100), 30, 'too high for the view: its beginning');
});
