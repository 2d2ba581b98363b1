// The reader's lists and hidden stories, with a function as the server.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './support.js';

const {StoryList} = await load('apps/hackernews/web/story_list.ts');
const {HiddenStories} = await load('apps/hackernews/web/hidden.ts');

const story = (id) => ({id, title: `story ${id}`, by: 'x', score: 1, descendants: 0, time: ''});
const idsFrom = (start, count) => Array.from({length: count}, (_, i) => start + i);

function server(count) {
  const hidden = new Set();
  const asked = [];
  return {
    hidden,
    asked,
    list: idsFrom(0, count).map(story),
    async stories(_timespan, skip) {
      asked.push(skip);
      return this.list.filter(({id}) => !hidden.has(id)).slice(skip, skip + 500);
    },
  };
}

test('pages follow one another, until one is short', async () => {
  const source = server(1_200);
  const list = new StoryList(
    source,
    'Day',
    () => false,
    () => false,
  );
  await Promise.all([list.loadMore(), list.loadMore()]);
  assert.deepEqual(source.asked, [0], 'one request for two who ask at once');
  await list.loadMore();
  await list.loadMore();
  await list.loadMore();
  assert.deepEqual(source.asked, [0, 500, 1_000]);
  assert.equal(list.complete, true);
  assert.deepEqual(
    list.visible.map(({id}) => id),
    idsFrom(0, 1_200),
  );
});

test('hiding while scrolling down skips nothing', async () => {
  const source = server(1_200);
  const list = new StoryList(
    source,
    'Day',
    (id) => source.hidden.has(id),
    () => true,
  );
  await list.loadMore();
  for (const id of [1, 2, 3, 499]) source.hidden.add(id);
  await list.loadMore();
  for (const id of [700, 4]) source.hidden.add(id);
  await list.loadMore();
  assert.deepEqual(
    list.visible.map(({id}) => id),
    idsFrom(0, 1_200).filter((id) => !source.hidden.has(id)),
  );
});

test('the ranking changes between pages: nothing appears twice', async () => {
  const source = server(900);
  const list = new StoryList(
    source,
    'Day',
    () => false,
    () => false,
  );
  await list.loadMore();
  source.list = [story(5_000), ...source.list];
  await list.loadMore();
  assert.equal(new Set(list.visible.map(({id}) => id)).size, list.visible.length);
});

test('a refresh loads as many stories as before, in one request', async () => {
  const source = server(1_200);
  const list = new StoryList(
    source,
    'Day',
    () => false,
    () => false,
  );
  await list.loadMore();
  await list.loadMore();
  source.list = idsFrom(100, 1_200).map(story);
  await list.refresh();
  assert.deepEqual(
    list.visible.map(({id}) => id),
    idsFrom(100, 1_000),
  );
  assert.equal(list.complete, false);
  source.stories = async () => {
    throw new Error('down');
  };
  await assert.rejects(list.refresh());
  assert.equal(list.visible.length, 1_000, 'what was there stays');
});

test('going back loads as far as the reader had read, not counting hidden stories', async () => {
  const source = server(2_000);
  const hidden = new Set(idsFrom(0, 600));
  const list = new StoryList(
    source,
    'Day',
    (id) => hidden.has(id),
    () => false,
  );
  await list.refresh(700);
  assert.deepEqual(source.asked, [0, 500, 1_000]);
  assert.equal(list.visible.length, 900);
  assert.equal(list.complete, false);
  const short = new StoryList(
    server(30),
    'Day',
    () => false,
    () => false,
  );
  await short.refresh(700);
  assert.equal(short.visible.length, 30, 'or to the end');
  assert.equal(short.complete, true);
});

test('when a whole page is hidden, the first load continues until something can be shown', async () => {
  const source = server(1_200);
  const list = new StoryList(
    source,
    'Day',
    (id) => id < 500,
    () => false,
  );
  await list.refresh();
  assert.deepEqual(source.asked, [0, 500]);
  assert.equal(list.visible.length, 500);
});

function hiding({fail = () => false} = {}) {
  const log = [];
  const memory = {
    value: null,
    read() {
      return this.value;
    },
    write(value) {
      this.value = value;
    },
  };
  const call = (name) => async (id) => {
    await null;
    if (fail(name, id)) throw new Error('refused');
    log.push(`${name} ${id}`);
  };
  const made = new HiddenStories({hide: call('hide'), unhide: call('unhide')}, memory, () => {});
  return {log, memory, made};
}

test('before signing in, hidden stories are kept in the browser', async () => {
  const {log, memory, made} = hiding();
  await made.set(1, true);
  await made.set(2, true);
  await made.set(1, false);
  assert.equal(memory.value, '[2]');
  assert.deepEqual([made.has(1), made.has(2)], [false, true]);
  assert.deepEqual(log, []);
  await made.set(2, false);
  assert.equal(memory.value, null);
});

test('invalid stored data is ignored', () => {
  for (const value of ['{', '{"a": 1}', '[1, "2", -3, 1.5, null]', 'null']) {
    const memory = {read: () => value, write() {}};
    const made = new HiddenStories({}, memory, () => {});
    assert.equal(made.localCount, value.startsWith('[') ? 1 : 0);
  }
});

test('signed in: changes apply locally at once, then on the server, in order', async () => {
  const {log, made} = hiding();
  made.signedIn = true;
  const hide = made.set(7, true);
  assert.equal(made.has(7), true);
  const undo = made.set(7, false);
  assert.equal(made.has(7), false);
  await Promise.all([hide, undo]);
  assert.deepEqual(log, ['hide 7', 'unhide 7']);
  await Promise.all([made.set(8, true), made.set(8, false), made.set(8, true)]);
  assert.equal(log.at(-1), 'hide 8');
  assert.equal(made.has(8), true);
});

test('refused: the change is undone and the caller gets an error', async () => {
  const {made} = hiding({fail: (name) => name === 'hide'});
  made.signedIn = true;
  await assert.rejects(made.set(7, true), /refused/);
  assert.equal(made.has(7), false);
  // An undo before the refusal leaves nothing to report.
  await Promise.all([made.set(9, true), made.set(9, false)]);
  assert.equal(made.has(9), false);
});

test('a merge transfers each story, and keeps those that were refused', async () => {
  const {log, memory, made} = hiding({fail: (_name, id) => id === 3});
  for (const id of idsFrom(0, 20)) await made.set(id, true);
  made.signedIn = true;
  assert.deepEqual(await made.merge(), {merged: 19, left: 1});
  assert.equal(log.length, 19);
  assert.equal(memory.value, '[3]');
  assert.equal(made.has(3) && made.has(4), true);
  made.signOut();
  assert.deepEqual([made.has(3), made.has(4)], [true, false]);
});
