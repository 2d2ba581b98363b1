// The photo feed's session: when tokens are refreshed, and by which tab.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './support.js';

const {Session, refreshDelayMs, HttpError} = await load('apps/feed/web/session.ts', 'web/design/http.ts');

const settle = async () => {
  for (let i = 0; i < 50; ++i) await Promise.resolve();
};

// A browser whose tabs share a cookie, with a manual clock, and a server with numbered tokens.
class Browser {
  now = 1_000_000;
  cookie = 0;
  valid = new Set();
  asked = [];
  failure = null;
  #stored = new Map();
  #timers = [];
  #tail = Promise.resolve();

  #tokens() {
    const token = `t${++this.cookie}`;
    this.valid = new Set([...this.valid, `Bearer ${token}`]);
    return {access_token: token, expires_in: 900, user: {id: 1, username: 'ada'}};
  }

  ask = async (_method, path, {headers = {}} = {}) => {
    this.asked.push(path);
    if (this.failure) throw this.failure;
    if (path === 'auth/login') return this.#tokens();
    if (path === 'auth/logout') return undefined;
    if (path === 'auth/refresh') {
      const used = this.cookie;
      await settle(); // Enough time for another tab to use the same cookie.
      if (used === 0 || used !== this.cookie) throw new HttpError('reused', 401);
      return this.#tokens();
    }
    if (!this.valid.has(headers.authorization)) throw new HttpError('expired', 401);
    return headers.authorization;
  };

  openTab() {
    const told = [];
    const session = new Session(
      {
        ask: this.ask,
        exclusively: (run) => {
          const mine = this.#tail.then(run);
          this.#tail = mine.catch(() => undefined);
          return mine;
        },
        now: () => this.now,
        later: (run, milliseconds) => this.#timers.push({at: this.now + milliseconds, run}),
        read: (key) => this.#stored.get(key) ?? null,
        write: (key, value) => (value === null ? this.#stored.delete(key) : this.#stored.set(key, value)),
      },
      {onUser: (_user, why) => told.push(why)},
    );
    return {session, told};
  }

  async advance(milliseconds) {
    this.now += milliseconds;
    const due = this.#timers.filter(({at}) => at <= this.now);
    this.#timers = this.#timers.filter(({at}) => at > this.now);
    for (const {run} of due) run();
    await settle();
    await settle();
  }

  count(path) {
    return this.asked.filter((asked) => asked === path).length;
  }
  remember(key, value) {
    this.#stored.set(key, value);
  }
}

async function signedIn() {
  const browser = new Browser();
  const tab = browser.openTab();
  await tab.session.signIn({username: 'ada', password: 'secret'});
  return {browser, ...tab};
}

test('a token is used until a minute before it expires, a short-lived one for half its lifetime', () => {
  assert.deepEqual([900, 60, 0].map(refreshDelayMs), [840_000, 30_000, 0]);
});

test('a token is refreshed before it expires, repeatedly, even if no request needs it', async () => {
  const {browser, session} = await signedIn();
  await browser.advance(839_000);
  assert.equal(browser.count('auth/refresh'), 0);
  await browser.advance(1_000);
  assert.equal(browser.count('auth/refresh'), 1);
  await browser.advance(840_000);
  assert.equal(browser.count('auth/refresh'), 2);
  assert.equal(await session.request('GET', 'feed'), 'Bearer t3');
});

test('a request with an expired token gets a new one first', async () => {
  const {browser, session} = await signedIn();
  browser.now += 900_000; // The computer slept: no timer ran.
  assert.equal(await session.request('GET', 'feed'), 'Bearer t2');
  assert.deepEqual(browser.asked, ['auth/login', 'auth/refresh', 'feed']);
});

test('a token that the server refuses is refreshed once, for all waiting requests', async () => {
  const {browser, session} = await signedIn();
  browser.valid.clear();
  assert.deepEqual(await Promise.all([session.request('GET', 'feed'), session.request('GET', 'me')]), [
    'Bearer t2',
    'Bearer t2',
  ]);
  assert.equal(browser.count('auth/refresh'), 1);
});

test('a request that is also refused with a fresh token is not retried forever', async () => {
  const {session} = await signedIn();
  let tries = 0;
  await assert.rejects(
    session.withToken(async () => {
      ++tries;
      throw new HttpError('no', 401);
    }),
  );
  assert.equal(tries, 2);
});

test('two tabs never use the same refresh token', async () => {
  const {browser, session} = await signedIn();
  const other = browser.openTab();
  await other.session.restore();
  await browser.advance(840_000);
  await Promise.all([session.request('GET', 'feed'), other.session.request('GET', 'feed')]);
  assert.deepEqual(other.told, []);
  assert.equal(session.user?.username, 'ada');
  assert.equal(other.session.user?.username, 'ada');
});

test('a session that the server has ended also ends here, and its name is forgotten', async () => {
  const {browser, session, told} = await signedIn();
  browser.cookie = 0;
  browser.valid.clear();
  await assert.rejects(session.request('GET', 'feed'), /expired/);
  assert.deepEqual(told, ['signed-in', 'ended']);
  assert.equal(session.user, null);
  assert.equal(session.isRemembered, false);
});

test('a missing answer does not end the session', async () => {
  const {browser, session, told} = await signedIn();
  browser.failure = new HttpError('away', 0);
  await browser.advance(900_000);
  await assert.rejects(session.request('GET', 'feed'), /away/);
  assert.deepEqual(told, ['signed-in']);
  browser.failure = null;
  assert.equal(await session.request('GET', 'feed'), 'Bearer t2');
});

test('only a browser that was signed in before asks for its previous session', async () => {
  const browser = new Browser();
  assert.equal(await browser.openTab().session.restore(), null);
  assert.deepEqual(browser.asked, []);
});

test('a page that was closed during a refresh gets time for its cookie', async () => {
  const {browser} = await signedIn();
  browser.remember('hearth-feed-refreshing', String(browser.now - 500));
  const {session} = browser.openTab();
  const restored = session.restore();
  await browser.advance(900);
  assert.equal(browser.count('auth/refresh'), 0);
  await browser.advance(100);
  assert.equal((await restored)?.username, 'ada');
});

test('signing out notifies the server first', async () => {
  const {browser, session, told} = await signedIn();
  await session.signOut();
  assert.equal(browser.asked.at(-1), 'auth/logout');
  assert.deepEqual(told, ['signed-in', 'signed-out']);
  assert.equal(await session.request('GET', 'x').catch(({message}) => message), 'expired');
});
