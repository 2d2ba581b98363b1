// Pages of other sites in a real browser, which can reach the server: one on a name of its own, and one whose name
// leads to the server itself (DNS rebinding). Both try everything, and get and change nothing.

import assert from 'node:assert/strict';
import {createServer, request} from 'node:http';
import {test} from 'node:test';
import {useBrowser} from '../browser/support/browser.js';
import {eventually, patienceMs} from '../conformance/support/patience.js';
import {startHearth} from '../conformance/support/server.js';

const password = 'correct horse battery staple';
const secret = 'projects/p/databases/(default)/documents/c/secret';

// A server with a document that anyone on this machine may read, and a user of an application.
async function startServer() {
  const server = await startHearth({flags: ['--apps', 'feed']});
  const registered = await fetch(`http://${server.address}/apps/feed/auth/register`, {
    method: 'POST',
    body: JSON.stringify({username: 'victim', password}),
  });
  assert.equal(registered.status, 201);
  const written = await fetch(`http://${server.address}/v1/${secret}`, {
    method: 'PATCH',
    body: JSON.stringify({fields: {is: {stringValue: 'treasure'}}}),
  });
  assert.equal(written.status, 200);
  return server;
}

const context = useBrowser({
  startServer,
  browserFlags: ['--host-resolver-rules=MAP attacker.example 127.0.0.1,MAP rebound.example 127.0.0.1'],
});

const login = () =>
  fetch(`http://${context.address}/apps/feed/auth/login`, {
    method: 'POST',
    body: JSON.stringify({username: 'victim', password}),
  });
const refusedCount = async () => {
  const answer = await fetch(`http://${context.address}/metrics`, {headers: context.server.admin});
  return Number(/^hearth_http_refused_requests_total (\d+)$/m.exec(await answer.text())[1]);
};
const documents = async () => {
  const answer = await fetch(`http://${context.address}/v1/projects/p/databases/(default)/documents/c`);
  return (await answer.json()).documents.map(({name, fields}) => [name, fields.is?.stringValue]);
};

// Opens the test page, with the web SDK, at `url`.
async function open(url) {
  const page = await (await context.browser.newContext()).newPage();
  page.setDefaultTimeout(patienceMs);
  await page.goto(url);
  await page.waitForFunction(() => 'connect' in window);
  return page;
}

// The attacker's host: it delivers the page, and then leads to the server, as a name does whose address has been
// changed to 127.0.0.1.
async function startRebound() {
  const [host, port] = context.address.split(':');
  const pages = new URL(context.origin);
  const rebound = createServer((asked, answer) => {
    const isOwn = ['/attack', '/page.js'].includes(asked.url);
    const to = isOwn ? {host: pages.hostname, port: pages.port} : {host, port};
    const {method, url, headers} = asked;
    const forwarded = request({...to, method, path: url.replace('/attack', '/'), headers}, (response) => {
      answer.writeHead(response.statusCode, response.headers);
      response.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  await new Promise((resolve) => rebound.listen(0, '127.0.0.1', resolve));
  return rebound;
}

// Runs in the page. Returns the text of everything that it could read, by attempt. `project` has the document
// c/secret; `token` is the administrator's, in case it got lost.
async function attack({base, project, password, token}) {
  const open = `${base}/v1/projects/${project}/databases/(default)/documents/c`;
  const users = `${base}/v1/projects/hearth/databases/(default)/documents/dev-feed-users`;
  const admin = {headers: {authorization: token}};
  const fields = JSON.stringify({fields: {is: {stringValue: 'hit'}}});
  const json = {'content-type': 'application/json'};
  const requests = {
    read: [`${open}/secret`],
    'read with credentials': [`${open}/secret`, {credentials: 'include'}],
    'read users': [users],
    'read users as an owner': [users, {headers: {authorization: 'Bearer owner'}}],
    'read users with the token': [users, admin],
    'write with a preflight': [`${open}/secret`, {method: 'PATCH', headers: json, body: fields}],
    'write as text': [`${open}?documentId=text`, {method: 'POST', body: fields}],
    'write blindly': [`${open}?documentId=blind`, {method: 'POST', mode: 'no-cors', body: fields}],
    'write a form': [`${open}?documentId=form`, {method: 'POST', body: new URLSearchParams({a: 'b'})}],
    clear: [`${base}/emulator/v1/projects/${project}/databases/(default)/documents`, {method: 'DELETE'}],
    'open a channel': [
      `${base}/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&CVER=22`,
      {method: 'POST', body: new URLSearchParams({count: '0'})},
    ],
    'call by gRPC-Web': [
      `${base}/google.firestore.v1.Firestore/ListDocuments`,
      {method: 'POST', headers: {'content-type': 'application/grpc-web+proto'}, body: new Uint8Array(5)},
    ],
    databases: [`${base}/hearth/v1/databases`],
    'databases with the token': [`${base}/hearth/v1/databases`, admin],
    metrics: [`${base}/metrics`],
    'metrics with the token': [`${base}/metrics`, admin],
    front: [`${base}/hearth/front`],
    'sign in': [
      `${base}/apps/feed/auth/login`,
      {method: 'POST', body: JSON.stringify({username: 'victim', password, session: 'cookie'})},
    ],
    feed: [`${base}/apps/feed/health`],
  };
  const got = {};
  for (const [name, [url, options]] of Object.entries(requests)) {
    got[name] = await fetch(url, options).then(
      (response) => response.text(),
      () => 'unreadable',
    );
  }
  const loaded = (element) =>
    new Promise((resolve) => {
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('unreadable');
      document.body.append(element);
    });
  const script = document.createElement('script');
  script.src = `${base}/main.js`;
  got.script = await loaded(script);
  got.beacon = String(navigator.sendBeacon(`${open}?documentId=beacon`, fields));
  return got;
}

// Runs in the page: the web SDK, which tries until it knows that it is offline.
async function useSdk({host, port, project}) {
  window.connect({project, host, port});
  const reference = window.sdk.doc(window.db, project === 'p' ? 'c/secret' : 'dev-feed-users/1');
  window.watch('it', reference);
  const outcome = await window.sdk.getDocFromServer(reference).then(
    (found) => JSON.stringify(found.data()),
    (error) => `failed: ${error.code}`,
  );
  window.sdk.setDoc(reference, {is: 'hit'}).catch(() => {});
  return {outcome, watched: window.watched.it.documents};
}

async function expectNothing(page, base) {
  const before = await refusedCount();
  const got = await page.evaluate(attack, {base, project: 'p', password, token: context.server.admin.authorization});
  const refused = /^$|^unreadable$|^\{"error":\{"code":403,/;
  for (const [name, text] of Object.entries(got)) {
    if (name !== 'beacon') assert.match(text, refused, `${name}: ${text}`);
  }
  // Every attempt, or its preflight, has reached the server and was refused there: that the page cannot read an answer
  // would not show it.
  assert.ok(await eventually(async () => (await refusedCount()) >= before + Object.keys(got).length));
  const [host, port] = new URL(base).host.split(':');
  for (const project of ['p', 'hearth']) {
    const {outcome, watched} = await page.evaluate(useSdk, {host, port: Number(port), project});
    assert.match(outcome, /^failed: unavailable$/);
    assert.deepEqual(watched, {});
    await page.evaluate(() => window.disconnect());
  }
  assert.deepEqual(await documents(), [[secret, 'treasure']]);
  assert.equal((await login()).status, 200);
  await page.context().close();
}

// What the same script gets in a page of the server itself. So it fails elsewhere because of the page's origin.
const expected = {
  read: /treasure/,
  'read with credentials': /treasure/,
  'read users': /admin\.token/,
  'read users as an owner': /admin\.token/,
  'read users with the token': /password_hash/,
  'write with a preflight': /hit/,
  'write as text': /c\/text/,
  'write blindly': /c\/blind/,
  'write a form': /"code": ?400/,
  clear: /^\{\s*\}\s*$/,
  'open a channel': /\["c"/,
  'call by gRPC-Web': /grpc-status: 3/, // An empty request is invalid.
  databases: /admin\.token/,
  'databases with the token': /projects\/own\/databases/,
  metrics: /admin\.token/,
  'metrics with the token': /hearth_http_refused_requests_total/,
  front: /"applications"/,
  'sign in': /access_token/,
  feed: /"status":"ok"/,
  script: /^loaded$/,
  beacon: /^true$/,
};

test('a page of the server itself gets everything', async () => {
  const base = `http://${context.address}`;
  const written = await fetch(`${base}/v1/${secret.replace('projects/p/', 'projects/own/')}`, {
    method: 'PATCH',
    body: JSON.stringify({fields: {is: {stringValue: 'treasure'}}}),
  });
  assert.equal(written.status, 200);
  const page = await (await context.browser.newContext()).newPage();
  await page.goto(`${base}/`);
  const before = await refusedCount();
  const token = context.server.admin.authorization;
  const got = await page.evaluate(attack, {base, project: 'own', password, token});
  for (const [name, text] of Object.entries(got)) assert.match(text, expected[name], `${name}: ${text}`);
  assert.deepEqual(Object.keys(got).sort(), Object.keys(expected).sort());
  assert.equal(await refusedCount(), before);
  await page.context().close();
});

test('a page of another site gets nothing and changes nothing', async () => {
  const page = await open(`http://attacker.example:${new URL(context.origin).port}/`);
  await expectNothing(page, `http://${context.address}`);
});

test('neither does a page that uses its own name for the address of the server', async () => {
  const page = await open(`http://attacker.example:${new URL(context.origin).port}/`);
  await expectNothing(page, `http://attacker.example:${context.address.split(':')[1]}`);
});

test('neither does a page on a name that now leads to the server', async () => {
  const rebound = await startRebound();
  try {
    const base = `http://rebound.example:${rebound.address().port}`;
    await expectNothing(await open(`${base}/attack`), base);
  } finally {
    rebound.closeAllConnections();
    rebound.close();
  }
});

test('a frame shows nothing, a link opens the front page', async () => {
  const page = await open(`http://attacker.example:${new URL(context.origin).port}/`);
  const url = `http://${context.address}/`;
  const framed = page.waitForResponse(url);
  await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.src = url;
    document.body.append(frame);
  }, url);
  assert.equal((await framed).status(), 403);
  const opened = page.waitForResponse((response) => response.url() === url && response.status() === 200);
  await page.evaluate((url) => location.assign(url), url);
  await opened;
  await page.waitForURL(url);
  const data = page.waitForResponse(`${url}hearth/front`);
  assert.equal((await data).status(), 200);
  // But a link does not open the database.
  await page.goto(`http://attacker.example:${new URL(context.origin).port}/`);
  const refused = page.waitForResponse(`${url}v1/${secret}`);
  await page.evaluate((url) => location.assign(url), `${url}v1/${secret}`);
  assert.equal((await refused).status(), 403);
  await page.context().close();
});

for (const host of ['localhost', '127.0.0.1', 'app.localhost']) {
  test(`a page under development on ${host} reads, writes and listens`, async () => {
    const page = await open(`http://${host}:${new URL(context.origin).port}/`);
    const [server, port] = context.address.split(':');
    const project = `dev-${host.replaceAll('.', '-')}`;
    await page.evaluate((options) => window.connect(options), {project, host: server, port: Number(port)});
    await page.evaluate(() => void window.watch('rooms', window.sdk.collection(window.db, 'rooms')));
    await page.evaluate(() => window.sdk.setDoc(window.sdk.doc(window.db, 'rooms/a'), {n: 1}));
    await page.waitForFunction(() => window.settled('rooms') && window.watched.rooms.documents.a?.n === 1);
    await page.context().close();
  });
}

test('the web SDK can send the token', async () => {
  const page = await open(`http://localhost:${new URL(context.origin).port}/`);
  const [host, port] = context.address.split(':');
  const listed = (token) =>
    page.evaluate(
      async ({host, port, token}) => {
        window.connect({project: 'hearth', host, port, token});
        const outcome = await new Promise((resolve) => {
          window.sdk.onSnapshot(
            window.sdk.collection(window.db, 'dev-feed-users'),
            (snapshot) => !snapshot.metadata.fromCache && resolve(`${snapshot.size > 0}`),
            ({code}) => resolve(code),
          );
        });
        await window.disconnect();
        return outcome;
      },
      {host, port: Number(port), token},
    );
  assert.equal(await listed(), 'permission-denied');
  assert.equal(await listed(context.server.admin.authorization.slice('Bearer '.length)), 'true');
  await page.context().close();
});
