// Listen: targets that resume where an earlier one ended.

import assert from 'node:assert/strict';
import {mkdtempSync} from 'node:fs';
import {join} from 'node:path';
import {mayContain} from './support/bloom_filter.js';
import {Fixture, expectOutcome, ownTest, useServer} from './support/check.js';
import {Listener, orderOf, queryOf} from './support/listener.js';
import {folder, serve} from './support/own_server.js';
import {Raw} from './support/raw.js';
import {toValue} from './support/values.js';

const context = useServer();
const ignored = 'it answers every token with all results';
const targets = {
  query: (listener, more) =>
    listener.addQuery(
      2,
      queryOf('c', {where: {fieldFilter: {field: {fieldPath: 'n'}, op: 'GREATER_THAN', value: toValue(0)}}}),
      more,
    ),
  limit: (listener, more) => listener.addQuery(2, queryOf('c', {orderBy: orderOf('n'), limit: {value: 3}}), more),
};

// Listens and disconnects; returns the client's results and how to resume.
async function listenOnce(fixture, add) {
  const listener = new Listener(fixture.raw, fixture);
  add(listener);
  const {resumeToken, readTime} = await listener.current(2);
  await listener.cancel();
  return {resumeToken, readTime, results: listener.results};
}

// Resumes from there. `short`: the messages received, without the snapshot.
async function listenOn(fixture, add, {results}, more) {
  const listener = new Listener(fixture.raw, fixture);
  for (const [id, documents] of results) listener.results.set(id, new Map(documents));
  add(listener, more);
  await listener.current(2);
  const {messages, short} = listener.take();
  return {listener, messages, short: short.filter((each) => each !== 'snapshot')};
}

async function fill(fixture) {
  await fixture.write(...['a', 'b', 'c', 'd'].map((id, n) => fixture.set(`c/${id}`, {n: n + 1})));
}

ownTest('a token survives a restart of its server, but is invalid for another', ignored, async () => {
  const data = mkdtempSync(join(folder, 'data-'));
  const [first, other] = [await serve({data}), await serve()];
  const fixture = new Fixture({raw: new Raw(first.address)});
  await fill(fixture);
  const earlier = await listenOnce(fixture, targets.query);
  await fixture.write(fixture.set('c/a', {n: 7}));
  fixture.raw.close();
  await first.stop();

  const again = await serve({data});
  fixture.raw = new Raw(again.address);
  await fixture.write(fixture.remove('c/b'));
  for (const how of [{resumeToken: earlier.resumeToken}, {readTime: earlier.readTime}]) {
    const later = await listenOn(fixture, targets.query, earlier, how);
    assert.deepStrictEqual(later.short, ['ADD 2', 'change c/a 2', 'delete c/b 2', 'CURRENT 2']);
    assert.deepStrictEqual(later.listener.paths(2), ['c/a', 'c/c', 'c/d']);
    await later.listener.cancel();
  }
  fixture.raw.close();

  fixture.raw = new Raw(other.address);
  await fixture.write(fixture.set('c/x', {n: 1}));
  const elsewhere = await listenOn(fixture, targets.query, earlier, {resumeToken: earlier.resumeToken});
  assert.deepStrictEqual(elsewhere.short, ['ADD 2', 'RESET 2', 'change c/x 2', 'CURRENT 2']);
  await elsewhere.listener.cancel();
  fixture.raw.close();
});

ownTest('a server that stops ends its streams, so that clients reconnect', 'it is not ours to stop', async () => {
  const server = await serve();
  const fixture = new Fixture({raw: new Raw(server.address)});
  const listener = new Listener(fixture.raw, fixture);
  targets.query(listener);
  await listener.current(2);
  const writes = fixture.raw.open('Write').send({database: fixture.database});
  await writes.next();
  const stopped = server.stop();
  const stopping = {code: 'UNAVAILABLE', message: 'The server is stopping.'};
  expectOutcome(await listener.end(), stopping);
  expectOutcome(await writes.ended, stopping);
  await stopped;
  fixture.raw.close();
});

ownTest('a client that missed more changes than a delta may have starts over', ignored, async () => {
  const fixture = new Fixture(context);
  await fill(fixture);
  const earlier = await listenOnce(fixture, targets.query);
  for (let from = 0; from < 10_500; from += 500) {
    await fixture.write(...Array.from({length: 500}, (_, i) => fixture.set(`c/x${from + i}`, {n: 1})));
  }
  const later = await listenOn(fixture, targets.query, earlier, {resumeToken: earlier.resumeToken});
  assert.deepStrictEqual(later.short.slice(0, 2), ['ADD 2', 'RESET 2']);
  assert.equal(later.listener.paths(2).length, 10_504);
  await later.listener.cancel();
});

ownTest('a client that missed more bytes than a delta may have starts over', ignored, async () => {
  const fixture = new Fixture(context);
  await fill(fixture);
  const text = 'x'.repeat(1_000_000);
  for (const [documents, isReset] of [
    [14, false],
    [20, true],
  ]) {
    const earlier = await listenOnce(fixture, targets.query);
    for (let i = 0; i < documents; ++i) await fixture.write(fixture.set(`c/${documents}-${i}`, {n: 1, text}));
    const later = await listenOn(fixture, targets.query, earlier, {resumeToken: earlier.resumeToken});
    assert.equal(later.short.includes('RESET 2'), isReset);
    assert.equal(later.listener.paths(2).length, earlier.results.get(2).size + documents);
    await later.listener.cancel();
  }
});

ownTest(
  'a client with a different number of documents gets a filter of their names',
  'it sends no existence filters',
  async () => {
    const fixture = new Fixture(context);
    const ids = Array.from({length: 60}, (_, i) => `${i}é\u{1F600}`.slice(0, 2 + (i % 5)) + i);
    await fixture.write(...ids.map((id) => fixture.set(`c/${id}`, {n: 1})));
    for (const add of [
      targets.query,
      (listener, more) => listener.addQuery(2, queryOf('c', {orderBy: orderOf('n'), limit: {value: 100}}), more),
    ]) {
      const earlier = await listenOnce(fixture, add);
      const count = earlier.results.get(2).size;
      const right = await listenOn(fixture, add, earlier, {
        resumeToken: earlier.resumeToken,
        expectedCount: {value: count},
      });
      assert.deepStrictEqual(right.short, ['ADD 2', 'CURRENT 2']);
      await fixture.write(fixture.set('c/new', {n: 2}), fixture.set(`c/${ids[0]}`, {n: count}));
      // Documents that left the result set, but that a client may still have.
      const wrong = await listenOn(fixture, add, earlier, {
        resumeToken: earlier.resumeToken,
        expectedCount: {value: count + 1},
      });
      const filters = wrong.messages.filter(({filter}) => filter).map(({filter}) => filter);
      assert.equal(filters.length, 1);
      assert.ok(wrong.short.indexOf('filter 2') < wrong.short.indexOf('CURRENT 2'));
      const [{targetId, count: stands, unchangedNames}] = filters;
      assert.equal(targetId, 2);
      assert.equal(stands, wrong.listener.paths(2).length);
      assert.ok(unchangedNames.hashCount > 0 && unchangedNames.bits.bitmap.length > 0);
      for (const id of ids.slice(1)) assert.ok(mayContain(unchangedNames, fixture.doc(`c/${id}`)), id);
      // One in a hundred would be typical.
      const strangers = Array.from({length: 1000}, (_, i) => fixture.doc(`c/stranger${i}`)).filter((name) =>
        mayContain(unchangedNames, name),
      );
      assert.ok(strangers.length < 100, `${strangers.length} of 1000 strangers pass`);
      await Promise.all([right.listener.cancel(), wrong.listener.cancel()]);
      await fixture.write(fixture.remove('c/new'));
    }
  },
);

ownTest('the filter of a query without results', 'it sends no existence filters', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/a', {n: 1}));
  const earlier = await listenOnce(fixture, targets.query);
  await fixture.write(fixture.remove('c/a'));
  const {listener, messages, short} = await listenOn(fixture, targets.query, earlier, {
    resumeToken: earlier.resumeToken,
    expectedCount: {value: 5},
  });
  assert.deepStrictEqual(short, ['ADD 2', 'delete c/a 2', 'filter 2', 'CURRENT 2']);
  const {filter} = messages.find((message) => message.filter);
  assert.equal(filter.count ?? 0, 0);
  assert.ok(!mayContain(filter.unchangedNames ?? {}, fixture.doc('c/a')));
  await listener.cancel();
});

ownTest('every snapshot can be resumed from', ignored, async () => {
  const fixture = new Fixture(context);
  const listener = new Listener(fixture.raw, fixture);
  targets.limit(listener);
  listener.addDocuments(4, ['ticks/t']); // Changes with every write, so that each write has a snapshot.
  const places = [];
  const keep = ({resumeToken}) => places.push({resumeToken, results: new Map([[2, new Map(listener.results.get(2))]])});
  keep(await listener.current(4));
  for (let i = 0; i < 20; ++i) {
    const path = `c/${(i * 7) % 6}`;
    const write = i % 5 === 4 ? fixture.remove(path) : fixture.set(path, {n: (i * 11) % 7});
    keep(await listener.snapshotAt(await fixture.write(write, fixture.set('ticks/t', {i}))));
  }
  for (const place of places) {
    const later = await listenOn(fixture, targets.limit, place, {resumeToken: place.resumeToken});
    assert.ok(!later.short.includes('RESET 2'));
    assert.deepStrictEqual(later.listener.fields(2), listener.fields(2));
    await later.listener.cancel();
  }
  await listener.cancel();
});
