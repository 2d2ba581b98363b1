// `hearth indexes` and `hearth ttl`, and their HTTP requests.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {newProject} from './support/check.js';
import {eventually, folder, serve, writeFile} from './support/own_server.js';
import {openFirestore} from './support/sdk.js';
import {runHearth} from './support/server.js';

const notFound = 5;
const inSeconds = (seconds) => new Date(Date.now() + seconds * 1000);

const flagsOf = (server) => ['--server', server.address, '--data', server.data];

// Runs a command against `server` that must succeed; returns its output.
async function run(server, ...args) {
  const {code, stdout, stderr} = await runHearth(...args, ...flagsOf(server));
  assert.equal(code, 0, stderr);
  return stdout;
}
async function fail(code, message, ...args) {
  const result = await runHearth(...args);
  assert.equal(result.code, code, result.stderr);
  assert.match(result.stderr, message);
  assert.equal(result.stdout, '');
}
const exists = async (firestore, path) => (await firestore.doc(path).get()).exists;

test('`hearth indexes` lists the index that a query has created', async () => {
  const server = await serve();
  const firestore = openFirestore(server);
  for (let first = 0; first < 1000; first += 500) {
    const batch = firestore.batch();
    for (let n = first; n < first + 500; ++n) batch.set(firestore.doc(`rooms/r${n}`), {n, floor: n % 500});
    await batch.commit();
  }
  assert.equal(await run(server, 'indexes'), 'no indexes: no query has needed one\n');
  const query = firestore.collection('rooms').where('floor', '==', 7);
  assert.equal((await query.get()).size, 2);
  const listed = await eventually(async () => {
    const lines = (await run(server, 'indexes')).trimEnd().split('\n');
    return lines.length === 2 && lines[1].includes('READY') && lines;
  });
  assert.match(
    listed[0],
    /^COLLECTION +SCOPE +FIELDS +STATE +ORIGIN +SIZE +ENTRIES WRITTEN +USES +READS SAVED +LAST USE \(UTC\)$/,
  );
  assert.match(
    listed[1],
    /^rooms +COLLECTION +floor ASC +READY +ON_DEMAND +[\d.]+ \w+ +\d+ +\d+ +\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
  );
  assert.equal(listed[0].indexOf('STATE'), listed[1].indexOf('READY'));
  assert.equal((await query.get()).size, 2);
});

test('declared indexes are listed as such', async () => {
  const file = writeFile('declared.json', {
    indexes: [
      {
        collectionGroup: 'rooms',
        queryScope: 'COLLECTION_GROUP',
        fields: [
          {fieldPath: 'tags', arrayConfig: 'CONTAINS'},
          {fieldPath: 'size', order: 'ASCENDING'},
        ],
      },
    ],
  });
  const server = await serve({flags: ['--index-config', file]});
  await openFirestore(server).doc('rooms/a').set({});
  const listed = await eventually(async () => /rooms.*/.exec(await run(server, 'indexes'))?.[0]);
  assert.match(listed, /^rooms +COLLECTION_GROUP +tags CONTAINS, size ASC +(BUILDING|READY) +DECLARED /);
});

test('`hearth db` lists and deletes databases', async () => {
  const server = await serve();
  const at = flagsOf(server);
  assert.equal(await run(server, 'db', 'list'), 'no databases: the first write creates one\n');
  await fail(
    1,
    /there is no database 'projects\/one\/databases\/\(default\)'/,
    'db',
    'delete',
    'one',
    '(default)',
    ...at,
  );
  const one = openFirestore(server, {projectId: 'one'});
  const two = openFirestore(server, {projectId: 'two'});
  assert.equal((await openFirestore(server, {projectId: 'three'}).doc('a/b').get()).exists, false);
  await one.doc('a/b').set({});
  await two.doc('a/b').set({});
  const listed = (await run(server, 'db', 'list')).trimEnd().split('\n');
  assert.match(listed[0], /^PROJECT +DATABASE +STATE +SIZE +CREATED \(UTC\)$/);
  assert.match(listed[1], /^one +\(default\) +READY +[\d.]+ \w+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.match(listed[2], /^two /);
  assert.equal(listed.length, 3);

  const sizes = [];
  const unsubscribe = one.collection('a').onSnapshot((snapshot) => sizes.push(snapshot.size));
  assert.ok(await eventually(() => sizes.includes(1)));
  assert.equal(
    await run(server, 'db', 'delete', 'one', '(default)'),
    'deleted the database (default) of project one; its data is removed in the background\n',
  );
  // The listener reconnects by itself, and finds an empty database.
  assert.ok(await eventually(() => sizes.at(-1) === 0));
  assert.equal(await exists(one, 'a/b'), false);
  assert.equal(await exists(two, 'a/b'), true);
  await one.doc('a/new').set({});
  assert.ok(await eventually(() => sizes.at(-1) === 1));
  unsubscribe();
});

test('the database need not be named while there is only one', async () => {
  const server = await serve();
  const at = flagsOf(server);
  await fail(1, /the server has no database yet/, 'indexes', ...at);
  await openFirestore(server, {projectId: 'one'}).doc('a/b').set({});
  assert.equal(await run(server, 'ttl', 'list'), 'no TTL policies\n');
  await openFirestore(server, {projectId: 'two'}).doc('a/b').set({});
  await openFirestore(server, {projectId: 'two', databaseId: 'second'}).doc('a/b').set({});
  await fail(
    1,
    /choose a database .*\n {2}--project one --database '\(default\)'\n {2}--project two --database '\(default\)'\n/,
    'indexes',
    ...at,
  );
  assert.equal(await run(server, 'ttl', 'list', '--database', 'second'), 'no TTL policies\n');
  assert.equal(await run(server, 'ttl', 'list', '--project', 'one'), 'no TTL policies\n');
  await fail(
    1,
    /there is no database 'projects\/three\/databases\/\(default\)'/,
    'indexes',
    ...at,
    '--project',
    'three',
  );
});

test('errors are reported in one line, with an exit code', async () => {
  const server = await serve();
  const at = [...flagsOf(server), '--project', 'p'];
  await fail(
    2,
    /^hearth: no hearth server answers at 127\.0\.0\.1:1 \(Connection refused\)/,
    'indexes',
    '--server',
    '127.0.0.1:1',
  );
  await fail(1, /--offset: "2x" is not a duration such as/, 'ttl', 'set', 'sessions', 'until', ...at, '--offset', '2x');
  await fail(1, /field: /, 'ttl', 'set', 'sessions', 'a..b', ...at);
  await fail(1, /./, 'ttl', 'set', 'a/b', 'until', ...at);
  await run(server, 'ttl', 'set', 'sessions', 'until', '--project', 'p');
  await fail(1, /^hearth: the collection group 'seasons' has no TTL policy$/m, 'ttl', 'clear', 'seasons', ...at);
});

// Writes a document that expires soon, and postpones that by an hour. On a busy machine that may be too late; it then
// retries with more time. Returns the expiry delay in seconds, and how often the document expired.
async function postpone(document) {
  for (let seconds = 2, expired = 0; ; seconds *= 2, ++expired) {
    await document.set({until: inSeconds(seconds)});
    try {
      await document.update({until: inSeconds(3600)});
      return {seconds, expired};
    } catch (error) {
      assert.equal(error.code, notFound);
    }
  }
}

test('documents expire seconds after their time', async () => {
  const server = await serve();
  const firestore = openFirestore(server);
  await firestore.doc('sessions/old').set({until: inSeconds(-60)});
  await firestore.doc('users/u/sessions/old').set({until: inSeconds(-60)});
  await firestore.doc('sessions/text').set({until: 'yesterday'});
  await firestore.doc('other/old').set({until: inSeconds(-60)});
  assert.equal(await run(server, 'ttl', 'set', 'sessions', 'until'), 'documents of sessions expire at until + 0s\n');
  const {seconds, expired} = await postpone(firestore.doc('sessions/postponed'));
  await firestore.doc('sessions/soon').set({until: inSeconds(seconds)});
  for (const path of ['sessions/old', 'users/u/sessions/old', 'sessions/soon']) {
    assert.ok(await eventually(async () => !(await exists(firestore, path))), path);
  }
  for (const path of ['sessions/text', 'sessions/postponed', 'other/old'])
    assert.ok(await exists(firestore, path), path);
  // It updates the counter after it has deleted.
  const deleted = 3 + expired;
  const listed = new RegExp(
    `^COLLECTION +FIELD +OFFSET +STATE +DELETED +LATE\\nsessions +until +0s +ACTIVE +${deleted} +0\\.0 s\\n$`,
  );
  let text;
  const isListed = async () => {
    text = await run(server, 'ttl', 'list');
    return listed.test(text);
  };
  assert.ok(await eventually(isListed), text);
  const metrics = await (await fetch(`http://${server.address}/metrics`, {headers: server.admin})).text();
  assert.match(
    metrics,
    new RegExp(
      `^hearth_ttl_deleted_total\\{project="[^"]+",database="\\(default\\)",collection_group="sessions"\\} ${deleted}$`,
      'm',
    ),
  );
  assert.match(metrics, /^hearth_ttl_late_seconds\{[^}]*\} 0$/m);
  assert.match(metrics, /^hearth_indexes\{state="ready"\} 1$/m);
  assert.match(metrics, /^hearth_index_bytes \d+$/m);
});

test('a server exports exactly the documented metrics', async () => {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const documented = new Map();
  const expected = [];
  for (const [, name, kind, from] of page.matchAll(/^\| `(\w+)[^|]*` \| (\w+)[^|]* \| ([\w/]+) \|/gm)) {
    documented.set(name, kind);
    if (['http', 'engine', 'storage'].includes(from)) expected.push(name);
  }
  assert.ok(expected.length > 20, 'the table has been found');
  const server = await serve();
  await openFirestore(server).doc('rooms/r1').set({size: 1});
  const text = await (await fetch(`http://${server.address}/metrics`, {headers: server.admin})).text();
  const shown = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]));
  for (const name of expected) assert.ok(shown.has(name), `${name} is documented and not shown`);
  for (const [name, kind] of shown) assert.equal(kind, documented.get(name), name);
  for (const moved of [
    /^hearth_http_connections [1-9]/m,
    /^hearth_http_requests_total\{protocol="grpc"\} [1-9]/m,
    /^hearth_http_requests_total\{protocol="http1"\} 1$/m,
    /^hearth_commits_total 1$/m,
    /^hearth_storage_sync_seconds_count [1-9]/m,
    /^hearth_storage_block_cache_bytes [1-9]/m,
  ])
    assert.match(text, moved);
});

test('policies have offsets, survive a restart, and can be cleared', async () => {
  const data = join(folder, 'data');
  const projectId = newProject();
  const first = await serve({data});
  assert.equal(
    await run(first, 'ttl', 'set', 'sessions', 'createdAt', '--offset', '90m', '--project', projectId),
    'documents of sessions expire at createdAt + 90m\n',
  );
  await first.stop();
  const second = await serve({data});
  const firestore = openFirestore(second, {projectId});
  await firestore.doc('sessions/old').set({createdAt: inSeconds(-5400)});
  await firestore.doc('sessions/young').set({createdAt: inSeconds(-1800)});
  assert.ok(await eventually(async () => !(await exists(firestore, 'sessions/old'))));
  assert.ok(await exists(firestore, 'sessions/young'));
  assert.equal(await run(second, 'ttl', 'clear', 'sessions'), 'documents of sessions no longer expire\n');
  assert.equal(await run(second, 'ttl', 'list'), 'no TTL policies\n');
});

test('policies of the configuration', async () => {
  const file = writeFile('ttl.json', {
    fieldOverrides: [{collectionGroup: 'sessions', fieldPath: 'until', ttl: true, indexes: []}],
  });
  const server = await serve({flags: ['--index-config', file]});
  const firestore = openFirestore(server);
  await firestore.doc('sessions/old').set({until: inSeconds(-60)});
  assert.ok(await eventually(async () => !(await exists(firestore, 'sessions/old'))));
  await fail(1, /comes from the index configuration: change the file/, 'ttl', 'clear', 'sessions', ...flagsOf(server));
  await run(server, 'ttl', 'set', 'sessions', 'until', '--offset', '1d');
  assert.match(
    await run(server, 'ttl', 'clear', 'sessions'),
    /^the index configuration also has a policy: .* until \+ 0s\n$/,
  );
});

test('web pages of other origins get nothing and change nothing', async () => {
  const server = await serve();
  await openFirestore(server, {projectId: 'p'}).doc('a/b').set({});
  const base = `http://${server.address}/hearth/v1`;
  const policy = `${base}/projects/p/databases/(default)/ttlPolicies/c`;
  const body = JSON.stringify({field: 'f'});
  const json = {'content-type': 'application/json'};
  const attempts = [
    [`${base}/databases`, {headers: {origin: 'https://evil.example'}}, 403],
    [`http://${server.address}/metrics`, {headers: {'sec-fetch-site': 'cross-site'}}, 403],
    [policy, {method: 'PUT', body, headers: {...json, origin: 'https://evil.example'}}, 403],
    [policy, {method: 'PUT', body, headers: {'content-type': 'text/plain'}}, 400],
    [policy, {method: 'OPTIONS', headers: {'access-control-request-method': 'PUT'}}, 400],
    [policy, {method: 'DELETE'}, 400],
    [policy, {method: 'PUT', body: ' '.repeat(65 * 1024), headers: json}, 413],
  ];
  for (const [url, {headers, ...options}, status] of attempts) {
    const answer = await fetch(url, {...options, headers: {...server.admin, ...headers}});
    assert.equal(answer.status, status, `${options.method} ${url}`);
    assert.ok([...answer.headers.keys()].every((name) => !name.startsWith('access-control-')));
  }
  assert.equal(await run(server, 'ttl', 'list'), 'no TTL policies\n');
  assert.equal((await fetch(policy, {method: 'PUT', body, headers: json})).status, 403);
  assert.equal((await fetch(policy, {method: 'PUT', body, headers: {...json, ...server.admin}})).status, 200);
});

test('commands need the token of the server: from its folder or from the environment', async () => {
  const server = await serve();
  await openFirestore(server, {projectId: 'p'}).doc('a/b').set({});
  const at = ['--server', server.address];
  await fail(1, /^hearth: Only the administrator may do this\. .*admin\.token/, 'indexes', ...at);
  await fail(1, /Only the administrator/, 'ttl', 'list', ...at, '--data', join(folder, 'nowhere'));
  process.env.HEARTH_ADMIN_TOKEN = server.admin.authorization.slice('Bearer '.length);
  try {
    const {code, stderr} = await runHearth('indexes', ...at);
    assert.equal(code, 0, stderr);
  } finally {
    delete process.env.HEARTH_ADMIN_TOKEN;
  }
});
