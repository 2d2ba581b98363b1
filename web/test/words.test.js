// Times, numbers, addresses and errors in readable form.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './support.js';

const {relativeTime, exactTime} = await load('web/design/time.ts');
const {noun, plural, safeUrl, sentence, siteName} = await load('web/design/format.ts');
const {getJson, messageOf} = await load('web/design/http.ts');
const {listedText, statusLine} = await load('apps/hackernews/web/status.ts');
const {snippet, splitAddress} = await load('apps/front/web/snippets.ts');

const now = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test('relative time, in whole elapsed units', () => {
  const cases = [
    [0, 'just now'],
    [59_000, 'just now'],
    [-30_000, 'just now'],
    [minute, '1 minute ago'],
    [119 * minute, '1 hour ago'],
    [23 * hour, '23 hours ago'],
    [day, '1 day ago'],
    [8 * day, '1 week ago'],
    [45 * day, '1 month ago'],
    [800 * day, '2 years ago'],
    [-2 * hour, 'in 2 hours'],
    [NaN, ''],
  ];
  for (const [age, text] of cases) assert.equal(relativeTime(now - age, now), text);
  assert.equal(relativeTime(now - 3 * hour, now, {style: 'narrow'}), '3h ago');
  assert.equal(relativeTime(now - 3 * hour, now, {locale: 'de'}), 'vor 3 Stunden');
  assert.equal(exactTime(NaN), '');
});

test('numbers and plurals', () => {
  assert.equal(plural(1, 'point'), '1 point');
  assert.equal(plural(2_014, 'story', 'stories'), '2,014 stories');
  assert.deepEqual(
    [0, 1, 2].map((value) => noun(value, 'like')),
    ['likes', 'like', 'likes'],
  );
  assert.deepEqual(['', 'the disk is full', 'Wait!'].map(sentence), ['', 'The disk is full.', 'Wait!']);
});

test('only http and https become links', () => {
  assert.equal(siteName(safeUrl('https://www.example.com/a')), 'example.com');
  assert.equal(siteName(safeUrl('http://sub.example.com:81')), 'sub.example.com');
  for (const text of [undefined, '', 'no url', 'javascript:alert(1)', 'data:text/html,x', ' JaVaScRiPt:x'])
    assert.equal(safeUrl(text), undefined);
});

test('errors in both forms, and answers that are not errors', () => {
  assert.equal(messageOf('{"error": "no"}'), 'no');
  assert.equal(messageOf('{"error": {"code": 1, "message": "no"}}'), 'no');
  for (const text of ['', '<html>', '{}', '{"error": 3}', 'null']) assert.equal(messageOf(text), undefined);
});

test('failed requests have readable messages', async (t) => {
  const asked = t.mock.method(
    globalThis,
    'fetch',
    async () => new Response('{"error": "slow down"}', {status: 429, headers: {'retry-after': '90'}}),
  );
  await assert.rejects(getJson('x'), {name: 'HttpError', status: 429, message: 'slow down', retryAfterSeconds: 90});
  asked.mock.mockImplementation(async () => new Response('<html>bad gateway', {status: 502}));
  await assert.rejects(getJson('x'), {status: 502, message: 'The server answered with an error (502).'});
  asked.mock.mockImplementation(async () => new Response('garbage'));
  await assert.rejects(getJson('x'), {message: 'The server sent an answer that makes no sense.'});
  asked.mock.mockImplementation(async () => {
    throw new TypeError('failed to fetch');
  });
  await assert.rejects(getJson('x'), {status: 0, message: 'The server cannot be reached.'});
  asked.mock.mockImplementation(
    (_, {signal}) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  // The timeout's timer does not keep the process alive; in a browser there is always a page.
  const alive = setInterval(() => {}, 1_000);
  await assert.rejects(getJson('x', {timeoutMs: 10}), {status: 0, message: 'The server took too long to answer.'});
  clearInterval(alive);
});

test('the status line', () => {
  const at = (age) => new Date(now - age).toISOString();
  const status = (more) => ({
    worker: {lastRun: at(4 * minute), failed: false, running: false},
    hasStories: true,
    source: {ok: true, since: null},
    ...more,
  });
  const text = (more) => statusLine(more === null ? null : status(more), now).text;
  assert.equal(text({}), 'updated 4 minutes ago');
  assert.equal(
    text({source: {ok: false, since: at(10 * minute)}}),
    'Hacker News cannot be reached; showing stories from 10 minutes ago.',
  );
  assert.equal(
    text({source: {ok: false, since: null}}),
    'Hacker News cannot be reached; showing stories from 4 minutes ago.',
  );
  assert.equal(text({source: {ok: false, since: at(minute)}, hasStories: false}), 'Hacker News cannot be reached.');
  assert.equal(
    text({worker: {lastRun: at(hour), failed: true, running: false}}),
    'The last update, 1 hour ago, failed; another will be tried.',
  );
  assert.equal(text({worker: {lastRun: null, failed: false, running: true}}), 'being brought up to date');
  assert.equal(text({worker: {lastRun: null, failed: false, running: true}, hasStories: false}), '');
  assert.match(text({hasStories: null}), /database cannot be reached/);
  assert.match(text(null), /server cannot be reached/);
  assert.equal(statusLine(null, now).warn, true);
  assert.equal(statusLine(status({}), now).warn, false);
});

test('the count is that of the list, and shows when there may be more', () => {
  assert.equal(listedText({count: 1, more: false}), '1 story');
  assert.equal(listedText({count: 1_998, more: false}), '1,998 stories');
  assert.equal(listedText({count: 500, more: true}), '500+ stories');
});

test('snippets contain the address', () => {
  assert.deepEqual(splitAddress('[::1]:8080'), {host: '::1', port: '8080'});
  assert.deepEqual(splitAddress('hearth.local'), {host: 'hearth.local', port: '80'});
  for (const language of ['node', 'web', 'cpp']) {
    const {code} = snippet(language, '127.0.0.1:4711', 'some-project');
    for (const part of ['127.0.0.1', '4711', 'some-project']) assert.ok(code.includes(part), `${language}: ${part}`);
  }
});
