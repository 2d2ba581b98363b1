// Names of databases, documents and collections: what is refused, where, and in which words.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Fixture, expectOutcome, invalid, ownTest, useServer} from './support/check.js';
import {increment, reference} from './support/values.js';

const context = useServer();
const database = 'projects/p1/databases/(default)';
const root = `${database}/documents`;

// What the parser says about a name, without its subject and the name itself.
const badDocumentNames = [
  ['', 'lacks "projects" at index 0.'],
  ['foo', 'lacks "projects" at index 0.'],
  [`/${root}/c/d`, 'lacks "projects" at index 0.'],
  ['projekts/p1/databases/(default)/documents/c/d', 'lacks "projects" at index 0.'],
  ['projectsx/p1', 'lacks "/" at index 8.'],
  ['projects/p1', 'lacks "/" at index 11.'],
  ['projects/p1/databases', 'lacks "/" at index 21.'],
  ['projects//databases/(default)/documents/c/d', 'lacks a project id at index 9.'],
  ['projects/./databases/(default)/documents/c/d', 'contains a project id "." at index 9.'],
  ['projects/p1/databasez/x', 'lacks "databases" at index 12.'],
  ['projects/p1/databases//documents/c/d', 'lacks a database id at index 22.'],
  ['projects/p1/databases/', 'has invalid trailing "/".'],
  [`${database}/`, 'has invalid trailing "/".'],
  [database, 'lacks "/" at index 31.'],
  [`${database}/docs/c/d`, 'lacks "documents" at index 32.'],
  [root, 'is invalid: Omit "/documents" when referencing a database (except as the parent of a document).'],
  [`${root}/`, 'is invalid: Omit trailing "/".'],
  [`${root}/c`, 'lacks "/" at index 43.'],
  [`${root}/c/d/e`, 'lacks "/" at index 47.'],
  [`${root}/c/d/`, 'has invalid trailing "/".'],
  [`${root}//d`, 'lacks a collection id at index 42.'],
  [`${root}/c//d`, 'lacks a resource id at index 44.'],
  [`${root}/c//d/e`, 'lacks a resource id at index 44.'],
  [`${root}/c/d//`, 'lacks a collection id at index 46.'],
  [`${root}/c/.`, 'contains a resource id "." at index 44.'],
  [`${root}/c/..`, 'contains a resource id ".." at index 44.'],
  [`${root}/./d`, 'contains a collection id "." at index 42.'],
  [`${root}/😀/d/e`, 'lacks "/" at index 48.'],
];
const reservedNames = [
  [`${root}/c/__foo__`, 'Resource id "__foo__" is invalid because it is reserved.'],
  [`${root}/__c__/d`, 'Collection id "__c__" is invalid because it is reserved.'],
  [`${root}/__id7__/d`, 'Collection id "__id7__" is invalid because it is reserved.'],
  [`${root}/c/__id0__`, 'Resource id "__id0__" is invalid because it is reserved.'],
  [`${root}/c/__id7x__`, 'Resource id "__id7x__" is invalid because it is reserved.'],
  [`${root}/c/__id9223372036854775808__`,
    'Resource id "__id9223372036854775808__" is invalid because it is not a 64 bit integer.'],
  [`${root}/c/__x__/e`, 'Resource id "__x__" is invalid because it is reserved.'],
  [`${root}/__x__/..`, 'Collection id "__x__" is invalid because it is reserved.'],
  [`${root}/c/__x__/`, 'Resource id "__x__" is invalid because it is reserved.'],
];

// Other parsers of the emulator's see these first; the words do not matter.
const oddNames = new Set([`/${root}/c/d`, `${database}/docs/c/d`]);
const complain = (subject, name, complaint) =>
  invalid(subject !== 'Document name' && oddNames.has(name) ? undefined : `${subject} "${name}" ${complaint}`);

test('document names, in every request that takes one', async () => {
  const requests = {
    GetDocument: (name) => ({name}),
    DeleteDocument: (name) => ({name}),
    UpdateDocument: (name) => ({document: {name}}),
    BatchGetDocuments: (name) => ({database, documents: [name]}),
    BatchWrite: (name) => ({database, writes: [{delete: name}]}),
    Commit: (name) => ({database, writes: [{update: {name}}]}),
  };
  for (const [method, request] of Object.entries(requests)) {
    for (const [name, complaint] of badDocumentNames) {
      expectOutcome(await context.raw.call(method, request(name)), complain('Document name', name, complaint));
    }
    for (const [name, message] of reservedNames) {
      expectOutcome(await context.raw.call(method, request(name)), invalid(message));
    }
  }
});

test('parents', async () => {
  for (const method of ['ListDocuments', 'ListCollectionIds', 'CreateDocument']) {
    for (const [parent, complaint] of badDocumentNames) {
      if (parent === root) continue;  // The root is a parent.
      const request = {parent, ...(method === 'ListCollectionIds' ? {} : {collectionId: 'c'})};
      expectOutcome(await context.raw.call(method, request), complain('Document parent name', parent, complaint));
    }
  }
});

test('databases', async () => {
  const bad = badDocumentNames.slice(0, 13).filter(([name]) => !name.includes('documents'));
  bad.push([root, 'has extra characters at index 31.'], [`${root}/c/d`, 'has extra characters at index 31.']);
  for (const method of ['Commit', 'BatchGetDocuments', 'BatchWrite', 'BeginTransaction', 'Rollback']) {
    for (const [name, complaint] of bad) {
      expectOutcome(await context.raw.call(method, {database: name}), invalid(`Database name "${name}" ${complaint}`));
    }
  }
});

test('references', async () => {
  const fixture = new Fixture(context);
  const refuse = async (name, expected) =>
    expectOutcome(await fixture.tryWrite(fixture.set('c/d', {value: reference(name)})), expected);
  for (const [name, complaint] of badDocumentNames.filter(([name]) => name !== database)) {
    await refuse(name, complain('Resource name', name, complaint));
  }
  for (const [name, message] of reservedNames) await refuse(name, invalid(message));
  await refuse(database, invalid('Non-document resource reference value not supported.'));
  await refuse('projects/p1/databases/Bad!/documents/c/d', invalid('Illegal string "Bad!" in database.'));
  const elsewhere = 'projects/other/databases/second/documents/c/d/e/f';
  await fixture.write(fixture.set('c/d', {value: reference(elsewhere)}));
  await fixture.expectFields('c/d', {value: reference(elsewhere)});
});

test('the longest names', async () => {
  const fixture = new Fixture(context);
  const [fits, tooLong] = ['é'.repeat(750), `x${'é'.repeat(750)}`];
  await fixture.write(fixture.set(`c/${fits}`, {}), fixture.set(`${fits}/d`, {}));
  await fixture.expectFields(`c/${fits}`, {});
  const longId = invalid('The key path element name is longer than 1500 bytes.');
  const longCollection = invalid('The key path element kind is longer than 1500 bytes.');
  expectOutcome(await fixture.tryWrite(fixture.set(`c/${tooLong}`, {})), longId);
  expectOutcome(await fixture.tryWrite(fixture.set(`${tooLong}/d`, {})), longCollection);
  expectOutcome(await fixture.tryWrite(fixture.set('c/d', {to: reference(fixture.doc(`c/${tooLong}`))})), longId);
  // The emulator says of such a name that it does not exist.
  const emulator = {code: 'NOT_FOUND', message: undefined};
  expectOutcome(await fixture.call('GetDocument', {name: fixture.doc(`c/${tooLong}`)}), {...longId, emulator});
  expectOutcome(await fixture.call('ListDocuments', {parent: fixture.root, collectionId: tooLong}),
    {...longCollection, emulator: {message: 'The query kind is longer than 1500 bytes.'}});
  const deep = (pairs) => Array.from({length: pairs}, () => 'c/d').join('/');
  await fixture.write(fixture.set(deep(100), {}));
  await fixture.expectFields(deep(100), {});
  const tooDeep = invalid('Key path is too long. Cannot exceed 100 elements.');
  expectOutcome(await fixture.tryWrite(fixture.set(deep(101), {})), tooDeep);
  expectOutcome(await fixture.call('GetDocument', {name: fixture.doc(deep(101))}), {...tooDeep, emulator});
});

ownTest('a name of more than 6 KiB', 'no limit', async () => {
  const fixture = new Fixture(context);
  const id = 'x'.repeat(1400);
  await fixture.write(fixture.set(`${id}/${id}/${id}/${id}`, {}));
  const outcome = await fixture.tryWrite(fixture.set(`${id}/${id}/${id}/${id}/${id}/d`, {}));
  expectOutcome(outcome, {code: 'INVALID_ARGUMENT', message: /6144 bytes/});
});

test('ids given on their own', async () => {
  const fixture = new Fixture(context);
  const parent = fixture.root;
  const collection = (id, why) => invalid(`Collection id "${id}" is invalid because it ${why}.`);
  const document = (id, why) => invalid(`Resource id "${id}" is invalid because it ${why}.`);
  for (const [id, why] of [['a/b', 'contains "/"'], ['.', 'is reserved'], ['..', 'is reserved'], ['__x__', 'is reserved']]) {
    for (const method of ['ListDocuments', 'CreateDocument']) {
      expectOutcome(await fixture.call(method, {parent, collectionId: id}), collection(id, why));
    }
    expectOutcome(await fixture.call('CreateDocument', {parent, collectionId: 'c', documentId: id}), document(id, why));
  }
  expectOutcome(await fixture.call('CreateDocument', {parent}), invalid('collectionId is the empty string.'));
});

ownTest('four underscores are a reserved name everywhere', 'accepted', async () => {
  const fixture = new Fixture(context);
  const [parent, id, name] = [fixture.root, '____', fixture.doc('c/____')];
  const collection = invalid('Collection id "____" is invalid because it is reserved.');
  const document = invalid('Resource id "____" is invalid because it is reserved.');
  const path = invalid('Invalid reserved name in field path ____');
  const run = (query) => fixture.call('RunQuery', {parent, structuredQuery: {from: [{collectionId: 'c'}], ...query}});
  const [field, value] = [{fieldPath: 'a.____'}, {integerValue: 1}];
  const byName = {field: {fieldPath: '__name__'}};
  const cases = [
    [fixture.tryWrite(fixture.set('c/____', {})), document],
    [fixture.tryWrite(fixture.remove('____/d')), collection],
    [fixture.tryWrite(fixture.set('c/d', {to: reference(name)})), document],
    [fixture.tryWrite(fixture.set('c/d', {m: [{____: 1}]})), invalid("field name '____' is reserved.")],
    [fixture.tryWrite(fixture.patch('c/d', {}, ['____'])), path],
    [fixture.tryWrite(fixture.transform('c/d', increment('`____`.a', 1))), path],
    [fixture.call('CreateDocument', {parent, collectionId: 'c', documentId: id}), document],
    [fixture.call('CreateDocument', {parent, collectionId: id}), collection],
    [fixture.call('GetDocument', {name}), document],
    [fixture.call('GetDocument', {name: fixture.doc('c/d'), mask: {fieldPaths: ['____']}}), path],
    [fixture.call('BatchGetDocuments', {database: fixture.database, documents: [name]}), document],
    [fixture.call('ListDocuments', {parent, collectionId: id}), collection],
    [fixture.call('ListDocuments', {parent, collectionId: 'c', orderBy: 'a.____ desc'}), path],
    [fixture.call('ListCollectionIds', {parent: name}), document],
    [run({from: [{collectionId: id}]}), collection],
    [run({from: [{collectionId: id, allDescendants: true}]}), collection],
    [run({where: {fieldFilter: {field, op: 'EQUAL', value}}}), path],
    [run({where: {unaryFilter: {field, op: 'IS_NULL'}}}), path],
    [run({where: {fieldFilter: {...byName, op: 'EQUAL', value: {referenceValue: name}}}}), document],
    [run({orderBy: [{field}]}), path],
    [run({orderBy: [byName], startAt: {values: [{referenceValue: name}]}}), document],
    [run({select: {fields: [field]}}), path],
    [fixture.call('RunAggregationQuery', {parent, structuredAggregationQuery: {structuredQuery: {from: [{collectionId: 'c'}]},
      aggregations: [{sum: {field}}]}}), path],
  ];
  for (const [outcome, expected] of cases) expectOutcome(await outcome, expected);
});

test('unusual names that are fine', async () => {
  const fixture = new Fixture(context);
  const ids = ['__', '___', '__foo', '__id7__', '__id-7__', '\u0000', '\n', ' ', '%2F', 'a.b', '😀'];
  await fixture.write(...ids.map((id) => fixture.set(`c/${id}`, {id})));
  for (const id of ids) await fixture.expectFields(`c/${id}`, {id});
});

test('database ids', async () => {
  const write = (id) => {
    const fixture = new Fixture(context, id);
    return fixture.tryWrite(fixture.set('c/d', {}));
  };
  expectOutcome(await write('Bad!DB'), invalid('Illegal string "Bad!DB" in database.'));
  expectOutcome(await write('(other)'), invalid('Illegal string "(other)" in database.'));
  expectOutcome(await write('x'.repeat(101)), invalid('The database is longer than 100 bytes.'));
  expectOutcome(await write('__x__'), invalid('The database "__x__" is reserved.'));
  for (const id of ['second', 'a', 'UPPER', 'my_db', 'a.b', '1abc', 'x'.repeat(64)]) {
    expectOutcome(await write(id), {code: 'OK'});
  }
});

ownTest('a request stays within its database', 'not checked', async () => {
  const fixture = new Fixture(context);
  const other = new Fixture(context);
  const second = `projects/${fixture.project}/databases/second`;
  for (const [database, name] of [[second, fixture.doc('c/d')], [fixture.database, other.doc('c/d')],
    [fixture.database, `${second}/documents/c/d`]]) {
    const expected = invalid(`The request was for database '${database}' but was attempting to access database ` +
      `'${name.slice(0, name.indexOf('/documents'))}'`);
    for (const write of [{update: {name}}, {delete: name}]) {
      expectOutcome(await fixture.call('Commit', {database, writes: [write]}), expected);
      expectOutcome(await fixture.call('BatchWrite', {database, writes: [write]}), expected);
    }
    expectOutcome(await fixture.call('BatchGetDocuments', {database, documents: [name]}), expected);
  }
  assert.equal(await fixture.get('c/d'), null);
});
