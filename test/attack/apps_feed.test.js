// One client that signs in and uploads as fast as it can, and the others. All have the same address: a local attacker
// can use any.

import assert from 'node:assert/strict';
import {existsSync, readFileSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {connect} from 'node:http2';
import {availableParallelism} from 'node:os';
import {after, test} from 'node:test';
import {png} from '../browser/support/png.js';
import {serve, writeFile} from '../conformance/support/own_server.js';

const password = 'a long password';
// The attacker's requests that may end during a page: about one for each thread that processes them.
const overtakenMax = 4;
const side = 3_000; // Of a large picture, in pixels.

// The whole text of a response.
function textOf(response) {
  return new Promise((resolve) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece) => (text += piece));
    response.once('end', () => resolve(text));
  });
}

// A client with a connection for each request at the same time.
class Client {
  constructor(server) {
    const [host, port] = server.address.split(':');
    this.to = {host, port, agent: new Agent({maxSockets: 1_000})};
  }

  send(method, path, {token, body, type = 'application/json', localAddress} = {}) {
    const content = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const headers = {
      ...(token ? {authorization: `Bearer ${token}`} : {}),
      ...(content === undefined ? {} : {'content-type': type, 'content-length': Buffer.byteLength(content)}),
    };
    return this.exchange(method, `/apps/feed${path}`, headers, content, localAddress);
  }

  exchange(method, path, headers, content, localAddress) {
    return new Promise((resolve, reject) => {
      const sent = request({...this.to, localAddress, method, path, headers}, async (response) =>
        resolve({status: response.statusCode, headers: response.headers, text: await textOf(response)}),
      );
      sent.on('error', reject);
      sent.end(content);
    });
  }

  async account(username) {
    const {status, text} = await this.send('POST', '/auth/register', {body: {username, password}});
    assert.equal(status, 201, text);
    return JSON.parse(text).access_token;
  }

  upload(token, pictures) {
    const parts = pictures.flatMap((picture, i) => [
      Buffer.from(`--b\r\nContent-Disposition: form-data; name="images"; filename="${i}.png"\r\n\r\n`),
      picture,
      Buffer.from('\r\n'),
    ]);
    const body = Buffer.concat([...parts, Buffer.from('--b--\r\n')]);
    return this.send('POST', '/posts', {token, body, type: 'multipart/form-data; boundary=b'});
  }

  // A page that needs the database.
  async page() {
    const {status, text} = await this.send('GET', '/users/search?q=');
    assert.equal(status, 200, text);
  }
}

// A client with one connection for all its requests.
class OneConnection extends Client {
  constructor(server) {
    super(server);
    this.session = connect(`http://${server.address}`);
    after(() => this.session.destroy());
  }

  exchange(method, path, headers, content) {
    return new Promise((resolve, reject) => {
      const stream = this.session.request({':method': method, ':path': path, ...headers});
      stream.once('response', async (head) =>
        resolve({status: head[':status'], headers: head, text: await textOf(stream)}),
      );
      stream.once('error', reject);
      stream.end(content);
    });
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function startFeed() {
  const config = writeFile('feed.json', {feed: {demo: false}});
  const server = await serve({flags: ['--apps', 'feed', '--app-config', config]});
  return {server, user: new Client(server), attacker: new OneConnection(server)};
}

// Asks for pages while `attack` lasts. A page that waits in the attacker's queue sees many of its requests end; one that
// does not sees few. `attack` calls its argument for each request that was processed; `during`: what else is done
// meanwhile, with the number that were processed so far.
async function measure(user, attack, during) {
  let processed = 0;
  let isOver = false;
  const attacking = attack(() => ++processed).finally(() => {
    isOver = true;
  });
  const others = during?.(() => processed);
  const overtaken = [];
  while (!isOver) {
    const before = processed;
    await user.page();
    overtaken.push(processed - before);
  }
  await others;
  const [usual, most] = [median(overtaken), Math.max(...overtaken)];
  console.log(
    `${overtaken.length} pages beside ${processed} requests of the attacker: ` +
      `${usual} of them ended during a page, at most ${most}`,
  );
  assert.ok(usual <= overtakenMax, 'pages wait for the attacker');
  assert.ok(most <= processed / 2, 'a page waited until the attack was over');
  return attacking;
}

// A hundred sign-ins at once.
const guess = (client, onProcessed, onRefusal = () => {}) =>
  Promise.all(
    Array.from({length: 100}, async (_, i) => {
      const answer = await client.send('POST', '/auth/login', {body: {username: `nobody${i}`, password}});
      if (answer.status === 401) onProcessed();
      if (answer.status === 429) onRefusal();
      return answer;
    }),
  );

test('a hundred sign-ins with wrong names delay neither pages nor other sign-ins', async () => {
  const {user, attacker} = await startFeed();
  await user.account('owner');
  let onRefusal;
  const refusal = new Promise((resolve) => {
    onRefusal = resolve;
  });
  const attack = (onProcessed) => guess(attacker, onProcessed, onRefusal).finally(onRefusal);
  const during = async () => {
    await refusal; // Now the attacker has all places that it can get.
    const signIn = () => user.send('POST', '/auth/login', {body: {username: 'owner', password}});
    for (const {status, text} of await Promise.all(Array.from({length: 5}, signIn))) assert.equal(status, 200, text);
  };
  const answers = await measure(user, attack, during);
  const refused = answers.filter(({status}) => status !== 401);
  console.log(`${refused.length} of ${answers.length} sign-ins refused at once`);
  assert.ok(refused.length > 0, 'the queue has no bound');
  for (const {status, headers} of refused) {
    assert.equal(status, 429);
    assert.equal(headers['retry-after'], '1');
  }
});

test('a hundred connections that sign in do not delay pages', async () => {
  const {server, user} = await startFeed();
  const answers = await measure(user, (onProcessed) => guess(new Client(server), onProcessed));
  const refused = answers.filter(({status}) => status !== 401);
  console.log(`${refused.length} of ${answers.length} sign-ins refused at once`);
  assert.ok(refused.length > 0, 'the queue has no bound');
  for (const {status, headers} of refused) {
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '1');
  }
});

test('a guesser gains nothing from the other addresses of the machine', async () => {
  const {user} = await startFeed();
  const statuses = [];
  for (let i = 1; i <= 12; ++i) {
    const {status} = await user.send('POST', '/auth/login', {
      body: {username: 'owner', password},
      localAddress: `127.0.${i}.1`,
    });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
});

// The largest memory of a process so far, in bytes; nothing where the system does not tell.
function peakBytes(pid) {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return undefined;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8'))[1]) * 1_024;
}

test('large uploads delay neither pages nor the uploads of others, and memory stays bounded', async () => {
  const {server, user, attacker} = await startFeed();
  const [large, small] = [png(side, side, [10, 20, 30]), png(60, 60, [40, 50, 60])];
  const token = await user.account('modest');
  const greedy = await attacker.account('greedy');
  const before = peakBytes(server.pid);
  const attack = (onProcessed) =>
    Promise.all(
      Array.from({length: 6}, async () => {
        const answer = await attacker.upload(greedy, [large, large, large, large]);
        if (answer.status === 201) onProcessed();
        return answer;
      }),
    );
  let overtakenUpload;
  const during = async (processed) => {
    const {status, text} = await user.upload(token, [small]);
    assert.equal(status, 201, text);
    overtakenUpload = processed();
  };
  const answers = await measure(user, attack, during);
  for (const {status, text} of answers) assert.ok([201, 429, 503].includes(status), `${status} ${text}`);
  console.log(`an upload of another user ended after ${overtakenUpload} of the attacker's`);
  assert.ok(overtakenUpload <= 3, 'the upload waited for those of the other client');
  if (before === undefined) return;
  const grownMb = (peakBytes(server.pid) - before) / 2 ** 20;
  console.log(`memory: ${grownMb.toFixed(0)} MB more`);
  // Decoded twice over for each decoder, and the bodies of the requests in the queue.
  const decoders = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
  assert.ok(grownMb < 200 + decoders * ((side * side * 8) / 2 ** 20 + 50), `${grownMb} MB`);
});
