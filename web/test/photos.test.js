// The photo feed's lists, tokens, hearts and texts, with a function as the server.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './support.js';

const {PagedList, refreshPagesMax} = await load('apps/feed/web/paged_list.ts');
const {Likes} = await load('apps/feed/web/likes.ts');
const {characters, frameRatio, hueOf, initials, isLong, shortCount} = await load('apps/feed/web/words.ts');
const {admit, pictureBytesMax, refusedBy} = await load('apps/feed/web/picture_rules.ts');
const {followsMissing} = await load('apps/feed/web/welcome_view.ts');
const {complaint} = await load('apps/feed/web/auth_view.ts');
const {parseRoute, searchHash} = await load('apps/feed/web/routes.ts');

const pageSize = 10;
const idsDown = (from, count) => Array.from({length: count}, (_, i) => from - i);

// Newest first, by id; a cursor is the last id of a page.
function server(count) {
  const asked = [];
  return {
    asked,
    ids: idsDown(count, count),
    page: async function (cursor) {
      asked.push(cursor);
      const left = this.ids.filter((id) => cursor === null || id < Number(cursor));
      const items = left.slice(0, pageSize).map((id) => ({id}));
      return {items, next: left.length > pageSize ? String(items.at(-1).id) : null};
    },
  };
}

const listOf = (source) =>
  new PagedList(
    (cursor) => source.page(cursor),
    (item, other) => item.id < other.id,
  );
const ids = (list) => list.items.map(({id}) => id);

test('pages follow one another to the end, one request at a time', async () => {
  const source = server(25);
  const list = listOf(source);
  assert.equal(list.complete, false);
  await Promise.all([list.loadMore(), list.loadMore()]);
  assert.deepEqual(source.asked, [null]);
  await list.loadMore();
  await list.loadMore();
  assert.equal(list.complete, true);
  assert.deepEqual(await list.loadMore(), []);
  assert.deepEqual(source.asked, [null, '16', '6']);
  assert.deepEqual(ids(list), idsDown(25, 25));
});

test('items that a page repeats are shown once', async () => {
  const pages = [
    {items: [{id: 3}, {id: 2}, {id: 3}], next: 'a'},
    {items: [{id: 2}, {id: 1}], next: null},
  ];
  const list = new PagedList(async () => pages.shift());
  assert.deepEqual(await list.loadMore(), [{id: 3}, {id: 2}]);
  assert.deepEqual(await list.loadMore(), [{id: 1}]);
  assert.deepEqual(ids(list), [3, 2, 1]);
});

test('a cursor that leads to itself ends the list', async () => {
  const list = new PagedList(async () => ({items: [{id: 1}], next: 'same'}));
  await list.loadMore();
  await list.loadMore();
  assert.equal(list.complete, true);
  assert.deepEqual(ids(list), [1]);
});

test('a refresh adds new items on top, and the list continues where it was', async () => {
  const source = server(30);
  const list = listOf(source);
  await list.loadMore();
  await list.loadMore();
  source.ids.unshift(33, 32, 31);
  assert.deepEqual(
    (await list.refresh()).map(({id}) => id),
    [33, 32, 31],
  );
  assert.deepEqual(ids(list), idsDown(33, 23));
  await list.loadMore();
  assert.equal(source.asked.at(-1), '11');
  assert.deepEqual(ids(list), idsDown(33, 33));
});

test('a refresh drops deleted items and finds items added in between', async () => {
  const source = server(30);
  source.ids = source.ids.filter((id) => id !== 27);
  const list = listOf(source);
  await list.loadMore();
  await list.loadMore();
  source.ids = [30, 28, 27, ...idsDown(26, 26)];
  assert.deepEqual(
    (await list.refresh()).map(({id}) => id),
    [27],
  );
  assert.deepEqual(ids(list), [30, 28, 27, ...idsDown(26, 17)]);
});

test('a refresh reads until it reaches the known items; if they are too far away, the list starts over', async () => {
  const near = server(10);
  const list = listOf(near);
  await list.loadMore();
  near.ids = idsDown(25, 25);
  assert.equal((await list.refresh()).length, 15);
  assert.deepEqual(ids(list), idsDown(25, 25));
  const far = server(10);
  const other = listOf(far);
  await other.loadMore();
  far.ids = idsDown(100, 100);
  far.asked.length = 0;
  await other.refresh();
  assert.equal(far.asked.length, refreshPagesMax);
  assert.deepEqual(ids(other), idsDown(100, pageSize * refreshPagesMax));
  while (!other.complete) await other.loadMore();
  assert.deepEqual(ids(other), idsDown(100, 100));
});

test('a page requested before a refresh is not added to the refreshed list', async () => {
  const source = server(30);
  const list = listOf(source);
  await list.loadMore();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const page = source.page;
  source.page = async function (cursor) {
    const answer = await page.call(this, cursor);
    if (cursor !== null) await held;
    return answer;
  };
  const late = list.loadMore();
  source.ids.unshift(31);
  await list.refresh();
  release();
  assert.deepEqual(await late, []);
  assert.deepEqual(ids(list), idsDown(31, 11));
  await list.loadMore();
  assert.deepEqual(ids(list), idsDown(31, 21));
});

test('removed items stay removed, even if a pending page or refresh contains them', async () => {
  const source = server(25);
  const list = listOf(source);
  await list.loadMore();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const page = source.page;
  source.page = async function (cursor) {
    const answer = await page.call(this, cursor);
    await held;
    return answer;
  };
  const late = list.loadMore();
  list.remove(20);
  list.remove(12);
  release();
  assert.deepEqual(
    (await late).map(({id}) => id),
    idsDown(15, 10).filter((id) => id !== 12),
  );
  await list.refresh();
  assert.deepEqual(
    ids(list),
    idsDown(25, 20).filter((id) => id !== 20 && id !== 12),
  );
});

test('a page that fails changes nothing and can be requested again', async () => {
  const source = server(20);
  const list = listOf(source);
  await list.loadMore();
  const page = source.page;
  source.page = () => Promise.reject(new Error('away'));
  await assert.rejects(list.loadMore());
  await assert.rejects(list.refresh());
  assert.deepEqual(ids(list), idsDown(20, 10));
  source.page = page;
  await list.loadMore();
  assert.deepEqual(ids(list), idsDown(20, 20));
});

// A post as a view has it, and the requests that pressing its heart sends.
function heart({liked = false, count = 5, answers = []} = {}) {
  const post = {id: 7, has_liked: liked, like_count: count};
  const sent = [];
  const failures = [];
  const send = (name) => async () => {
    sent.push(name);
    await answers.shift()?.();
  };
  const likes = new Likes(
    {like: send('like'), unlike: send('unlike')},
    {tell: ({changes}) => Object.assign(post, changes)},
    (error) => failures.push(error),
  );
  return {post, sent, failures, toggle: () => likes.toggle(post)};
}

test('a heart is shown at once', async () => {
  const {post, sent, toggle} = heart();
  const done = toggle();
  assert.deepEqual(post, {id: 7, has_liked: true, like_count: 6});
  await done;
  await toggle();
  assert.deepEqual(post, {id: 7, has_liked: false, like_count: 5});
  assert.deepEqual(sent, ['like', 'unlike']);
});

test('a heart that the server refuses is undone', async () => {
  const {post, failures, toggle} = heart({answers: [() => Promise.reject(new Error('no'))]});
  await toggle();
  assert.deepEqual(post, {id: 7, has_liked: false, like_count: 5});
  assert.equal(failures.length, 1);
});

test('presses during a request send only the final difference', async () => {
  let release;
  const {post, sent, toggle} = heart({answers: [() => new Promise((resolve) => (release = resolve))]});
  const done = toggle();
  await Promise.all([toggle(), toggle(), toggle()]);
  release();
  await done;
  assert.deepEqual(sent, ['like', 'unlike']);
  assert.deepEqual(post, {id: 7, has_liked: false, like_count: 5});
});

test('counts, initials and colours of users', () => {
  assert.deepEqual([0, 9_999, 12_399, 1_250_000].map(shortCount), ['0', '9,999', '12.3K', '1.2M']);
  assert.deepEqual(['Ada Lovelace', 'ada.l', '', ' _x ', 'Jean Luc de Something', '🌿 Green'].map(initials), [
    'AL',
    'A',
    '?',
    'X',
    'JS',
    'G',
  ]);
  assert.equal(characters('a👍é'), 3);
  assert.ok(idsDown(50, 50).every((id) => hueOf(id) >= 0 && hueOf(id) <= 360 && hueOf(id) !== hueOf(id + 1)));
});

test('frames have the shape of the first picture, within reason', () => {
  assert.equal(frameRatio([{width: 600, height: 400}]), 1.5);
  assert.equal(frameRatio([{width: 100, height: 1_000}]), 0.8);
  assert.equal(frameRatio([{width: 3_000, height: 100}]), 1.91);
  assert.equal(frameRatio([]), 1);
  assert.deepEqual(['short', 'x'.repeat(161), 'a\nb\nc\nd'].map(isLong), [false, true, true]);
});

test('pictures that cannot be posted are detected before they are sent', () => {
  const file = (name, size = 1_000, type = 'image/png') => ({name, size, type});
  assert.deepEqual(admit(0, [file('a', pictureBytesMax)]), {accepted: [file('a', pictureBytesMax)], complaints: []});
  assert.deepEqual(admit(0, [file('a', pictureBytesMax + 1)]).complaints, [
    {name: 'a', reason: 'has 5.1 MB; a picture may have 5 MB.'},
  ]);
  assert.deepEqual(admit(0, [file('b', 0)]).complaints, [{name: 'b', reason: 'is empty.'}]);
  assert.match(admit(0, [file('c', 10, 'image/svg+xml')]).complaints[0].reason, /not a JPEG, PNG, GIF or WebP/);
  const {accepted, complaints} = admit(
    8,
    ['1', '2', '3', '4'].map((name) => file(name)),
  );
  assert.deepEqual(
    accepted.map(({name}) => name),
    ['1', '2'],
  );
  assert.deepEqual(
    complaints,
    ['3', '4'].map((name) => ({name, reason: 'was left out: a post has at most 10 pictures.'})),
  );
});

test('every picture that cannot be posted is named, and the good ones stay', () => {
  const file = (name, size = 1_000, type = 'image/png') => ({name, size, type});
  const {accepted, complaints} = admit(0, [
    file('a', 0),
    file('b'),
    file('c', 10, 'text/plain'),
    file('d'),
    file('e', 0),
  ]);
  assert.deepEqual(
    accepted.map(({name}) => name),
    ['b', 'd'],
  );
  assert.deepEqual(
    complaints.map(({name}) => name),
    ['a', 'c', 'e'],
  );
  const sent = ['x', 'y', 'z'].map((name) => file(name));
  const images = [{position: 0, message: 'the GIF file is broken'}, {position: 2}, {position: 9, message: 'no'}, {}];
  assert.deepEqual(refusedBy({code: 'invalid_image', images}, sent), [
    {candidate: sent[0], complaint: {name: 'x', reason: 'cannot be posted: the GIF file is broken.'}},
    {candidate: sent[2], complaint: {name: 'z', reason: 'cannot be posted.'}},
  ]);
  for (const details of [{}, {images: null}, {images: 3}]) assert.deepEqual(refusedBy(details, sent), []);
});

test('addresses of views', () => {
  assert.deepEqual(
    ['', '#', '#/'].map((hash) => parseRoute(hash).name),
    ['home', 'home', 'home'],
  );
  assert.deepEqual(parseRoute('#/users/12'), {name: 'profile', id: 12});
  assert.deepEqual(parseRoute('#/posts/7'), {name: 'post', id: 7});
  assert.deepEqual(parseRoute(searchHash('a&b c')), {name: 'search', query: 'a&b c'});
  for (const hash of ['#/users/0', '#/users/x', '#/posts/-1', '#/users/1/2', '#/nowhere'])
    assert.equal(parseRoute(hash).name, 'unknown');
});

test('three accounts must be followed, or all if there are fewer', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((following) => followsMissing(following, 20)),
    [3, 2, 1, 0, 0],
  );
  assert.deepEqual(
    [0, 1, 2].map((available) => followsMissing(0, available)),
    [0, 1, 2],
  );
});

test('input is checked before it is sent; an old password is not checked against new rules', () => {
  assert.equal(complaint('register', '', 'long enough')?.about, 'username');
  assert.equal(complaint('register', 'no spaces', 'long enough')?.about, 'username');
  assert.equal(complaint('register', 'ada', 'short')?.about, 'password');
  assert.equal(complaint('register', 'Ada.L_1', 'long enough'), undefined);
  assert.equal(complaint('sign-in', 'ada', 'short'), undefined);
});
