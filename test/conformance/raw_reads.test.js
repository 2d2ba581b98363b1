// GetDocument, BatchGetDocuments, ListDocuments and ListCollectionIds: shapes, masks, orders, pages, times.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {targetIsEmulator} from './support/server.js';
import {fieldsOf, microsOf, timeOf, toFields} from './support/values.js';

const context = useServer();

test('GetDocument of a missing document', async () => {
  const fixture = new Fixture(context);
  expectOutcome(await fixture.call('GetDocument', {name: fixture.doc('c/d')}), {code: 'NOT_FOUND',
    message: `Document "${fixture.doc('c/d')}" not found.`, emulator: {message: `Document (${fixture.doc('c/d')}) not found.`}});
});

test('masks of reads', async () => {
  const fixture = new Fixture(context);
  const data = {x: 1, y: {p: 2, q: {r: 3}}, 's p': 4};
  await fixture.write(fixture.set('c/d', data));
  const cases = [
    [['x'], {x: 1}], [['y.p'], {y: {p: 2}}], [['y.q.r'], {y: {q: {r: 3}}}], [['y.p', 'y'], {y: data.y}], [['y', 'y.p'], {y: data.y}],
    [['none', 'x.y', 'y.none'], {y: {}}], [[], {}], [['__name__'], {}], [['`s p`'], {'s p': 4}], [['x', 'x'], {x: 1}],
  ];
  for (const [fieldPaths, expected] of cases) {
    const mask = {fieldPaths};
    const document = await fixture.get('c/d', {mask});
    const [{found}] = await fixture.must('BatchGetDocuments', {database: fixture.database, documents: [fixture.doc('c/d')], mask});
    assert.deepStrictEqual(document, found);
    // Whether a map whose masked members are all absent is shown empty is not for clients to rely on.
    const shown = fieldsOf(document);
    if (fieldPaths.includes('y.none') && shown.y === undefined) delete expected.y;
    assert.deepStrictEqual(shown, toFields(expected), JSON.stringify(fieldPaths));
    assert.ok(document.createTime && document.updateTime);
  }
});

test('BatchGetDocuments', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/a', {n: 1}), fixture.set('c/b', {n: 2}));
  const get = (ids, more = {}) => fixture.must('BatchGetDocuments',
    {database: fixture.database, documents: ids.map((id) => fixture.doc(`c/${id}`)), ...more});
  const answers = await get(['b', 'gone', 'a', 'b']);
  assert.deepStrictEqual(answers.map(({found, missing}) => found?.name ?? `missing ${missing}`),
    [fixture.doc('c/b'), `missing ${fixture.doc('c/gone')}`, fixture.doc('c/a')]);
  assert.ok(answers.every(({readTime}) => microsOf(readTime) === microsOf(answers[0].readTime)));
  assert.deepStrictEqual(await get([]), []);

  const [begun, ...rest] = await get(['a'], {newTransaction: {readWrite: {}}});
  assert.ok(begun.transaction.length > 0 && !begun.found);
  assert.equal(rest.length, 1);
  const [only, ...nothing] = await get([], {newTransaction: {readOnly: {}}});
  assert.ok(only.transaction.length > 0);
  assert.deepStrictEqual(nothing, []);
  for (const {transaction} of [begun, only]) await fixture.must('Rollback', {database: fixture.database, transaction});
});

test('reads at a time', async () => {
  const fixture = new Fixture(context);
  const times = [];
  for (const write of [fixture.set('c/d', {n: 1}), fixture.set('c/d', {n: 2}), fixture.remove('c/d'), fixture.set('c/d', {n: 3})]) {
    times.push((await fixture.write(write, fixture.set('c/other', {n: times.length}))).commitTime);
  }
  const fieldsAt = async (readTime) => {
    const document = await fixture.get('c/d', {readTime});
    const [answer] = await fixture.must('BatchGetDocuments', {database: fixture.database, documents: [fixture.doc('c/d')], readTime});
    assert.deepStrictEqual(answer.readTime, readTime);
    assert.deepStrictEqual(answer.found, document ?? undefined);
    const {documents} = await fixture.list({collectionId: 'c', readTime});
    assert.deepStrictEqual(documents?.find(({name}) => name.endsWith('/d')), document ?? undefined);
    return document && fieldsOf(document);
  };
  const before = (readTime) => timeOf(microsOf(readTime) - 1n);
  const states = [{n: 1}, {n: 2}, null, {n: 3}].map((data) => data && toFields(data));
  for (const [step, state] of states.entries()) {
    assert.deepStrictEqual(await fieldsAt(times[step]), state);
    assert.deepStrictEqual(await fieldsAt(before(times[step])), step ? states[step - 1] : null);
  }
  const ids = async (readTime) => (await fixture.must('ListCollectionIds', {parent: fixture.root, readTime})).collectionIds ?? [];
  assert.deepStrictEqual(await ids(times[0]), ['c']);
  assert.deepStrictEqual(await ids(before(times[0])), []);
});

test('read times that are refused', async () => {
  const fixture = new Fixture(context);
  const now = BigInt(Date.now()) * 1000n;
  const cases = [
    [{seconds: '1600000000', nanos: 1}, invalid('timestamp cannot have more than microseconds precision')],
    [timeOf(now + 60_000_000n), invalid("The requested 'read_time' cannot be in the future.")],
    [{seconds: '0'}, invalid('Only timestamps past epoch are supported.')],
    [{seconds: '-5'}, invalid('Only timestamps past epoch are supported.')],
    [{seconds: '253402300800'}, invalid(/^invalid timestamp, please check https:/)],
    [timeOf(now - 8n * 86_400_000_000n), {code: 'FAILED_PRECONDITION', message: "The requested 'read_time' is too old."}],
  ];
  for (const [readTime, expected] of cases) {
    const calls = {GetDocument: {name: fixture.doc('c/d')}, ListDocuments: {parent: fixture.root, collectionId: 'c'},
      BatchGetDocuments: {database: fixture.database, documents: [fixture.doc('c/d')]}};
    for (const [method, request] of Object.entries(calls)) {
      // The emulator stumbles over this one.
      if (targetIsEmulator && method === 'ListDocuments' && readTime.seconds === '253402300800') continue;
      expectOutcome(await fixture.call(method, {...request, readTime}), expected, [method, readTime]);
    }
  }
});

// All pages of a listing, each of at most `pageSize`.
async function pages(fixture, method, items, request) {
  const all = [];
  let pageToken;
  do {
    const response = await fixture.must(method, {...request, pageToken});
    const page = response[items] ?? [];
    assert.ok(page.length <= request.pageSize);
    all.push(...page);
    pageToken = response.nextPageToken;
  } while (pageToken);
  return all;
}

test('ListDocuments in the order of names', async () => {
  const fixture = new Fixture(context);
  const ids = ['__id-1__', '__id9__', '__id10__', ' ', 'A', 'Z', 'a', 'a ', 'a.b', 'aa', '\uffee', '😀'];
  await fixture.write(...[...ids].reverse().map((id) => fixture.set(`c/${id}`, {})), fixture.set('c2/x', {}), fixture.set('c/a/c/y', {}));
  assert.deepStrictEqual(await fixture.listIds({collectionId: 'c'}), ids);
  const all = await pages(fixture, 'ListDocuments', 'documents', {parent: fixture.root, collectionId: 'c', pageSize: 5});
  assert.deepStrictEqual(all.map(({name}) => name), ids.map((id) => fixture.doc(`c/${id}`)));
  assert.deepStrictEqual(await fixture.listIds({parent: fixture.doc('c/a'), collectionId: 'c'}), ['y']);
  assert.deepStrictEqual(await fixture.listIds({parent: fixture.doc('no/one'), collectionId: 'c'}), []);
  assert.deepStrictEqual(await fixture.listIds({}), [...ids, 'x']);
});

test('ListDocuments in pages', async () => {
  const fixture = new Fixture(context);
  const ids = Array.from({length: 350}, (_, n) => `d${String(n).padStart(3, '0')}`);
  await fixture.write(...ids.map((id) => fixture.set(`c/${id}`, {id})));
  for (const pageSize of [7, 50, 349]) {
    const all = await pages(fixture, 'ListDocuments', 'documents', {parent: fixture.root, collectionId: 'c', pageSize});
    assert.deepStrictEqual(all.map(({fields}) => fields.id.stringValue), ids);
  }
  const first = await fixture.list({collectionId: 'c'});
  assert.equal(first.documents.length, targetIsEmulator ? 30 : 100);
  const large = await fixture.list({collectionId: 'c', pageSize: 1000});
  assert.equal(large.documents.length, targetIsEmulator ? 150 : 300);
  assert.ok(first.nextPageToken && large.nextPageToken);
  expectOutcome(await fixture.call('ListDocuments', {parent: fixture.root, collectionId: 'c', pageSize: -1}),
    invalid('Page size must be nonnegative.'));
  expectOutcome(await fixture.call('ListDocuments', {parent: fixture.root, collectionId: 'c', pageToken: 'garbage'}),
    invalid('invalid page token'));
});

test('ListDocuments ordered by fields', async (t) => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/1', {x: 2, z: 1, y: {p: 3}}), fixture.set('c/2', {x: 1, z: 1, 's p': 1}),
    fixture.set('c/3', {x: 2, z: 2, y: {p: 1}}), fixture.set('c/4', {z: 5}), fixture.set('c/5', {x: 'text', z: 0}),
    fixture.set('c/6', {x: null}), fixture.set('c/7', {x: 1.5}));
  const cases = {
    x: '627135', 'x desc': '531726', 'x DESC': '531726', 'x asc': '627135', 'x  desc': '531726', 'x, z desc': '2315',
    'z desc, x': '3215', 'y.p': '31', '`s p`': '2', __name__: '1234567', 'x, __name__ desc': '627315',
  };
  for (const [orderBy, expected] of Object.entries(cases)) {
    await t.test(orderBy, async () => {
      const ids = await fixture.listIds({collectionId: 'c', orderBy});
      assert.equal(ids.join(''), expected);
      if (targetIsEmulator) return;  // Its paging of ordered lists is broken.
      const paged = await pages(fixture, 'ListDocuments', 'documents', {parent: fixture.root, collectionId: 'c', orderBy, pageSize: 2});
      assert.deepStrictEqual(paged.map(({name}) => name.at(-1)), ids);
    });
  }
  const refused = ['x,', ',', 'x foo', 'x desc desc', 'a..b'].map((orderBy) => [{orderBy}, `Invalid order by clause "${orderBy}".`]);
  refused.push(
    [{orderBy: 'x, x'}, 'order by clause cannot contain duplicate fields x'],
    [{orderBy: 'x, a.__x__ desc'}, 'Invalid reserved name in field path __x__'],
    [{orderBy: `a.${'x'.repeat(1500)}`}, 'property path is longer than 1500 bytes.'],
    [{orderBy: '__name__, x'}, 'order by clause cannot contain more fields after the key'],
    [{orderBy: 'x', showMissing: true}, 'cannot specify an order when show_missing is true'],
    [{orderBy: '__name__', showMissing: true}, 'cannot specify an order when show_missing is true'],
    [{orderBy: 'x', collectionId: ''}, 'kind is required for all orders except __key__ ascending'],
    [{showMissing: true, collectionId: ''}, 'collection id must be set when show_missing is true']);
  for (const [request, message] of refused) {
    expectOutcome(await fixture.call('ListDocuments', {parent: fixture.root, collectionId: 'c', ...request}), invalid(message), request);
  }
});

test('ListDocuments shows missing documents', async () => {
  const fixture = new Fixture(context);
  const {commitTime} = await fixture.write(fixture.set('c/b', {n: 1}), fixture.set('c/a/s/x', {}), fixture.set('c/d/s/x/t/y', {}));
  const all = await fixture.list({collectionId: 'c', showMissing: true});
  assert.deepStrictEqual(all.documents.map(({name}) => name), ['a', 'b', 'd'].map((id) => fixture.doc(`c/${id}`)));
  assert.deepStrictEqual(all.documents[0], {name: fixture.doc('c/a')});
  assert.deepStrictEqual(fieldsOf(all.documents[1]), toFields({n: 1}));
  const paged = await pages(fixture, 'ListDocuments', 'documents', {parent: fixture.root, collectionId: 'c', showMissing: true, pageSize: 1});
  assert.deepStrictEqual(paged, all.documents);
  assert.deepStrictEqual(await fixture.listIds({parent: fixture.doc('c/d'), collectionId: 's', showMissing: true}), ['x']);
  await fixture.write(fixture.remove('c/a/s/x'));
  assert.deepStrictEqual(await fixture.listIds({collectionId: 'c', showMissing: true}), ['b', 'd']);
  assert.deepStrictEqual(await fixture.listIds({collectionId: 'c', showMissing: true, readTime: commitTime}), ['a', 'b', 'd']);
});

ownTest('a mask holds where missing documents are shown', 'it ignores the mask', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/b', {n: 1}), fixture.set('c/a/s/x', {}));
  const {documents} = await fixture.list({collectionId: 'c', showMissing: true, mask: {fieldPaths: []}});
  assert.deepStrictEqual(documents.map((document) => [document.name.at(-1), fieldsOf(document)]), [['a', {}], ['b', {}]]);
});

test('ListDocuments with a mask', async () => {
  const fixture = new Fixture(context);
  await fixture.write(fixture.set('c/d', {a: 1, b: 2}));
  for (const [fieldPaths, expected] of [[['b'], {b: 2}], [[], {}], [['none'], {}]]) {
    const {documents: [document]} = await fixture.list({collectionId: 'c', mask: {fieldPaths}});
    assert.deepStrictEqual(fieldsOf(document), toFields(expected));
  }
});

test('ListCollectionIds', async () => {
  const fixture = new Fixture(context);
  const list = async (path, more) => (await fixture.must('ListCollectionIds',
    {parent: path ? fixture.doc(path) : fixture.root, ...more})).collectionIds ?? [];
  assert.deepStrictEqual(await list(), []);
  const ids = Array.from({length: 321}, (_, n) => `c${String(n).padStart(3, '0')}`);
  await fixture.write(...ids.map((id) => fixture.set(`p/missing/${id}/d`, {})), fixture.set('a/b/c/d/e/f', {}));
  assert.deepStrictEqual(await list(), ['a', 'p']);
  assert.deepStrictEqual(await list('a/b'), ['c']);
  assert.deepStrictEqual(await list('a/b/c/d/e/f'), []);
  const all = await pages(fixture, 'ListCollectionIds', 'collectionIds', {parent: fixture.doc('p/missing'), pageSize: 50});
  assert.deepStrictEqual(all, ids);
  expectOutcome(await fixture.call('ListCollectionIds', {parent: fixture.root, pageSize: -1}),
    invalid('page_size must be greater than or equal to zero.'));
  expectOutcome(await fixture.call('ListCollectionIds', {parent: fixture.root, pageToken: 'garbage'}), invalid('invalid page token'));
});
