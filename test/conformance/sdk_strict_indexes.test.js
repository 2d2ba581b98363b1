// `--indexes strict` and `--index-config`, through the Node SDK.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, newProject} from './support/check.js';
import {Listener, orderOf, queryOf} from './support/listener.js';
import {eventually, serve, writeFile} from './support/own_server.js';
import {Raw} from './support/raw.js';
import {openFirestore} from './support/sdk.js';
import {runHearth} from './support/server.js';

const compositeLink =
  /^(9 FAILED_PRECONDITION: )?The query requires an index\. You can create it here: https:\/\/console\.firebase\.google\.com\/v1\/r\/project\/[^/]+\/firestore\/indexes\?create_composite=[\w-]+$/;
const missing = (message) => (error) => {
  assert.equal(error.code, 9);
  assert.match(error.message, message);
  return true;
};
const up = (fieldPath) => ({fieldPath, order: 'ASCENDING'});
const composite = (collectionGroup, ...fields) => ({collectionGroup, queryScope: 'COLLECTION', fields});
const ids = async (query) => (await query.get()).docs.map(({id}) => id);

async function strict(...files) {
  const flags = ['--indexes', 'strict', ...files.flatMap((file) => ['--index-config', file])];
  const server = await serve({flags});
  const firestore = openFirestore(server);
  await firestore.doc('rooms/a').set({floor: 1, size: 3, tags: ['x'], text: 'long'});
  await firestore.doc('rooms/b').set({floor: 1, size: 2, tags: ['y'], text: 'long'});
  await firestore.doc('halls/h/rooms/c').set({floor: 1, size: 1, tags: ['x'], text: 'long'});
  return {server, firestore, rooms: firestore.collection('rooms'), group: firestore.collectionGroup('rooms')};
}

test('queries that automatic indexes can answer are accepted', async () => {
  const {rooms, group} = await strict();
  assert.deepStrictEqual(await ids(rooms.where('floor', '==', 1).where('size', '==', 3)), ['a']);
  assert.deepStrictEqual(await ids(rooms.where('size', '>', 1).orderBy('size', 'desc')), ['a', 'b']);
  assert.deepStrictEqual(await ids(rooms.where('tags', 'array-contains', 'y')), ['b']);
  assert.equal((await ids(group)).length, 3);
});

test('a listener whose index is missing gets an error', async () => {
  const {rooms} = await strict();
  const error = await new Promise((resolve, reject) => {
    rooms
      .where('floor', '==', 1)
      .orderBy('size')
      .onSnapshot(() => reject(new Error('answered')), resolve);
  });
  assert.match(error.message, /^Error 9: The query requires an index\. You can create it here: https:/);
});

test('a query without its composite index is refused with a link that creates it', async () => {
  const {rooms, group} = await strict();
  await assert.rejects(rooms.where('floor', '==', 1).orderBy('size').get(), missing(compositeLink));
  await assert.rejects(rooms.where('floor', '==', 1).orderBy('size').count().get(), missing(compositeLink));
  await assert.rejects(rooms.orderBy('floor').orderBy('size', 'desc').get(), missing(compositeLink));
  await assert.rejects(
    group.where('floor', '==', 1).get(),
    missing(
      new RegExp(
        'The query requires a COLLECTION_GROUP_ASC index for collection rooms and field floor\\. You can create it here: ' +
          'https://console\\.firebase\\.google\\.com/.*create_exemption=',
      ),
    ),
  );
});

test('a declared composite index answers queries, only in its direction', async () => {
  const {rooms} = await strict(writeFile('composite.json', {indexes: [composite('rooms', up('floor'), up('size'))]}));
  const query = rooms.where('floor', '==', 1).orderBy('size');
  assert.deepStrictEqual(await ids(query), ['b', 'a']);
  await assert.rejects(query.limitToLast(1).get(), missing(compositeLink));
});

// Raw calls on a fresh database, on the server of the test.
function open(server, t) {
  const raw = new Raw(server.address);
  t.after(() => raw.close());
  return new Fixture({raw});
}

test('descending names need a separate index', async (t) => {
  const {server, rooms} = await strict();
  await assert.rejects(rooms.orderBy('__name__').limitToLast(1).get(), missing(compositeLink));
  assert.deepStrictEqual(await ids(rooms.where('floor', '==', 1).orderBy('__name__', 'desc')), ['b', 'a']);

  const declared = {collectionGroup: 'rooms', fields: [{fieldPath: '__name__', order: 'DESCENDING'}]};
  const {rooms: second} = await strict(writeFile('names.json', {indexes: [declared]}));
  assert.deepStrictEqual(await ids(second.orderBy('__name__').limitToLast(1)), ['b']);

  const fixture = open(server, t);
  for (const parent of [fixture.root, fixture.doc('halls/h')]) {
    for (const allDescendants of [false, true]) {
      const run = (order) =>
        fixture.call('RunQuery', {
          parent,
          structuredQuery: {from: [{collectionId: 'rooms', allDescendants}], orderBy: orderOf(order)},
        });
      assert.equal((await run('__name__')).code, 'OK');
      const {code, message} = await run('__name__ desc');
      assert.equal(code, 'FAILED_PRECONDITION');
      assert.match(message, compositeLink);
    }
  }
});

test('a query that the cloud cannot listen to ends the target, and the stream continues', async (t) => {
  const fixture = open(await serve({flags: ['--indexes', 'strict']}), t);
  const listener = new Listener(fixture.raw, fixture);
  listener.addQuery(2, {from: [{allDescendants: true}]});
  listener.addQuery(4, {from: [{}]});
  listener.addQuery(6, {from: [{collectionId: 'rooms', allDescendants: true}]}, {parent: fixture.doc('halls/h')});
  listener.addQuery(8, queryOf('rooms', {orderBy: orderOf('__name__ desc'), limit: {value: 1}}));
  listener.addQuery(10, queryOf('rooms'), {parent: fixture.doc('halls/h')});
  listener.addQuery(12, {from: [{collectionId: 'rooms', allDescendants: true}]});
  await listener.current(12);
  const causes = [2, 4, 6, 8].map((id) => listener.causes.get(id));
  assert.deepEqual(
    causes.map(({code}) => code),
    [3, 3, 3, 9],
  );
  assert.equal(causes[0].message, 'All-collection queries are not supported by real-time queries.');
  assert.equal(causes[1].message, causes[0].message);
  assert.equal(
    causes[2].message,
    "'all_descendants' in CollectionSelector with document parent is not supported by real-time queries.",
  );
  assert.match(causes[3].message, compositeLink);
  await listener.snapshotAt(await fixture.write(fixture.set('halls/h/rooms/c', {})));
  assert.deepEqual([listener.paths(10), listener.paths(12)], [['halls/h/rooms/c'], ['halls/h/rooms/c']]);
  await listener.cancel();
});

test('several files for a database are merged', async () => {
  const {rooms} = await strict(
    writeFile('first.json', {indexes: [composite('rooms', up('floor'), up('size'))]}),
    writeFile('second.json', {
      indexes: [composite('rooms', up('floor'), up('text')), composite('rooms', up('floor'), up('size'))],
    }),
  );
  assert.deepStrictEqual(await ids(rooms.where('floor', '==', 1).orderBy('size')), ['b', 'a']);
  assert.deepStrictEqual(await ids(rooms.where('floor', '==', 1).orderBy('text')), ['a', 'b']);
});

test('SIGHUP reads the file again; a bad file changes nothing', async () => {
  const file = writeFile('reload.json', {});
  const {server, rooms} = await strict(file);
  const bySize = rooms.where('floor', '==', 1).orderBy('size');
  const byText = rooms.where('floor', '==', 1).orderBy('text');
  await assert.rejects(bySize.get(), missing(compositeLink));
  writeFile('reload.json', {indexes: [composite('rooms', up('floor'), up('size'))]});
  server.hangUp();
  assert.deepStrictEqual(await eventually(() => ids(bySize)), ['b', 'a']);
  writeFile('reload.json', '{"indexes": [{}]}');
  server.hangUp();
  await server.untilLogged('the index configuration was not reloaded');
  assert.deepStrictEqual(await ids(bySize), ['b', 'a']);
  writeFile('reload.json', {indexes: [composite('rooms', up('floor'), up('text'))]});
  server.hangUp();
  assert.deepStrictEqual(await eventually(() => ids(byText)), ['a', 'b']);
  await assert.rejects(bySize.get(), missing(compositeLink));
});

test('exemptions and indexes of collection groups', async () => {
  const {rooms, group} = await strict(
    writeFile('fields.json', {
      fieldOverrides: [
        {collectionGroup: 'rooms', fieldPath: 'text', indexes: []},
        {collectionGroup: 'rooms', fieldPath: 'size', indexes: [{order: 'ASCENDING', queryScope: 'COLLECTION_GROUP'}]},
      ],
    }),
  );
  await assert.rejects(
    rooms.where('text', '==', 'long').get(),
    missing(/The query requires a COLLECTION_ASC index for collection rooms and field text\. /),
  );
  assert.deepStrictEqual(await ids(group.orderBy('size')), ['c', 'b', 'a']);
  await assert.rejects(rooms.orderBy('size', 'desc').get(), missing(/COLLECTION_DESC index/));
  assert.deepStrictEqual(await ids(rooms.where('floor', '==', 1)), ['a', 'b']);
});

test('a configuration for a named database', async () => {
  const file = writeFile('named.json', {indexes: [composite('rooms', up('floor'), up('size'))]});
  const server = await serve({flags: ['--indexes', 'strict', '--index-config', `second=${file}`]});
  for (const [databaseId, works] of [
    ['second', true],
    ['(default)', false],
  ]) {
    const firestore = openFirestore(server, {databaseId});
    await firestore.doc('rooms/a').set({floor: 1, size: 1});
    const query = firestore.collection('rooms').where('floor', '==', 1).orderBy('size');
    if (works) assert.deepStrictEqual(await ids(query), ['a']);
    else await assert.rejects(query.get(), missing(compositeLink));
  }
});

test('what `hearth indexes --needed` prints lets a strict server answer the same queries', async () => {
  const queries = (firestore) => {
    const rooms = firestore.collection('rooms');
    const group = firestore.collectionGroup('rooms');
    return [
      rooms.where('floor', '==', 1).orderBy('size'),
      rooms.where('floor', '==', 1).orderBy('size', 'desc'),
      rooms.where('floor', '==', 1).orderBy('size').limitToLast(1),
      rooms.where('tags', 'array-contains', 'x').orderBy('size'),
      rooms.where('floor', 'in', [1, 2]).where('size', '>', 1),
      group.where('floor', '==', 1).where('size', '==', 3),
      group.orderBy('size', 'desc'),
      group.where('tags', 'array-contains-any', ['x', 'y']),
      rooms.where('size', '==', 3),
      rooms.orderBy('size').orderBy('__name__', 'desc'),
      rooms.orderBy('__name__').limitToLast(1),
      rooms.where('floor', '>', 0).where('size', '>', 0),
    ];
  };
  const server = await serve();
  const projectId = newProject();
  const firestore = openFirestore(server, {projectId});
  await firestore.doc('rooms/a').set({floor: 1, size: 3, tags: ['x']});
  const answers = await Promise.all(queries(firestore).map(ids));
  const {code, stdout, stderr} = await runHearth(
    'indexes',
    '--server',
    server.address,
    '--data',
    server.data,
    '--needed',
  );
  assert.equal(code, 0, stderr);

  const {firestore: second} = await strict(writeFile('needed.json', stdout));
  await Promise.all((await second.collectionGroup('rooms').get()).docs.map(({ref}) => ref.delete()));
  await second.doc('rooms/a').set({floor: 1, size: 3, tags: ['x']});
  assert.deepStrictEqual(await Promise.all(queries(second).map(ids)), answers);
});

test('an invalid file prevents the server from starting', async () => {
  const bad = writeFile('bad.json', {indexes: [composite('rooms', {fieldPath: 'a', order: 'UP'}, up('b'))]});
  const override = (indexes) => ({fieldOverrides: [{collectionGroup: 'rooms', fieldPath: 'a', indexes}]});
  const exempt = writeFile('exempt.json', override([]));
  const wanted = writeFile('wanted.json', override([{order: 'ASCENDING', queryScope: 'COLLECTION'}]));
  const cases = [
    [['--index-config', bad], /bad\.json' is not valid: indexes\[0\]\.fields\[0\]\.order: "UP" is neither/],
    [['--index-config', '/no/such/file'], /'\/no\/such\/file' cannot be read: No such file or directory/],
    [
      ['--index-config', exempt, '--index-config', wanted],
      /the field a of rooms is exempt from indexing in '.*exempt\.json' but has indexes in '.*wanted\.json'/,
    ],
    [['--indexes', 'lax'], /'lax' is not an index mode: auto or strict/],
    [['--unused-index-days', '0'], /--unused-index-days/],
    [['--scan-documents-max', 'x'], /--scan-documents-max/],
  ];
  for (const [flags, message] of cases) {
    const {code, stderr} = await runHearth('serve', '--data', '/no/such/folder', '--listen', '127.0.0.1:0', ...flags);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  }
});
