// WebChannel by hand: the answers to a browser's requests, byte by byte where clients depend on bytes.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Channel, askWhole, parseChunks} from './support/channel.js';
import {newProject, ownTest, useServer} from './support/check.js';

const context = useServer();

class Database {
  constructor() {
    this.name = `projects/${newProject()}/databases/(default)`;
    this.documents = `${this.name}/documents`;
  }

  channel(method) {
    return new Channel(context.address, method, this.name);
  }

  target(targetId, collectionId = 'c') {
    return {
      database: this.name,
      addTarget: {targetId, query: {parent: this.documents, structuredQuery: {from: [{collectionId}]}}},
    };
  }

  update(path, number, more) {
    return {update: {name: `${this.documents}/${path}`, fields: {n: {integerValue: String(number)}}}, ...more};
  }

  // A Write channel whose stream has started.
  async writer() {
    const channel = this.channel('Write');
    await channel.open([{database: this.name}]);
    const back = await channel.back();
    await back.untilMessages(1);
    return {channel, back, streamToken: back.messages[0].streamToken};
  }

  async write(...writes) {
    const {channel, back, streamToken} = await this.writer();
    await channel.send([{streamToken, writes}]);
    await back.untilMessages(2);
    await channel.terminate();
    return back.messages[1];
  }
}

const isCurrent = ({targetChange}) => targetChange?.targetChangeType === 'CURRENT';
const isGlobal = ({targetChange}) => targetChange?.readTime && !targetChange.targetIds;
const hasSnapshot = ({messages}) => messages.some(isCurrent) && messages.some(isGlobal);
const documentsOf = ({messages}) =>
  messages.filter(({documentChange}) => documentChange).map(({documentChange}) => documentChange.document);

test('the handshake gives a session', async () => {
  const channel = new Database().channel('Listen');
  const answer = await channel.open();
  assert.equal(answer.status, 200);
  assert.match(answer.body, /^\d+\n\[\[0,\["c","[\w=-]+","",8,12,30000\]\]\]$/);
  assert.equal(answer.headers['access-control-allow-origin'], 'http://localhost:3000');
  assert.equal(answer.headers['access-control-allow-credentials'], 'true');
  assert.match(answer.headers['access-control-expose-headers'], /x-http-session-id/);
  assert.match(answer.headers['content-type'], /^text\/plain/);
});

ownTest('the handshake names the session in a header too', 'it sends none', async () => {
  const channel = new Database().channel('Listen');
  const answer = await channel.open();
  assert.equal(answer.headers['x-http-session-id'], channel.id);
});

test('a listener gets its snapshot, and then each change', async () => {
  const database = new Database();
  await database.write(database.update('c/a', 1));
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  const back = await channel.back();
  assert.equal(back.status, 200);
  assert.equal(back.headers['access-control-allow-origin'], 'http://localhost:3000');
  await back.until(hasSnapshot);
  assert.deepEqual(
    documentsOf(back).map(({fields}) => fields.n),
    [{integerValue: '1'}],
  );
  await database.write(database.update('c/b', 2));
  await back.until((channel) => documentsOf(channel).some(({name}) => name.endsWith('/c/b')));
  assert.deepEqual(
    back.arrays.map(([id]) => id),
    back.arrays.map((_, i) => i + 1),
    'ids count up from 1',
  );
  await channel.terminate();
  await back.untilEnd();
});

test('a chunk counts UTF-16 units', async () => {
  const database = new Database();
  const text = 'é€🔥𝄞 "\\\u2028';
  await database.write({update: {name: `${database.documents}/c/a`, fields: {text: {stringValue: text}}}});
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  const back = await channel.back();
  await back.until(hasSnapshot); // parseChunks counts UTF-16 units, as JavaScript does.
  assert.deepEqual(documentsOf(back)[0].fields, {text: {stringValue: text}});
  await channel.terminate();
});

test('messages of the method come once and in order, over several back channels', async () => {
  const database = new Database();
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  const first = await channel.back();
  await first.until(hasSnapshot);
  const seen = first.messages;
  first.drop();
  await database.write(database.update('c/a', 1));
  // Nothing was acknowledged: everything is sent again.
  const again = await channel.back();
  await again.until((channel) => documentsOf(channel).length > 0);
  assert.deepEqual(again.messages.slice(0, seen.length), seen);
  // From the middle.
  const middle = again.arrays[1][0];
  const rest = await channel.back({acknowledged: middle});
  await rest.until((channel) => documentsOf(channel).length > 0);
  assert.equal(rest.arrays[0][0], middle + 1);
  await again.untilEnd(); // A new back channel ends the old one.
  await channel.terminate();
});

test('a poll returns the pending messages, and ends', async () => {
  const database = new Database();
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  let acknowledged = 0;
  const messages = [];
  const poll = async () => {
    const back = await (await channel.back({acknowledged, buffered: 1})).untilEnd();
    assert.ok(back.arrays.length > 0);
    acknowledged = back.lastId;
    messages.push(...back.messages);
  };
  while (!hasSnapshot({messages})) await poll();
  const waiting = poll();
  await database.write(database.update('c/a', 7));
  await waiting;
  while (documentsOf({messages}).length === 0) await poll();
  assert.deepEqual(documentsOf({messages})[0].fields, {n: {integerValue: '7'}});
  await channel.terminate();
});

test('a back channel sends data at once', async () => {
  const database = new Database();
  const channel = database.channel('Listen');
  await channel.open();
  const back = await channel.back();
  await back.until(({arrays}) => arrays.length > 0);
  assert.deepEqual(back.arrays[0], [1, ['noop']]);
  await channel.terminate();
});

test('forward requests: several maps, repeated and out of order', async () => {
  const database = new Database();
  const {channel, back, streamToken} = await database.writer();
  const increment = (path) => ({
    streamToken,
    writes: [
      {
        transform: {
          document: `${database.documents}/${path}`,
          fieldTransforms: [{fieldPath: 'n', increment: {integerValue: '1'}}],
        },
      },
    ],
  });
  const results = () => back.messages.filter(({writeResults}) => writeResults);
  await channel.send([increment('c/a'), increment('c/a')], {first: 1});
  await channel.send([increment('c/a'), increment('c/a')], {first: 1}); // The answer was lost.
  await channel.send([increment('c/a')], {first: 4});
  await channel.send([increment('c/a')], {first: 3});
  await back.until(() => results().length === 4);
  const {state} = await channel.send([], {acknowledged: back.lastId});
  assert.equal(state[0], 1);
  assert.equal(state[1], back.lastId);
  const numbers = results().map(({writeResults}) => writeResults[0].transformResults[0].integerValue);
  assert.deepEqual(numbers, ['1', '2', '3', '4']);
  await channel.terminate();
});

test('the answer to a forward request reports a missing back channel', async () => {
  const database = new Database();
  const channel = database.channel('Listen');
  await channel.open();
  const {state} = await channel.send([database.target(2)]);
  assert.deepEqual(state.slice(0, 2), [0, 0]);
  await channel.terminate();
});

test('a failed write is reported in the channel', async () => {
  const database = new Database();
  const {channel, back, streamToken} = await database.writer();
  await channel.send([{streamToken, writes: [database.update('c/none', 1, {currentDocument: {exists: true}})]}]);
  await back.untilMessages(2);
  const {error} = back.messages[1];
  assert.equal(error.status, 'NOT_FOUND');
  assert.ok(error.message.length > 0);
  await channel.terminate();
});

ownTest('after an error the channel closes and its back channel ends', 'it stays open', async () => {
  const database = new Database();
  const {channel, back, streamToken} = await database.writer();
  await channel.send([{streamToken, writes: [database.update('c/none', 1, {currentDocument: {exists: true}})]}]);
  await back.untilEnd();
  assert.equal(back.messages[1].error.code, 404);
  assert.equal(back.messages[2], 'close');
});

test('a stream that ends with OK closes the channel', async () => {
  const {channel, back, streamToken} = await new Database().writer();
  await channel.send([{streamToken, writes: []}]);
  await back.until(({messages}) => messages.at(-1) === 'close');
  assert.ok(back.messages[1].streamToken);
});

ownTest('an invalid message ends the call', 'it never answers', async () => {
  for (const text of ['{', '[]', '{"nobodys":1}', '{"database":7}', '\u{fffd}']) {
    const database = new Database();
    const channel = database.channel('Listen');
    assert.equal((await channel.open([text])).status, 200);
    const back = await (await channel.back()).untilEnd();
    assert.equal(back.messages[0].error.status, 'INVALID_ARGUMENT', text);
    assert.equal(back.messages[1], 'close');
  }
});

test('terminate ends the session', async () => {
  const database = new Database();
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  const back = await channel.back();
  await back.until(hasSnapshot);
  const answer = await channel.terminate();
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '');
  await back.untilEnd();
  assert.equal((await channel.back()).status, 400);
  assert.equal((await channel.send([database.target(4)])).status, 400);
  assert.equal((await channel.terminate()).status, 400);
});

ownTest('an unknown session has its error text', 'its body is empty', async () => {
  const channel = new Database().channel('Listen');
  channel.id = 'nobody';
  const {status, body, headers} = await channel.send([]);
  assert.equal(status, 400);
  assert.ok(body.indexOf('Unknown SID') > 0, 'clients look for them behind the first character');
  assert.equal(headers['access-control-allow-origin'], 'http://localhost:3000');
});

ownTest('invalid requests are refused', 'it hangs up or never answers', async () => {
  const {address} = context;
  const path = '/google.firestore.v1.Firestore/Listen/channel';
  const cases = [
    ['POST', path, ''],
    ['POST', `${path}?VER=8`, ''],
    ['POST', `${path}?VER=7&RID=1`, ''],
    ['POST', `${path}?VER=8&RID=x`, 'count=0'],
    ['GET', `${path}?VER=8&MODE=init`],
    ['GET', `${path}?VER=8&RID=1`],
    ['PUT', `${path}?VER=8&RID=1`, ''],
    ['POST', `${path}?VER=8&RID=1`, 'count=3'],
    ['POST', `${path}?VER=8&RID=1`, 'count=1&ofs=x&req0___data__=%7B%7D'],
    ['POST', `${path}?VER=8&RID=1`, '%'],
    ['GET', `${path}?VER=8&RID=rpc&SID=a&AID=-1`],
  ];
  for (const [method, target, body] of cases) {
    const {status} = await askWhole(address, method, target, body);
    assert.equal(status, 400, `${method} ${target} ${body}`);
  }
});

test('other methods have no channel', async () => {
  for (const method of ['Commit', 'Nothing']) {
    const channel = new Database().channel(method);
    assert.equal((await channel.open()).status, 404, method);
  }
});

test('a preflight is answered', async () => {
  const {status, headers} = await askWhole(
    context.address,
    'OPTIONS',
    '/google.firestore.v1.Firestore/Listen/channel?VER=8',
    undefined,
    {'access-control-request-method': 'POST', 'access-control-request-headers': 'x-goog-api-client'},
  );
  assert.equal(status, 200);
  assert.equal(headers['access-control-allow-origin'], 'http://localhost:3000');
  assert.equal(headers['access-control-allow-headers'], 'x-goog-api-client');
});

test('a large result streams, whole and in order', async () => {
  const database = new Database();
  const text = 'x'.repeat(20_000);
  const ids = Array.from({length: 200}, (_, i) => String(i).padStart(3, '0'));
  await database.write(
    ...ids.map((id) => ({update: {name: `${database.documents}/c/${id}`, fields: {text: {stringValue: text}}}})),
  );
  const channel = database.channel('Listen');
  await channel.open([database.target(2)]);
  const messages = [];
  let acknowledged = 0;
  while (!hasSnapshot({messages})) {
    const back = await channel.back({acknowledged});
    await back.until(({messages, ended}) => ended || hasSnapshot({messages}));
    assert.equal(back.arrays[0][0], acknowledged + 1);
    messages.push(...back.messages);
    acknowledged = back.lastId;
  }
  assert.deepEqual(
    documentsOf({messages}).map(({name}) => name.slice(-3)),
    ids,
  );
  await channel.terminate();
});

test('parseChunks keeps incomplete chunks', () => {
  assert.deepEqual(parseChunks('9\n[[1,[2]]]9\n[[2,'), {arrays: [[1, [2]]], rest: '9\n[[2,'});
});
