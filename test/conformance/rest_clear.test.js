// The emulator's endpoint that empties a database, as test suites use it between two tests.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ownTest, useServer} from './support/check.js';
import {Rest, expectError, integer, invalidRequest} from './support/rest.js';
import {openFirestore} from './support/sdk.js';
import {Snapshots, idsOf} from './support/snapshots.js';

const context = useServer();

// One database, and its remaining documents.
class Room extends Rest {
  static async open(paths) {
    const room = new Room(context);
    await room.fill(paths);
    return room;
  }

  async fill(paths) {
    const batches = Math.ceil(paths.length / 400);
    for (let n = 0; n < batches; ++n) {
      await this.commitAll(
        ...paths
          .slice(n * 400, (n + 1) * 400)
          .map((path) => ({update: {name: this.doc(path), fields: {n: integer(1)}}})),
      );
    }
  }

  // The request of rules-unit-testing's clearFirestore, and of users with fetch.
  clear(rest = '', {method = 'DELETE', headers} = {}) {
    return fetch(this.url(`/emulator/v1/${this.root}${rest}`), {method, headers});
  }

  async mustClear(rest) {
    const response = await this.clear(rest);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.equal(await response.text(), '{\n}\n');
  }

  // The paths of all documents in the collections of these names.
  async left(...collections) {
    const paths = [];
    for (const collectionId of collections) {
      const answers = await this.mustPost(':runQuery', {
        structuredQuery: {from: [{collectionId, allDescendants: true}]},
      });
      paths.push(
        ...answers.filter(({document}) => document).map(({document}) => document.name.slice(this.root.length + 1)),
      );
    }
    return paths.sort();
  }
}

const some = ['c/d', 'c/d/s/x', 'c/d/s/x/t/y', 'c/d2', 'c/e', 'b/f', 'm/missing/s/x'];
const collections = ['b', 'c', 'm', 's', 't'];

test('all documents are deleted, at any depth, and those of other databases stay', async () => {
  const room = await Room.open(some);
  const other = await Room.open(['c/d']);
  await room.mustClear();
  assert.deepStrictEqual(await room.left(...collections), []);
  assert.deepStrictEqual(await other.left('c'), ['c/d']);
  await room.mustClear();
  await room.fill(['c/d']);
  assert.deepStrictEqual(await room.left(...collections), ['c/d']);
});

test('a path suffix limits what is deleted', async () => {
  const cases = {
    '/c': ['b/f', 'm/missing/s/x'],
    '/c/d': ['b/f', 'c/d2', 'c/e', 'm/missing/s/x'],
    '/c/d/s': ['b/f', 'c/d', 'c/d2', 'c/e', 'm/missing/s/x'],
    '/m/missing': ['b/f', 'c/d', 'c/d/s/x', 'c/d/s/x/t/y', 'c/d2', 'c/e'],
    '/no/such': [...some].sort(),
    '/nothing': [...some].sort(),
  };
  for (const [rest, expected] of Object.entries(cases)) {
    const room = await Room.open(some);
    await room.mustClear(rest);
    assert.deepStrictEqual(await room.left(...collections), expected, rest);
  }
});

test('a database that was never used is empty', async () => {
  const room = new Room(context, {database: 'unused'});
  await room.mustClear();
});

test('invalid names, and other methods', async () => {
  const room = await Room.open(['c/d']);
  const send = (path) => room.send('DELETE', `/emulator/v1/${path}`);
  expectError(
    await send('projects//databases/(default)/documents'),
    invalidRequest('Document parent name "projects//databases/(default)/documents" lacks a project id at index 9.'),
  );
  expectError(
    await send('projects/p/databases//documents'),
    invalidRequest('Document parent name "projects/p/databases//documents" lacks a database id at index 21.'),
  );
  expectError(
    await send(`${room.root}/c/`),
    invalidRequest(`Document parent name "${room.root}/c/" has invalid trailing "/".`),
  );
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH'])
    assert.equal((await room.clear('', {method})).status, 404, method);
  for (const rest of [':all', ':runQuery']) assert.equal((await room.clear(rest)).status, 404, rest);
  assert.equal((await send(room.database)).status, 404);
  assert.deepStrictEqual(await room.left('c'), ['c/d']);
});

ownTest('an extra slash is an error', 'nothing is deleted, and the answer is the same', async () => {
  const room = await Room.open(['c/d']);
  assert.equal((await room.clear('/')).status, 400);
  assert.deepStrictEqual(await room.left('c'), ['c/d']);
});

test('web pages may send the request', async () => {
  const room = await Room.open(['c/d']);
  const headers = {origin: 'http://localhost:3000'};
  const preflight = await room.clear('', {
    method: 'OPTIONS',
    headers: {...headers, 'access-control-request-method': 'DELETE', 'access-control-request-headers': 'authorization'},
  });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers.get('access-control-allow-origin'), headers.origin);
  assert.match(preflight.headers.get('access-control-allow-methods'), /\bDELETE\b/);
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization');
  assert.deepStrictEqual(await room.left('c'), ['c/d']);
  const cleared = await room.clear('', {headers});
  assert.equal(cleared.status, 200);
  assert.equal(cleared.headers.get('access-control-allow-origin'), headers.origin);
  assert.deepStrictEqual(await room.left('c'), []);
});

test('listeners see the documents disappear', async () => {
  const room = await Room.open(['c/a', 'c/b']);
  const rooms = openFirestore(context, {projectId: room.project}).collection('c');
  const snapshots = new Snapshots((onNext, onError) => rooms.onSnapshot(onNext, onError));
  assert.deepStrictEqual(idsOf(await snapshots.next()), ['a', 'b']);
  await room.mustClear();
  await snapshots.until(({empty}) => empty);
  await room.fill(['c/new']);
  assert.deepStrictEqual(idsOf(await snapshots.next()), ['new']);
  snapshots.stop();
});

test('several at once, with concurrent writes', async () => {
  const room = await Room.open(Array.from({length: 2_000}, (_, n) => `c/d${n}`));
  const writing = Array.from({length: 20}, (_, n) => room.fill([`a/d${n}`, `z/d${n}`]));
  const clearing = Array.from({length: 4}, () => room.mustClear());
  await Promise.all([...writing, ...clearing]);
  assert.deepStrictEqual(await room.left('c'), []);
  await room.mustClear();
  assert.deepStrictEqual(await room.left('a', 'c', 'z'), []);
});
