// The photo feed in the server's process, over HTTP as its page uses it: uploads as forms, tokens in bodies.

import assert from 'node:assert/strict';
import {request} from 'node:http';
import {test} from 'node:test';
import {eventually, serve, writeFile} from './support/own_server.js';
import {bomb, gif, jpeg, png, webp} from './support/pictures.js';
import {runHearth} from './support/server.js';

const strict = ['--indexes', 'strict'];
const password = 'correct horse';
const mebibyte = 1024 * 1024;
const operatorSecret = 'the operator of these tests';

class Feed {
  constructor(server) {
    this.server = server.address;
    this.own = server;
    this.api = `http://${server.address}/apps/feed`;
  }

  async send(method, path, {token, body} = {}) {
    const headers = token ? {authorization: `Bearer ${token}`} : {};
    const form = body instanceof FormData;
    const response = await fetch(`${this.api}${path}`, {
      method,
      headers,
      body: form || body === undefined ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {status: response.status, body: text && JSON.parse(text)};
  }

  // Returns the answer, which must have this status.
  async expect(status, method, path, options) {
    const answer = await this.send(method, path, options);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async refused(status, code, method, path, options) {
    const {error} = await this.expect(status, method, path, options);
    assert.equal(error.code, code);
    assert.match(error.message, /\.$/);
  }

  async register(username, more = {}) {
    const session = await this.expect(201, 'POST', '/auth/register', {body: {username, password, ...more}});
    return {...session, id: session.user.id, token: session.access_token};
  }

  post(author, pictures, caption = '') {
    return this.expect(201, 'POST', '/posts', {token: author.token, body: form(pictures, caption)});
  }

  // All pages of a list, and how many items each has.
  async scroll(path, name, token) {
    const items = [];
    const sizes = [];
    let cursor = '';
    do {
      const query = cursor && `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
      const page = await this.expect(200, 'GET', `${path}${query}`, {token});
      items.push(...page[name]);
      sizes.push(page[name].length);
      assert.equal(page.has_more, page.next_cursor !== null);
      cursor = page.next_cursor;
    } while (cursor);
    return {items, sizes};
  }

  async settled() {
    const health = await eventually(async () => {
      const now = await this.expect(200, 'GET', '/health', {token: operatorSecret});
      return now.queue.waiting === 0 && now;
    });
    assert.equal(health.status, 'ok');
    assert.equal(health.queue.dead, 0);
  }
}

function form(pictures, caption) {
  const data = new FormData();
  for (const [i, picture] of pictures.entries())
    data.append('images', new Blob([picture], {type: 'image/png'}), `${i}.png`);
  if (caption) data.append('caption', caption);
  return data;
}

// Without demo accounts: only the accounts of a test post.
async function startFeed(settings = {}, flags = []) {
  const name = `apps-${JSON.stringify(settings).replace(/\W/g, '')}.json`;
  const config = writeFile(name, {
    feed: {demo: false, repair_seconds: 1, operator_secret: operatorSecret, ...settings},
  });
  return new Feed(await serve({flags: ['--apps', 'feed', '--app-config', config, ...flags]}));
}

// A document of the application's database, over REST, for the administrator.
const document = (feed, path) => `http://${feed.server}/v1/projects/hearth/databases/(default)/documents/${path}`;
const read = (feed, path) => fetch(document(feed, path), {headers: feed.own.admin});

async function put(feed, path, fields) {
  const response = await fetch(document(feed, path), {
    method: 'PATCH',
    headers: feed.own.admin,
    body: JSON.stringify({fields}),
  });
  assert.equal(response.status, 200, await response.text());
}

test('accounts: names are unique, refresh tokens are used once', async () => {
  const feed = await startFeed();
  const alice = await feed.register('Alice', {display_name: 'Alice A.'});
  assert.equal(alice.user.username, 'alice');
  assert.equal(alice.user.is_new_user, true);
  await feed.refused(409, 'username_taken', 'POST', '/auth/register', {body: {username: 'alice', password}});
  await feed.refused(400, 'invalid_username', 'POST', '/auth/register', {body: {username: 'a b', password}});
  await feed.refused(401, 'invalid_credentials', 'POST', '/auth/login', {body: {username: 'alice', password: 'x'}});
  await feed.refused(401, 'unauthenticated', 'GET', '/me', {token: `${alice.token}x`});

  const refresh = (refresh_token) => ['POST', '/auth/refresh', {body: {refresh_token}}];
  const second = await feed.expect(200, ...refresh(alice.refresh_token));
  const third = await feed.expect(200, ...refresh(second.refresh_token));
  // An old token was stolen, by this client or from it: all tokens of its family become invalid.
  await feed.refused(401, 'invalid_refresh_token', ...refresh(alice.refresh_token));
  await feed.refused(401, 'invalid_refresh_token', ...refresh(third.refresh_token));

  const again = await feed.expect(200, 'POST', '/auth/login', {body: {username: 'ALICE', password}});
  await feed.expect(204, 'POST', '/auth/logout', {body: {refresh_token: again.refresh_token}});
  await feed.refused(401, 'invalid_refresh_token', ...refresh(again.refresh_token));
  const me = await feed.expect(200, 'PATCH', '/me/onboarding', {token: again.access_token});
  assert.equal(me.is_new_user, false);
});

test('uploads: every format, in order, and nothing else', async () => {
  const feed = await startFeed();
  const alice = await feed.register('alice');
  const post = await feed.post(alice, [jpeg, png(7), webp, gif], 'four of a kind');
  assert.equal(post.caption, 'four of a kind');
  assert.deepEqual(
    post.media.map(({position, width, height}) => [position, width, height]),
    [
      [0, 16, 8],
      [1, 12, 10],
      [2, 8, 4],
      [3, 1, 1],
    ],
  );
  for (const {url, thumbnail_url} of post.media) {
    for (const file of [url, thumbnail_url]) {
      const picture = await fetch(`${feed.api}/${file}`);
      assert.equal(picture.status, 200);
      assert.equal(picture.headers.get('content-type'), 'image/webp');
      assert.equal(picture.headers.get('cache-control'), 'private, no-cache');
      assert.equal(Buffer.from(await picture.arrayBuffer()).toString('latin1', 8, 12), 'WEBP');
    }
  }
  const refused = (status, code, pictures, caption) =>
    feed.refused(status, code, 'POST', '/posts', {token: alice.token, body: form(pictures, caption)});
  await refused(400, 'no_images', [], 'words');
  await refused(
    400,
    'too_many_images',
    Array.from({length: 11}, (_, i) => png(i)),
  );
  await refused(413, 'image_too_large', [png(), Buffer.alloc(6 * mebibyte)]);
  await refused(400, 'invalid_image', [png(), Buffer.from('<script>alert(1)</script>')]);
  await refused(400, 'invalid_image', [jpeg.subarray(0, 100)]);
  await refused(400, 'invalid_image', [bomb]);
  await refused(400, 'caption_too_long', [png()], 'x'.repeat(2201));
  await refused(413, 'image_too_large', [Buffer.alloc(60 * mebibyte)]);
  await feed.refused(415, 'unsupported_media', 'POST', '/posts', {token: alice.token, body: {caption: 'x'}});
  await feed.refused(401, 'unauthenticated', 'POST', '/posts', {body: form([png()])});
  assert.deepEqual(
    (await feed.scroll(`/users/feed?userid=${alice.id}`, 'posts')).items.map(({id}) => id),
    [post.id],
  );
});

test('a body with too large a content-length is refused before it is sent', async () => {
  const feed = await startFeed();
  const {token} = await feed.register('alice');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': 70 * mebibyte,
  };
  const upload = request(`${feed.api}/posts`, {method: 'POST', headers});
  upload.flushHeaders();
  const [status, body] = await new Promise((resolve, reject) => {
    upload.on('error', reject);
    upload.on('response', (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (piece) => (text += piece))
        .on('end', () => resolve([response.statusCode, JSON.parse(text)]));
    });
  });
  upload.destroy();
  assert.equal(status, 413);
  assert.equal(body.error.code, 'too_large');
});

// Every endpoint that queries the database for a list, and the background work.
async function live(feed) {
  const [alice, bob, carol] = [
    await feed.register('alice', {display_name: 'Zoe'}),
    await feed.register('bob'),
    await feed.register('carol'),
  ];
  const found = async (q) => (await feed.expect(200, 'GET', `/users/search?q=${q}`, {token: bob.token})).users;
  assert.deepEqual(
    (await found('ali')).map(({id}) => id),
    [alice.id],
  );
  assert.deepEqual(
    (await found('zo')).map(({id}) => id),
    [alice.id],
  );
  assert.equal((await found('')).length, 3);

  const follow = (user, id) => ['POST', `/users/${id}/follow`, {token: user.token}];
  await feed.expect(201, ...follow(bob, alice.id));
  await feed.expect(201, ...follow(bob, carol.id));
  await feed.refused(409, 'already_following', ...follow(bob, alice.id));
  await feed.refused(400, 'cannot_follow_self', ...follow(bob, bob.id));
  await feed.refused(404, 'user_not_found', ...follow(bob, 4711));
  assert.equal((await found('ali'))[0].is_following, true);

  const posted = [];
  for (let i = 0; i < 23; ++i) posted.unshift((await feed.post(i % 2 ? alice : carol, [png(i)], `number ${i}`)).id);
  const ids = async () => (await feed.scroll('/feed', 'posts', bob.token)).items.map(({id}) => id);
  assert.deepEqual((await feed.scroll('/feed', 'posts', bob.token)).sizes, [10, 10, 3]);
  assert.deepEqual(await ids(), posted);
  await feed.settled();
  assert.deepEqual(await ids(), posted);
  const grid = await feed.scroll(`/users/feed?userid=${carol.id}`, 'posts');
  assert.deepEqual(grid.sizes, [10, 2]);
  assert.deepEqual(Object.keys(grid.items[0]).sort(), [
    'comment_count',
    'created_at',
    'id',
    'like_count',
    'media_count',
    'thumbnail_url',
  ]);
  assert.deepEqual(
    (await feed.scroll(`/users/${carol.id}/followers`, 'users')).items.map(({id}) => id),
    [bob.id],
  );
  assert.deepEqual(
    (await feed.scroll(`/users/${bob.id}/following`, 'users')).items.map(({id}) => id),
    [carol.id, alice.id],
  );

  await talk(feed, {owner: carol, guest: bob, post: posted[0]});

  await feed.refused(403, 'not_owner', 'DELETE', `/posts/${posted[3]}`, {token: bob.token});
  const {caption} = await feed.expect(200, 'PATCH', `/posts/${posted[1]}`, {
    token: alice.token,
    body: {caption: 'anew'},
  });
  assert.equal(caption, 'anew');
  await feed.expect(204, 'DELETE', `/posts/${posted[3]}`, {token: alice.token});
  await feed.refused(404, 'post_not_found', 'GET', `/posts/${posted[3]}`);
  await feed.expect(204, 'DELETE', `/users/${carol.id}/follow`, {token: bob.token});
  await feed.refused(404, 'not_following', 'DELETE', `/users/${carol.id}/follow`, {token: bob.token});
  const left = posted.filter((_, i) => i % 2 === 1 && i !== 3);
  assert.deepEqual(await ids(), left);
  await feed.settled();
  assert.deepEqual(await ids(), left);
}

async function talk(feed, {owner, guest, post}) {
  const like = (method) => [method, `/posts/${post}/like`, {token: guest.token}];
  assert.deepEqual(await feed.expect(201, ...like('POST')), {liked: true, like_count: 1});
  await feed.refused(409, 'already_liked', ...like('POST'));
  assert.equal((await feed.expect(200, 'GET', `/posts/${post}`, {token: guest.token})).has_liked, true);
  await feed.expect(204, ...like('DELETE'));
  await feed.refused(404, 'not_liked', ...like('DELETE'));

  const path = `/posts/${post}/comments`;
  const say = (user, text, parent_id) => ['POST', path, {token: user.token, body: {text, parent_id}}];
  const first = await feed.expect(201, ...say(guest, 'first'));
  const reply = await feed.expect(201, ...say(owner, 'an answer', first.id));
  await feed.refused(400, 'reply_too_deep', ...say(guest, 'too deep', reply.id));
  await feed.refused(404, 'comment_not_found', ...say(guest, 'to nobody', 4711));
  for (let i = 0; i < 21; ++i) await feed.expect(201, ...say(guest, `more ${i}`));
  const listed = await feed.scroll(path, 'comments');
  assert.deepEqual(listed.sizes, [20, 3]);
  assert.equal(listed.items[1].parent_id, first.id);
  await feed.refused(403, 'not_owner', 'DELETE', `${path}/${reply.id}`, {token: guest.token});
  await feed.expect(204, 'DELETE', `${path}/${first.id}`, {token: guest.token});
  // It stays, empty, for as long as its reply needs it.
  const {
    items: [emptied, kept],
  } = await feed.scroll(path, 'comments');
  assert.deepEqual([emptied.id, emptied.is_deleted, emptied.text, kept.id], [first.id, true, '', reply.id]);
  await feed.expect(204, 'DELETE', `${path}/${reply.id}`, {token: owner.token});
  const rest = await feed.scroll(path, 'comments');
  assert.deepEqual(
    rest.items.map(({text}) => text),
    Array.from({length: 21}, (_, i) => `more ${i}`),
  );
  assert.equal((await feed.expect(200, 'GET', `/posts/${post}`)).comment_count, 21);
}

test('typical use: search, follow, post, scroll, like, comment, delete', async () => {
  const feed = await startFeed();
  await live(feed);
  const metrics = await (await fetch(`http://${feed.server}/metrics`, {headers: feed.own.admin})).text();
  assert.match(metrics, /^feed_events_total\{outcome="done"\} [1-9]/m);
  assert.match(metrics, /^feed_pages_total\{path="hit"\} [1-9]/m);
});

for (const [what, settings] of [
  ['pushed', {}],
  ['pulled', {pushed_followers_max: 0}],
]) {
  test(`its queries need no more indexes than its file has: posts are ${what}`, async () => {
    const feed = await startFeed(settings, strict);
    await live(feed);
    const metrics = await (await fetch(`http://${feed.server}/metrics`, {headers: feed.own.admin})).text();
    assert.doesNotMatch(metrics, /^feed_events_total\{outcome="failed"\} [1-9]/m);
  });
}

test('sessions and unusable events expire by the policies of its file', async () => {
  const feed = await startFeed({}, strict);
  await feed.register('alice');
  const {
    documents: [session],
  } = await (await read(feed, 'dev-feed-sessions')).json();
  assert.ok(Date.parse(session.fields.expires_at.timestampValue) > Date.now());

  // One that no version of the application has written.
  await put(feed, 'dev-feed-events/odd', {
    kind: {stringValue: 'odd'},
    available_at: {timestampValue: '2020-01-01T00:00:00Z'},
  });
  const dead = await eventually(async () => {
    const response = await read(feed, 'dev-feed-dead-events/odd');
    return response.ok && response.json();
  });
  assert.ok(Date.parse(dead.fields.expires_at.timestampValue) > Date.now());

  const past = {expires_at: {timestampValue: '2020-01-01T00:00:00Z'}};
  for (const path of ['dev-feed-sessions/old', 'dev-feed-dead-events/old']) {
    await put(feed, path, past);
    assert.ok(await eventually(async () => (await read(feed, path)).status === 404), path);
  }
  assert.equal((await read(feed, 'dev-feed-dead-events/odd')).status, 200);
  const {stdout} = await runHearth('ttl', 'list', '--server', feed.server, '--data', feed.own.data);
  assert.match(stdout, /^dev-feed-sessions +expires_at +0s +ACTIVE/m);
  assert.match(stdout, /^dev-feed-dead-events +expires_at +0s +ACTIVE/m);
});

test('a new feed has accounts that post and can be followed', async () => {
  const feed = new Feed(await serve({flags: ['--apps', 'feed']}));
  const people = await eventually(async () => {
    const {users} = await feed.expect(200, 'GET', '/users/search?q=');
    return users.some(({post_count}) => post_count > 0) && users;
  });
  assert.ok(people.length >= 5);
  const alice = await feed.register('alice.new');
  const author = people.find(({post_count}) => post_count > 0);
  await feed.expect(201, 'POST', `/users/${author.id}/follow`, {token: alice.token});
  const {
    posts: [post],
  } = await feed.expect(200, 'GET', '/feed', {token: alice.token});
  assert.equal(post.user_id, author.id);
  assert.equal((await fetch(`${feed.api}/${post.media[0].url}`)).headers.get('content-type'), 'image/webp');
});
