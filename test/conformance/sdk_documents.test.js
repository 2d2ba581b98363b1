// Documents through the Node SDK: set, create, update, delete, merges, preconditions, batches, isolation.

import {FieldPath, FieldValue, Timestamp} from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {newProject, useServer} from './support/check.js';
import {openFirestore} from './support/sdk.js';

const context = useServer();
const code = {invalidArgument: 3, notFound: 5, alreadyExists: 6, failedPrecondition: 9};

// A reference to a new document, which holds `data` if given.
async function newDocument(data, path = 'rooms/r1') {
  const document = openFirestore(context).doc(path);
  if (data) await document.set(data);
  return document;
}

async function expectData(document, data) {
  const snapshot = await document.get();
  assert.equal(snapshot.exists, data !== undefined);
  assert.deepStrictEqual(snapshot.data(), data);
  return snapshot;
}

test('set, get, overwrite, delete', async () => {
  const document = await newDocument();
  await expectData(document, undefined);
  const {writeTime} = await document.set({a: 1, b: 'two'});
  const first = await expectData(document, {a: 1, b: 'two'});
  assert.ok(first.createTime.isEqual(writeTime) && first.updateTime.isEqual(writeTime));

  await document.set({c: true});
  const second = await expectData(document, {c: true});
  assert.ok(second.createTime.isEqual(writeTime) && second.updateTime.valueOf() > writeTime.valueOf());
  assert.ok(second.readTime.valueOf() >= second.updateTime.valueOf());

  await document.delete();
  await expectData(document, undefined);
  await document.delete();
});

test('a document made again has new times', async () => {
  const document = await newDocument({a: 1});
  const {createTime} = await document.get();
  await document.delete();
  await document.set({a: 1});
  const again = await document.get();
  assert.ok(again.createTime.valueOf() > createTime.valueOf());
  assert.ok(again.createTime.isEqual(again.updateTime));
});

test('an empty document exists', async () => {
  await expectData(await newDocument({}), {});
});

test('writing what is there already keeps the update time', async () => {
  const document = await newDocument({a: 1, b: {c: [1, 2]}});
  const before = await document.get();
  const {writeTime} = await document.set({b: {c: [1, 2]}, a: 1});
  const after = await document.get();
  assert.ok(before.updateTime.isEqual(writeTime) && before.updateTime.isEqual(after.updateTime));
});

test('create refuses an existing document and leaves it alone', async () => {
  const document = await newDocument();
  await document.create({a: 1});
  await assert.rejects(document.create({a: 2}), {code: code.alreadyExists});
  await expectData(document, {a: 1});
  await document.delete();
  await document.create({a: 3});
});

test('add chooses an id', async () => {
  const collection = openFirestore(context).collection('rooms');
  const [one, two] = await Promise.all([collection.add({n: 1}), collection.add({n: 2})]);
  assert.notEqual(one.id, two.id);
  await expectData(one, {n: 1});
});

test('update changes only the named fields', async (t) => {
  const start = {a: 1, nested: {x: 1, y: {z: 2}}};
  const cases = {
    'one field': [[{a: 2}], {a: 2, nested: {x: 1, y: {z: 2}}}],
    'a new field': [[{b: null}], {...start, b: null}],
    'a whole map': [[{nested: {x: 5}}], {a: 1, nested: {x: 5}}],
    'a nested field': [[{'nested.x': 5}], {a: 1, nested: {x: 5, y: {z: 2}}}],
    'deeper than there are maps': [[{'p.q.r': 1}], {...start, p: {q: {r: 1}}}],
    'through a number': [[{'a.b': 1}], {...start, a: {b: 1}}],
    'a deleted field': [[{a: FieldValue.delete()}], {nested: start.nested}],
    'a deleted nested field': [[{'nested.y.z': FieldValue.delete()}], {a: 1, nested: {x: 1, y: {}}}],
    'a deleted absent field': [[{'no.such': FieldValue.delete()}], start],
    'alternating paths and values': [['a', 7, new FieldPath('nested', 'y'), 8], {a: 7, nested: {x: 1, y: 8}}],
    'a path with dots and backticks': [[new FieldPath('x.y`z\\', 'ключ'), 1], {...start, 'x.y`z\\': {'ключ': 1}}],
  };
  for (const [name, [args, expected]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const document = await newDocument(start);
      await document.update(...args);
      await expectData(document, expected);
    });
  }
});

test('update of a missing document is refused', async () => {
  const document = await newDocument();
  await assert.rejects(document.update({a: 1}), (error) => {
    assert.equal(error.code, code.notFound);
    if (process.env.HEARTH_TARGET !== 'emulator') {
      assert.ok(error.message.includes(`No document to update: ${document.formattedName}`), error.message);
    }
    return true;
  });
  await expectData(document, undefined);
});

test('set with merge', async (t) => {
  const start = {a: 1, nested: {x: 1, y: 2}};
  const cases = {
    'adds and replaces': [[{a: 2, b: 3}, {merge: true}], {a: 2, b: 3, nested: start.nested}],
    'merges maps': [[{nested: {x: 5, z: 6}}, {merge: true}], {a: 1, nested: {x: 5, y: 2, z: 6}}],
    'replaces a map by the empty map': [[{nested: {}}, {merge: true}], {a: 1, nested: {}}],
    'deletes fields': [[{a: FieldValue.delete(), nested: {x: FieldValue.delete()}}, {merge: true}], {nested: {y: 2}}],
    'of nothing': [[{}, {merge: true}], start],
    'of chosen fields': [[{a: 2, b: 3, nested: {x: 9, y: 9}}, {mergeFields: ['b', 'nested.x']}],
      {a: 1, b: 3, nested: {x: 9, y: 2}}],
    'of a chosen map': [[{nested: {n: 1}}, {mergeFields: ['nested']}], {a: 1, nested: {n: 1}}],
    'of no fields': [[{a: 2}, {mergeFields: []}], start],
    'of a path of odd names': [[{'a.b': {c: 1}}, {mergeFields: [new FieldPath('a.b', 'c')]}], {...start, 'a.b': {c: 1}}],
  };
  for (const [name, [args, expected]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const document = await newDocument(start);
      await document.set(...args);
      await expectData(document, expected);
    });
  }
  await t.test('makes a missing document', async () => {
    const document = await newDocument();
    await document.set({a: {b: 1}}, {merge: true});
    await expectData(document, {a: {b: 1}});
  });
});

test('preconditions', async () => {
  const document = await newDocument({n: 1});
  const {updateTime} = await document.get();
  await document.update({n: 2}, {lastUpdateTime: updateTime});
  await assert.rejects(document.update({n: 3}, {lastUpdateTime: updateTime}), {code: code.failedPrecondition});
  await assert.rejects(document.delete({lastUpdateTime: updateTime}), {code: code.failedPrecondition});
  const future = Timestamp.fromMillis(4e12);
  await assert.rejects(document.update({n: 3}, {lastUpdateTime: future}), {code: code.invalidArgument});
  await assert.rejects(document.delete({lastUpdateTime: future}), {code: code.invalidArgument});
  await expectData(document, {n: 2});
  await document.delete({lastUpdateTime: (await document.get()).updateTime});
  await assert.rejects(document.delete({lastUpdateTime: future}), {code: code.failedPrecondition});
  await assert.rejects(document.delete({exists: true}), {code: code.notFound});
  await assert.rejects(document.delete({lastUpdateTime: Timestamp.fromMillis(1000)}), {code: code.failedPrecondition});
});

test('a batch applies all of its writes at one time', async () => {
  const firestore = openFirestore(context);
  const rooms = firestore.collection('rooms');
  await rooms.doc('b').set({old: true, n: 1});
  await rooms.doc('c').set({old: true});
  const results = await firestore.batch()
    .create(rooms.doc('a'), {n: 0})
    .update(rooms.doc('b'), {n: 2})
    .delete(rooms.doc('c'))
    .set(rooms.doc('d'), {m: {n: 4}}, {merge: true})
    .commit();
  assert.equal(results.length, 4);
  const [a, b, c, d] = await firestore.getAll(...['a', 'b', 'c', 'd'].map((id) => rooms.doc(id)));
  assert.deepStrictEqual([a.data(), b.data(), c.data(), d.data()], [{n: 0}, {old: true, n: 2}, undefined, {m: {n: 4}}]);
  assert.ok(a.updateTime.isEqual(b.updateTime) && a.updateTime.isEqual(d.updateTime));
  assert.ok(results[0].writeTime.isEqual(a.updateTime));
});

test('a batch fails as a whole', async () => {
  const firestore = openFirestore(context);
  const batch = firestore.batch();
  batch.set(firestore.doc('rooms/a'), {n: 1});
  batch.update(firestore.doc('rooms/missing'), {n: 1});
  await assert.rejects(batch.commit(), {code: code.notFound});
  await expectData(firestore.doc('rooms/a'), undefined);
});

test('an empty batch commits', async () => {
  assert.deepStrictEqual(await openFirestore(context).batch().commit(), []);
});

test('several writes of one document in a batch apply in order', async () => {
  const document = await newDocument({n: 1});
  await document.firestore.batch().set(document, {n: 2}).update(document, {m: 3}).update(document, {n: 4}).commit();
  await expectData(document, {n: 4, m: 3});
  await document.firestore.batch().delete(document).create(document, {again: true}).commit();
  await expectData(document, {again: true});
});

test('a batch of 500 writes', async () => {
  const firestore = openFirestore(context);
  const documents = Array.from({length: 500}, (_, n) => firestore.doc(`many/d${n}`));
  const batch = firestore.batch();
  documents.forEach((document, n) => batch.set(document, {n}));
  const results = await batch.commit();
  assert.equal(results.length, 500);
  const snapshots = await firestore.getAll(...documents);
  snapshots.forEach((snapshot, n) => assert.deepStrictEqual(snapshot.data(), {n}));
});

test('BulkWriter writes much and reports each failure', async () => {
  const firestore = openFirestore(context);
  await firestore.doc('bulk/taken').set({n: -1});
  const writer = firestore.bulkWriter();
  const failures = [];
  writer.onWriteError((error) => {
    failures.push([error.documentRef.id, error.operationType, error.code]);
    return false;
  });
  const writes = Array.from({length: 200}, (_, n) => writer.create(firestore.doc(`bulk/d${n}`), {n}));
  const refused = [
    writer.create(firestore.doc('bulk/taken'), {n: 1}),
    writer.update(firestore.doc('bulk/absent'), {n: 1}),
  ].map((write) => write.then(() => 'done', () => 'refused'));
  await writer.close();
  await Promise.all(writes);
  assert.deepStrictEqual(await Promise.all(refused), ['refused', 'refused']);
  assert.deepStrictEqual(failures.sort(), [['absent', 'update', code.notFound], ['taken', 'create', code.alreadyExists]]);
  await expectData(firestore.doc('bulk/d199'), {n: 199});
  await expectData(firestore.doc('bulk/taken'), {n: -1});
});

test('BulkWriter keeps the order of writes that a flush separates', async () => {
  const document = await newDocument();
  const writer = document.firestore.bulkWriter();
  const writes = [];
  for (const send of [() => writer.set(document, {n: 1}), () => writer.update(document, {n: 2}),
    () => writer.delete(document), () => writer.create(document, {n: 3})]) {
    writes.push(send());
    await writer.flush();
  }
  await writer.close();
  await Promise.all(writes);
  await expectData(document, {n: 3});
});

test('documents near 1 MiB', async () => {
  const document = await newDocument();
  const data = {text: 'é'.repeat(500_000), bytes: Buffer.alloc(48_000, 7)};
  await document.set(data);
  await expectData(document, data);
  await assert.rejects(document.update({more: 'x'.repeat(1000)}), {code: 3});
  await expectData(document, data);
});

test('subcollections at any depth live apart from their parents', async () => {
  const root = await newDocument({level: 0});
  let document = root;
  for (let level = 1; level < 12; ++level) {
    document = document.collection('below').doc(`l${level}`);
    await document.set({level});
  }
  await expectData(document, {level: 11});
  await root.delete();
  await expectData(document, {level: 11});
  await expectData(document.parent.parent, {level: 10});
});

test('ids in any script, and with anything but slashes', async () => {
  const firestore = openFirestore(context);
  for (const id of ['日本語', '😀', 'a b', 'a.b', '`', '%2F', '\u0000', '..x', '__', 'é'.repeat(750), '\uffee']) {
    const document = firestore.collection(id).doc(id);
    await document.set({id});
    await expectData(document, {id});
  }
});

test('named databases and projects are worlds of their own', async () => {
  const projectId = newProject();
  const worlds = [openFirestore(context, {projectId}), openFirestore(context, {projectId, databaseId: 'second'}),
    openFirestore(context), openFirestore(context, {databaseId: 'second'})];
  await Promise.all(worlds.map((firestore, n) => firestore.doc('same/name').set({n})));
  await worlds[0].doc('only/here').set({});
  for (const [n, firestore] of worlds.entries()) {
    await expectData(firestore.doc('same/name'), {n});
    const collections = await firestore.listCollections();
    assert.deepStrictEqual(collections.map(({id}) => id), n === 0 ? ['only', 'same'] : ['same']);
  }
  await worlds[1].doc('same/name').delete();
  await expectData(worlds[0].doc('same/name'), {n: 0});
});
