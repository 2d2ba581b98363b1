// The photo feed's page.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {answer, contrast, fitsWidth, nameless, patienceMs, useApps} from './support/apps.js';
import {FeedClient, feedFlags} from './support/feed_client.js';
import {caughtUp, firstPost, go, openFeed, phone, pictureFiles} from './support/feed_page.js';

const feedUrl = /\/apps\/feed\/feed(\?.*)?$/;
const nextPageUrl = /\/apps\/feed\/feed\?cursor=/;
const longCaption = 'A caption that needs more room than a card gives it at first. '.repeat(5).trim();

let client;
let authors;

// Three authors with 25 posts, some with several pictures of different shapes.
async function populate(context) {
  client = new FeedClient(context);
  authors = [];
  for (let i = 0; i < 3; ++i) authors.push(await client.account({kind: 'author'}));
  const shapes = [
    [60, 60],
    [80, 50],
    [40, 70],
  ];
  for (let i = 0; i < 25; ++i) {
    const sizes = Array.from({length: 1 + (i % 3)}, (_, k) => shapes[(i + k) % 3]);
    await client.post(authors[i % 2], {caption: i % 4 ? `Post ${i}` : longCaption, sizes});
  }
  await client.post(authors[2], {
    caption: 'The only one',
    sizes: [
      [90, 60],
      [60, 60],
      [50, 80],
    ],
  });
}

const context = useApps({flags: feedFlags, ready: populate});

const open = (options) => openFeed(context, options);
const reader = () => client.account({follows: authors});
const idsOf = (page) => page.$$eval('.feed .post[data-id]', (posts) => posts.map((post) => Number(post.dataset.id)));
// Waits until no transition is running.
const settled = (page) =>
  page.waitForFunction(() => document.getAnimations().every((animation) => !(animation instanceof CSSTransition)));
const likeOf = (page, id) => page.locator(`.post[data-id="${id}"] .like`);

async function scrollToEnd(page) {
  const isOver = () => page.locator('.foot-end').count();
  while (!(await isOver())) {
    const shown = await page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight);
      return document.querySelectorAll('.feed .post').length;
    });
    await page.waitForFunction(
      (shown) => document.querySelector('.foot-end') || document.querySelectorAll('.feed .post').length > shown,
      shown,
    );
  }
}

// A promise that the test resolves.
const latch = () => {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return {open, opened};
};

test('sign up, choose accounts, wait for the feed, see it', async () => {
  const {page, close} = await open();
  await page.getByRole('radio', {name: 'Create account', exact: true}).check();
  await page.fill('#username', client.newName('new'));
  await page.fill('#display-name', 'Robin Vale');
  await page.fill('#password', 'a long password');
  await page.getByRole('button', {name: 'Create account', exact: true}).click();
  await page.getByRole('heading', {name: 'Welcome, Robin Vale'}).waitFor();
  assert.equal(await page.locator('#navigation').isVisible(), false, 'nothing else to do yet');
  const proceed = page.getByRole('button', {name: 'Continue', exact: true});
  await page.getByRole('searchbox').fill(`${client.prefix}author`);
  for (const [i, {username}] of authors.entries()) {
    await page.getByText(`Choose ${3 - i} more`).waitFor();
    assert.equal(await proceed.isDisabled(), true);
    await page.getByRole('button', {name: `Follow ${username}`}).click();
  }
  await page.getByText('3 chosen').waitFor();
  // The feed takes a moment to appear.
  let asked = 0;
  await page.route(feedUrl, (route) =>
    ++asked === 1 ? answer({posts: [], next_cursor: null, has_more: false})(route) : route.continue(),
  );
  await proceed.click();
  await page.getByRole('heading', {name: 'Preparing your feed…'}).waitFor();
  await firstPost(page);
  assert.ok(asked >= 2);
  assert.deepEqual(new Set(await idsOf(page)).size, 10);
  await page.reload();
  await firstPost(page);
  assert.equal(await page.getByText('Preparing your feed').count(), 0, 'only the first time');
  await close();
});

test('signing in and signing up explain errors', async () => {
  const account = await client.account();
  const {page, close} = await open({allow: [401, 409]});
  const error = page.getByRole('alert');
  const signIn = page.getByRole('button', {name: 'Sign in', exact: true});
  await signIn.click();
  assert.match(await error.textContent(), /enter your username/);
  await page.fill('#username', account.username);
  await page.fill('#password', 'not the password');
  await signIn.click();
  await page.waitForFunction(() => document.getElementById('password').getAttribute('aria-invalid') === 'true');
  assert.notEqual(await error.textContent(), '');
  await page.getByRole('radio', {name: 'Create account', exact: true}).check();
  assert.equal(await error.isVisible(), false);
  const register = page.getByRole('button', {name: 'Create account', exact: true});
  await page.fill('#password', 'short');
  await register.click();
  assert.match(await error.textContent(), /at least 8/);
  await page.fill('#password', 'long enough');
  await register.click();
  await page.waitForFunction(() => document.getElementById('username').getAttribute('aria-invalid') === 'true');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'username');
  await close();
});

test('scrolling reaches the end, with every post once', async () => {
  const account = await reader();
  const {page, close} = await open({account});
  await firstPost(page);
  assert.ok((await idsOf(page)).length <= 20, 'not all at once');
  await scrollToEnd(page);
  assert.deepEqual(await idsOf(page), await client.feedIds(account));
  assert.equal((await idsOf(page)).length, 26);
  await close();
});

test('a failed page is reported at the foot, and can be requested again', async () => {
  let fails = true;
  const {page, close} = await open({
    account: await reader(),
    allow: [503],
    prepare: (page) =>
      page.route(nextPageUrl, (route) =>
        fails ? answer({error: {code: 'unavailable', message: 'the database is away'}}, 503)(route) : route.continue(),
      ),
  });
  await firstPost(page);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.getByText('More posts could not be loaded. The database is away.').waitFor();
  assert.equal((await idsOf(page)).length, 10);
  fails = false;
  await page.getByRole('button', {name: 'Try again', exact: true}).click();
  await scrollToEnd(page);
  assert.equal(new Set(await idsOf(page)).size, 26);
  await close();
});

test('new posts appear on top, by the button and by pulling', async () => {
  const author = await client.account();
  const first = await client.post(author, {caption: 'First'});
  const account = await client.account({follows: [author]});
  const {page, owner, close} = await open({account, ...phone});
  await firstPost(page);
  await caughtUp(page).waitFor();
  // Fan-out takes a while.
  const arrived = async (id) => {
    const deadline = Date.now() + patienceMs;
    while (!(await client.feedIds(account)).includes(id)) assert.ok(Date.now() < deadline);
  };
  const second = await client.post(author, {caption: 'Second'});
  await arrived(second.id);
  await page.getByRole('button', {name: 'Refresh', exact: true}).tap();
  await page.getByText('1 new post').first().waitFor();
  assert.deepEqual(await idsOf(page), [second.id, first.id]);
  const third = await client.post(author, {caption: 'Third'});
  await arrived(third.id);
  const touch = await owner.newCDPSession(page);
  const at = (type, y) =>
    touch.send('Input.dispatchTouchEvent', {type, touchPoints: y === undefined ? [] : [{x: 200, y}]});
  await at('touchStart', 200);
  for (let y = 220; y <= 420; y += 20) await at('touchMove', y);
  await page.getByText('Let go to refresh').waitFor();
  await at('touchEnd');
  await page.waitForSelector(`.post[data-id="${third.id}"]`);
  assert.deepEqual(await idsOf(page), [third.id, second.id, first.id]);
  await close();
});

test('an empty feed explains what to do', async () => {
  const {page, close} = await open({account: await client.account()});
  await page.getByText('Follow some accounts to see posts!').waitFor();
  await page.getByRole('button', {name: 'Find accounts', exact: true}).click();
  await page.getByRole('heading', {name: 'Find people'}).waitFor();
  await page.getByRole('searchbox').fill(authors[2].username);
  await page.getByRole('button', {name: `Follow ${authors[2].username}`}).click();
  await page.getByRole('button', {name: `Follow ${authors[2].username}`, pressed: true}).waitFor();
  await page.getByRole('button', {name: 'Done', exact: true}).click();
  await firstPost(page);
  await page.getByText('The only one').waitFor();
  await close();
});

test('an empty feed fills when the first follow is saved late', async () => {
  const {page, close} = await open({account: await client.account()});
  await page.getByRole('button', {name: 'Find accounts', exact: true}).click();
  const saved = latch();
  await page.route('**/users/*/follow', async (route) => {
    await saved.opened;
    await route.continue();
  });
  await page.getByRole('button', {name: `Follow ${authors[2].username}`}).click();
  await page.getByRole('button', {name: 'Done', exact: true}).click();
  await page.getByText('Follow some accounts to see posts!').waitFor();
  saved.open();
  await page.getByText('The only one').waitFor();
  await close();
});

test('an account followed during a search is shown as followed in its results', async () => {
  const {page, close} = await open({account: await client.account()});
  await page.getByRole('button', {name: 'Find accounts', exact: true}).click();
  const [, , {username}] = authors;
  const follow = page.getByRole('button', {name: `Follow ${username}`});
  await follow.waitFor();
  // The search results date from before the button was pressed. They arrive after the follow is saved, or before.
  for (const {text, savedFirst, pressed} of [
    {text: username, savedFirst: true, pressed: true},
    {text: username.slice(0, -1), savedFirst: false, pressed: false},
  ]) {
    const [searched, found, asked, saved] = [latch(), latch(), latch(), latch()];
    await page.route('**/users/search*', async (route) => {
      const response = await route.fetch();
      searched.open();
      await found.opened;
      await route.fulfill({response});
    });
    await page.route('**/users/*/follow', async (route) => {
      asked.open();
      await saved.opened;
      await route.continue();
    });
    const answered = {
      search: page.waitForResponse((response) => response.url().includes('/users/search')),
      follow: page.waitForResponse((response) => response.url().endsWith('/follow')),
    };
    await page.getByRole('searchbox').fill(text);
    await searched.opened;
    await follow.click();
    await asked.opened;
    for (const first of [savedFirst, !savedFirst]) {
      (first ? saved : found).open();
      await (first ? answered.follow : answered.search);
    }
    await page.getByRole('list', {name: 'People found'}).waitFor();
    await page.getByRole('button', {name: `Follow ${username}`, pressed}).waitFor();
    // Not earlier: the browser would stop holding back requests while one is held.
    await page.unrouteAll({behavior: 'wait'});
  }
  await close();
});

test('a heart counts at once, and is undone if it fails', async () => {
  const {page, close} = await open({account: await reader(), allow: [500]});
  await firstPost(page);
  const [id] = await idsOf(page);
  const like = likeOf(page, id);
  const count = async () => Number(await like.textContent());
  const before = await count();
  const saved = page.waitForResponse((response) => response.url().endsWith(`/posts/${id}/like`));
  await like.click();
  assert.equal(await like.getAttribute('aria-pressed'), 'true');
  assert.equal(await count(), before + 1);
  assert.equal((await saved).status(), 201);
  await page.reload();
  await firstPost(page);
  assert.equal(await like.getAttribute('aria-pressed'), 'true', 'stored on the server');
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/posts/*/like', async (route) => {
    await held;
    await answer({error: {code: 'internal', message: 'the disk is full'}}, 500)(route);
  });
  await like.click();
  assert.equal(await like.getAttribute('aria-pressed'), 'false');
  assert.equal(await count(), before);
  release();
  await page.locator('.toast-bad').getByText('The disk is full.').waitFor();
  assert.equal(await like.getAttribute('aria-pressed'), 'true');
  assert.equal(await count(), before + 1);
  await page.unroute('**/posts/*/like');
  const gone = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await like.click();
  assert.equal((await gone).status(), 204);
  await close();
});

test('comments and replies: written, counted, deleted', async () => {
  const author = await client.account();
  const post = await client.post(author, {caption: 'Talk'});
  await client.ask('POST', `posts/${post.id}/comments`, {token: author.token, body: {text: 'Anybody here?'}});
  const {page, close} = await open({account: await client.account({follows: [author]})});
  await firstPost(page);
  await page.getByRole('button', {name: '1 comment', exact: true}).click();
  const sheet = page.getByRole('dialog', {name: 'Comments', exact: true});
  await sheet.getByText('Anybody here?').waitFor();
  await sheet.getByRole('button', {name: `Reply to ${author.username}`}).click();
  await sheet.getByText(`Reply to ${author.username}`).first().waitFor();
  await page.keyboard.type('I am <b>here</b>.');
  await sheet.getByRole('button', {name: 'Send', exact: true}).click();
  await sheet.locator('.replies .comment').getByText('I am <b>here</b>.').waitFor();
  await sheet.getByRole('textbox').fill('And a comment of my own');
  await sheet.getByRole('button', {name: 'Send', exact: true}).click();
  await sheet.locator('.comment-list > .comment').nth(1).waitFor();
  assert.equal(await sheet.getByRole('textbox').inputValue(), '');
  await sheet
    .locator('.comment-list > .comment')
    .nth(1)
    .getByRole('button', {name: 'Delete your comment', exact: true})
    .click();
  await page
    .getByRole('dialog', {name: 'Delete this comment?', exact: true})
    .getByRole('button', {name: 'Delete', exact: true})
    .click();
  await sheet.getByText('And a comment of my own').waitFor({state: 'detached'});
  await page.keyboard.press('Escape');
  await sheet.waitFor({state: 'detached'});
  await page.getByRole('button', {name: '2 comments', exact: true}).waitFor();
  await go(page, `#/posts/${post.id}`);
  await page.locator('.replies').getByText('I am <b>here</b>.').waitFor();
  await page.getByText('2 comments').waitFor();
  await close();
});

test('a post with several pictures: chosen, checked, sent with progress, and then on the profile', async () => {
  const {page, owner, close} = await open({account: await client.account(), allow: [400]});
  await page.getByRole('link', {name: 'Post', exact: true}).click();
  const share = page.getByRole('button', {name: 'Share', exact: true});
  const error = page.getByRole('alert');
  assert.equal(await share.isDisabled(), true);
  await page.setInputFiles('#pictures', [
    ...pictureFiles(3),
    {name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x')},
    {name: 'huge.png', mimeType: 'image/png', buffer: Buffer.alloc(5 * 1024 * 1024 + 1)},
  ]);
  await error.getByText('“notes.txt” is not a JPEG, PNG, GIF or WebP picture.').waitFor();
  await error.getByText('“huge.png” has 5.1 MB; a picture may have 5 MB.').waitFor();
  await page.setInputFiles('#pictures', pictureFiles(9));
  for (const name of ['picture 8.png', 'picture 9.png'])
    await error.getByText(`“${name}” was left out: a post has at most 10 pictures.`).waitFor();
  assert.equal(await page.locator('.preview').count(), 10);
  for (let left = 10; left > 3; --left) await page.locator('.preview-remove').last().click();
  await page.setInputFiles('#pictures', [
    {name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('not a picture')},
  ]);
  await error.getByText('“broken.png” cannot be read as a picture.').waitFor();
  assert.equal(await page.locator('.preview').count(), 3);
  await page.fill('#caption', 'x'.repeat(2_201));
  assert.equal(await share.isDisabled(), true);
  await page.fill('#caption', 'Three 👍 of them');
  await page.getByText('15 / 2,200').waitFor();
  // A refusal keeps everything.
  await page.route('**/apps/feed/posts', answer({error: {code: 'invalid_image', message: 'image 2 is broken'}}, 400), {
    times: 1,
  });
  await share.click();
  await error.getByText('Image 2 is broken.').waitFor();
  assert.equal(await page.inputValue('#caption'), 'Three 👍 of them');
  await page.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => window.seen.push(document.querySelector('.sending p').textContent)).observe(
      document.querySelector('.sending'),
      {subtree: true, childList: true, characterData: true},
    );
  });
  const network = await owner.newCDPSession(page);
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 400_000,
  });
  await share.click();
  await page.waitForURL(/#\/users\/\d+$/);
  const seen = await page.evaluate(() => window.seen);
  assert.ok(
    seen.some((text) => /^Uploading… [1-9]\d? %$/.test(text)),
    JSON.stringify(seen),
  );
  await page.getByRole('link', {name: 'Post by', exact: false}).click();
  await page.locator('.post-full').waitFor();
  assert.deepEqual(
    await page.$$eval('.slide img', (images) => images.map(({width, height}) => Boolean(width && height))),
    [true, true, true],
  );
  await page.getByText('Three 👍 of them').waitFor();
  await close();
});

test('an upload can be cancelled, and the form keeps its content', async () => {
  const account = await client.account();
  const {page, owner, close} = await open({account, hash: '#/new'});
  await page.setInputFiles('#pictures', pictureFiles(1));
  const network = await owner.newCDPSession(page);
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 4_000,
  });
  await page.getByRole('button', {name: 'Share', exact: true}).click();
  await page.getByText('Uploading…').waitFor();
  await page.getByRole('button', {name: 'Cancel', exact: true}).click();
  await page.locator('.sending').waitFor({state: 'hidden'});
  assert.equal(await page.locator('.preview').count(), 1);
  assert.equal(await page.getByRole('button', {name: 'Share', exact: true}).isEnabled(), true);
  assert.equal((await client.ask('GET', `users/${account.id}`)).post_count, 0);
  await close();
});

test('one’s own post: the caption can be changed, and deleting asks first', async () => {
  const account = await client.account();
  const post = await client.post(account, {caption: 'Before'});
  const {page, close} = await open({account, allow: [404]});
  await go(page, `#/posts/${post.id}`);
  await page.getByRole('button', {name: 'Edit the caption', exact: true}).click();
  await page.getByRole('textbox', {name: 'Caption', exact: true}).fill('After');
  await page.getByRole('button', {name: 'Save', exact: true}).click();
  await page.locator('.post-caption').getByText('After').waitFor();
  const remove = page.getByRole('button', {name: 'Delete the post', exact: true});
  await remove.click();
  await page.getByRole('button', {name: 'Keep it', exact: true}).click();
  assert.equal((await client.ask('GET', `posts/${post.id}`)).caption, 'After');
  await remove.click();
  await page.getByRole('dialog').getByRole('button', {name: 'Delete', exact: true}).click();
  await page.getByText('No posts yet').waitFor();
  await go(page, `#/posts/${post.id}`);
  await page.getByText('This post is not here').waitFor();
  await close();
});

test('a profile: counts, a grid without repeats, followers', async () => {
  const account = await client.account();
  const [author] = authors;
  const {page, close} = await open({account});
  await go(page, `#/users/${author.id}`);
  await page.waitForFunction(() => document.querySelectorAll('.grid [data-id]').length === 13);
  const ids = await page.$$eval('.grid [data-id]', (tiles) => tiles.map(({dataset}) => Number(dataset.id)));
  assert.equal(new Set(ids).size, 13);
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => b - a),
  );
  const followers = page.getByRole('button', {name: /followers?$/});
  const before = Number(await followers.locator('strong').textContent());
  const follow = page.getByRole('button', {name: `Follow ${author.username}`});
  await follow.click();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.profile-counts strong')[1].textContent === String(count),
    before + 1,
  );
  await followers.click();
  await page.getByRole('dialog', {name: 'Followers', exact: true}).getByText(`@${account.username}`).waitFor();
  await page.keyboard.press('Escape');
  await follow.click();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.profile-counts strong')[1].textContent === String(count),
    before,
  );
  await close();
});

test('visitors see posts and people; actions that need an account ask for one', async () => {
  const {page, close} = await open({hash: `#/users/${authors[2].id}`});
  await page.locator('.grid [data-id]').first().click();
  const invitation = page.locator('.comment-form p');
  assert.equal(await invitation.innerText(), 'Sign in to comment.', 'one sentence, in one line');
  await page.locator('.post-full .like').click();
  const account = await client.account();
  await page.fill('#username', account.username);
  await page.fill('#password', account.password);
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  await page.locator('.post-full').waitFor(); // Where they were before.
  await close();
});

test('pictures of a post: by arrow and by key, and going back restores the place', async () => {
  const {page, close} = await open({account: await reader()});
  await firstPost(page);
  const card = page.locator('.post').filter({hasText: 'The only one'});
  const place = card.locator('.carousel-place');
  assert.equal(await place.textContent(), '1 / 3');
  await card.getByRole('button', {name: 'Next picture', exact: true}).click();
  await card.locator('.carousel-place', {hasText: '2 / 3'}).waitFor();
  await card.locator('.track').focus();
  await page.keyboard.press('ArrowRight');
  await card.locator('.carousel-place', {hasText: '3 / 3'}).waitFor();
  await scrollToEnd(page);
  const last = page.locator('.feed .post').last().locator('.post-time');
  await last.scrollIntoViewIfNeeded();
  const y = await page.evaluate(() => scrollY);
  assert.ok(y > 1_000);
  await last.click();
  await page.locator('.post-full').waitFor();
  await page.goBack();
  await firstPost(page);
  const back = await page.evaluate(() => scrollY);
  assert.ok(Math.abs(back - y) < 2, `from ${y} to ${back}`);
  await close();
});

test('two tabs share a session, and end it together', async () => {
  const account = await reader();
  const one = await open({account, allow: [401]});
  await firstPost(one.page);
  const two = await open({owner: one.owner, allow: [401]});
  await firstPost(two.page);
  for (let i = 0; i < 3; ++i) {
    await Promise.all([one.page.reload(), two.page.reload()]);
    await Promise.all([firstPost(one.page), firstPost(two.page)]);
  }
  // A token that the server no longer accepts.
  let refused = 0;
  await one.page.route(feedUrl, (route) =>
    ++refused === 1 ? answer({error: {code: 'unauthenticated', message: 'expired'}}, 401)(route) : route.continue(),
  );
  const refreshed = one.page.waitForResponse((response) => response.url().endsWith('/auth/refresh'));
  await one.page.getByRole('button', {name: 'Refresh', exact: true}).click();
  assert.equal((await refreshed).status(), 200);
  await one.page.getByText('You are up to date.').first().waitFor();
  assert.equal(
    await one.page.evaluate(() =>
      Object.values({...localStorage, ...sessionStorage}).some((value) => value.split('.').length > 2),
    ),
    false,
    'no token is stored',
  );
  await one.page.getByRole('link', {name: 'Profile', exact: true}).click();
  await one.page.getByRole('button', {name: 'Sign out', exact: true}).click();
  await one.page.getByText('Signed out.').first().waitFor();
  await two.page.waitForSelector('#username');
  await two.close();
});

test('dark if the system is, and readable in both themes', async () => {
  const account = await reader();
  for (const colorScheme of ['light', 'dark']) {
    const {page, close} = await open({account, colorScheme});
    await firstPost(page);
    const brightness = await page.evaluate(() =>
      Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]),
    );
    assert.equal(brightness < 60, colorScheme === 'dark');
    await settled(page);
    const words = await contrast(page, '.author, .post-time, .caption, .like, .nav-link span, .more');
    assert.ok(words >= 4.5, `${colorScheme}: contrast ${words}`);
    await close();
  }
});

test('a phone: nothing overflows, touch targets are large enough, everything has a name', async () => {
  const account = await reader();
  for (const width of [320, 390]) {
    const {page, close} = await open({...phone, viewport: {width, height: 740}, account});
    const views = {
      '#/': '.feed .post',
      '#/search': '.person',
      '#/new': '.drop',
      '#/welcome': '.person',
      [`#/users/${authors[0].id}`]: '.grid [data-id]',
      [`#/users/${account.id}`]: '.state',
      [`#/posts/${(await client.feedIds(account))[0]}`]: '.comment-form',
    };
    for (const [hash, selector] of Object.entries(views)) {
      await go(page, hash);
      await page.waitForSelector(selector);
      assert.ok(await fitsWidth(page), `${hash} at ${width}`);
      const wide = await page.$$eval('main *', (elements) =>
        elements
          .filter(
            (element) =>
              !element.closest('.track, .visually-hidden') && element.getBoundingClientRect().right > innerWidth + 1,
          )
          .map((element) => element.className),
      );
      assert.deepEqual(wide, [], `${hash} at ${width}`);
      const small = await page.$$eval(
        '.nav-link, .post-actions button, .bar button, .follow',
        (elements) =>
          elements
            .map((element) => element.getBoundingClientRect())
            .filter((box) => box.width > 0 && (box.width < 44 || box.height < 44)).length,
      );
      assert.equal(small, 0, `${hash} at ${width}`);
      assert.deepEqual(await nameless(page), [], hash);
    }
    await close();
  }
});

test('nothing moves while pictures load', async () => {
  const {page, close} = await open({
    account: await reader(),
    prepare: (page) =>
      page.addInitScript(() => {
        let moved = 0;
        const add = (entries) => {
          for (const entry of entries) if (!entry.hadRecentInput) moved += entry.value;
        };
        const observer = new PerformanceObserver((list) => add(list.getEntries()));
        observer.observe({type: 'layout-shift', buffered: true});
        window.movedBy = () => {
          add(observer.takeRecords());
          return moved;
        };
      }),
  });
  await firstPost(page);
  await page.reload();
  await firstPost(page);
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.slide img')]
      .filter((image) => image.getBoundingClientRect().top < innerHeight)
      .every(({complete}) => complete),
  );
  // Layout shifts of a frame are reported once it is drawn.
  const moved = await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.movedBy())))),
  );
  assert.ok(moved < 0.05, `moved by ${moved}`);
  await close();
});
