// The photo feed's page with realistic content: long names, long texts, other scripts, deleted posts.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fitsWidth, useApps} from './support/apps.js';
import {FeedClient, feedFlags} from './support/feed_client.js';
import {caughtUp, firstPost, go, openFeed, phone, pictureFiles} from './support/feed_page.js';
import {png} from './support/png.js';

let client;
const context = useApps({
  flags: feedFlags,
  ready: (context) => {
    client = new FeedClient(context);
  },
});
const open = (options) => openFeed(context, options);

// Names of the maximum length: without a place to break them, and in letters of different widths.
async function longNames() {
  const named = (length) => client.newName('w').padEnd(length, 'w');
  const profiles = [
    {username: named(22)},
    {username: named(30)},
    {display_name: 'W'.repeat(40)},
    {display_name: `${'Wide Words '.repeat(5)}end`},
    {display_name: '漢字仮名'.repeat(15)},
    {display_name: '👩‍👩‍👧‍👦'.repeat(8), bio: 'W'.repeat(150)},
    {display_name: 'שלום'.repeat(10)},
  ];
  return Promise.all(profiles.map(({username = named(22), ...profile}) => client.account({username, profile})));
}

// Nothing is wider than the screen, and the bar at its foot is fully visible.
async function assertInside(page, what) {
  assert.ok(await fitsWidth(page), `${what} scrolls sideways`);
  const outside = await page.evaluate(
    (width) =>
      [...document.querySelectorAll('main *, dialog[open], dialog[open] *, .navigation, .nav-link, .bar *')]
        // Text that ends in an ellipsis is cut off on purpose.
        .filter(
          (element) =>
            !element.closest('.track, .visually-hidden') &&
            getComputedStyle(element.parentElement).textOverflow !== 'ellipsis',
        )
        .filter((element) => {
          const {left, right} = element.getBoundingClientRect();
          return left < -1 || right > width + 1;
        })
        .map((element) => element.className || element.tagName),
    page.viewportSize().width,
  );
  assert.deepEqual(outside, [], what);
  const bar = await page.locator('.navigation').boundingBox();
  assert.ok(
    bar.x >= 0 && bar.y >= 0 && bar.y + bar.height <= page.viewportSize().height + 1,
    `${what}: the bar is at ${JSON.stringify(bar)}`,
  );
}

const linesOf = (locator) =>
  locator.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({bottom}) => Math.round(bottom))).size;
  });

test('the longest names and words fit a phone’s screen', async () => {
  const long = await longNames();
  const word = 'Donaudampfschiff'.repeat(20);
  const posts = [];
  for (const author of long) posts.push(await client.post(author, {caption: word}));
  const account = await client.account({
    username: client.newName('r').padEnd(30, 'w'),
    follows: long,
    profile: {display_name: 'W'.repeat(60)},
  });
  for (const author of long) await client.comment(author, posts[0], word);
  for (const author of long.slice(1)) await client.ask('POST', `users/${long[0].id}/follow`, {token: author.token});
  for (const width of [390, 320]) {
    const {page, close} = await open({...phone, viewport: {width, height: 740}, account});
    const inside = (what) => assertInside(page, `${what} at ${width}`);
    const closeDialog = async () => {
      await page.locator('dialog[open]').getByRole('button', {name: 'Close', exact: true}).click();
      await page.locator('dialog[open]').waitFor({state: 'detached'});
    };
    await page.waitForFunction(
      (count) => document.querySelectorAll('.feed .post[data-id]').length === count,
      long.length,
    );
    await inside('home');
    await page.locator(`.post[data-id="${posts[0].id}"] [aria-haspopup="dialog"]`).click();
    await page.waitForFunction((count) => document.querySelectorAll('dialog .comment').length === count, long.length);
    await page.getByRole('button', {name: `Reply to ${long[1].username}`}).click();
    await inside('comments');
    assert.equal(await linesOf(page.getByRole('button', {name: 'Cancel', exact: true})), 1);
    await closeDialog();
    for (const [i, author] of long.entries()) {
      await go(page, `#/users/${author.id}`);
      await page.waitForSelector(`.grid [data-id="${posts[i].id}"]`);
      await inside(`profile ${i}`);
      await go(page, `#/posts/${posts[i].id}`);
      await page.waitForSelector(`.post-full[data-id="${posts[i].id}"]`);
      await inside(`post ${i}`);
    }
    await go(page, `#/users/${account.id}`);
    await page.getByRole('button', {name: /following$/}).click();
    await page.waitForFunction(
      (count) => document.querySelectorAll('dialog .person[data-id]').length === count,
      long.length,
    );
    await inside('following');
    await closeDialog();
    await go(page, `#/users/${long[0].id}`);
    await page.getByRole('button', {name: /followers$/}).click();
    await page.waitForFunction(
      (count) => document.querySelectorAll('dialog .person[data-id]').length === count,
      long.length,
    );
    await inside('followers');
    await closeDialog();
    await go(page, '#/search');
    await page.getByRole('searchbox').fill('W'.repeat(100));
    await page.getByText('Nobody found').waitFor();
    await inside('a search in vain');
    await page.getByRole('searchbox').fill('W'.repeat(40));
    await page.locator(`.person[data-id="${long[2].id}"]`).waitFor();
    await inside('search');
    await go(page, '#/welcome');
    await page.waitForSelector('.person');
    await inside('welcome');
    await go(page, '#/new');
    await page.setInputFiles('#pictures', [
      {name: `${word}.txt`, mimeType: 'text/plain', buffer: Buffer.from('x')},
      {name: `${word}.png`, mimeType: 'image/png', buffer: png(60, 60)},
    ]);
    await page.fill('#caption', word);
    await page.locator('.preview').waitFor();
    await page.getByRole('alert').getByText('is not a JPEG').waitFor();
    await inside('the composer');
    await close();
  }
});

test('the greeting of a new user with the longest name fits a phone’s screen', async () => {
  const account = await client.account({isNew: true, profile: {display_name: 'W'.repeat(60)}});
  const {page, close} = await open({...phone, viewport: {width: 320, height: 740}, account});
  await page.getByRole('heading', {name: /^Welcome, W/}).waitFor();
  assert.ok(await fitsWidth(page));
  await close();
});

test('a long caption keeps the picture and the comments on a desktop’s screen', async () => {
  const author = await client.account();
  const account = await client.account({follows: [author]});
  const posts = [];
  for (const caption of ['word '.repeat(440).trim(), 'line\n'.repeat(400).trim(), 'x'.repeat(2_200)]) {
    posts.push(
      await client.post(author, {
        caption,
        sizes: [
          [60, 75],
          [90, 60],
        ],
      }),
    );
  }
  for (let i = 0; i < 12; ++i) await client.comment(author, posts[0], `Comment ${i}`);
  const visible = async (page, selector) => {
    const {y, height} = await page.locator(selector).first().boundingBox();
    return y >= 0 && y + height <= page.viewportSize().height && height > 40;
  };
  for (const [viewport, who] of [
    [{width: 1280, height: 720}, account],
    [{width: 1920, height: 1080}, account],
    [{width: 1280, height: 720}, undefined],
  ]) {
    const {page, close} = await open({viewport, account: who, ...(who ? {} : {hash: `#/posts/${posts[0].id}`})});
    for (const {id} of posts) {
      const what = `${id} at ${viewport.width}, ${who ? 'signed in' : 'a visitor'}`;
      await go(page, `#/posts/${id}`);
      await page.waitForSelector(`.post-full[data-id="${id}"]`);
      assert.ok(await visible(page, '.post-full .slide img'), `the picture of ${what}`);
      assert.ok(await visible(page, '.post-full .comment-form'), `the form of ${what}`);
      // The text continues beside it, to the end of the comments.
      await page.locator('.post-full .comments > :last-child').evaluate((end) => end.scrollIntoView());
      assert.ok(await visible(page, '.post-full .slide img'), `the picture of ${what}, after scrolling`);
    }
    await go(page, `#/posts/${posts[0].id}`);
    await page.locator('.post-full .comment').last().scrollIntoViewIfNeeded();
    assert.ok(await visible(page, '.post-full .comment >> nth=-1'), 'the last comment');
    await close();
  }
});

test('every file that cannot be posted is listed with the reason, and the others stay', async () => {
  const account = await client.account();
  const {page, close} = await open({account, hash: '#/new', allow: [400]});
  const png3 = pictureFiles(3);
  const broken = ['one', 'two', 'three'].map((name) => ({
    name: `${name}.png`,
    mimeType: 'image/png',
    buffer: Buffer.from(`not a picture: ${name}`),
  }));
  const [text, empty] = [
    {name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x')},
    {name: 'empty.png', mimeType: 'image/png', buffer: Buffer.alloc(0)},
  ];
  await page.setInputFiles('#pictures', [broken[0], png3[0], text, broken[1], png3[1], empty, png3[2], broken[2]]);
  const complaints = page.getByRole('alert').locator('p');
  const all = [
    '“empty.png” is empty.',
    '“notes.txt” is not a JPEG, PNG, GIF or WebP picture.',
    ...['one', 'three', 'two'].map((name) => `“${name}.png” cannot be read as a picture.`),
  ];
  await page.waitForFunction((count) => document.querySelectorAll('[role="alert"] p').length === count, all.length);
  assert.deepEqual((await complaints.allTextContents()).sort(), all);
  const names = () =>
    page.$$eval('.preview canvas', (previews) => previews.map((preview) => preview.getAttribute('aria-label')));
  assert.deepEqual(
    await names(),
    png3.map(({name}) => name),
  );
  // Browsers can display more formats than can be posted: only the server detects those.
  const bitmap = Buffer.from(
    '424d3a0000000000000036000000280000000100000001000000010018000000000004000000130b0000130b000000000000000000000000ff00',
    'hex',
  );
  await page.setInputFiles(
    '#pictures',
    ['first.png', 'second.png'].map((name) => ({name, mimeType: 'image/png', buffer: bitmap})),
  );
  await page.waitForFunction(() => document.querySelectorAll('.preview').length === 5);
  assert.equal(await complaints.count(), 0, 'complaints about earlier files are over');
  await page.fill('#caption', 'Three of five');
  const share = page.getByRole('button', {name: 'Share', exact: true});
  await share.click();
  await page.waitForFunction(() => document.querySelectorAll('[role="alert"] p').length === 2);
  assert.deepEqual(
    await complaints.allTextContents(),
    ['first.png', 'second.png'].map(
      (name) => `“${name}” cannot be posted: the file is not a JPEG, PNG, GIF or WebP image.`,
    ),
  );
  assert.deepEqual(
    await names(),
    png3.map(({name}) => name),
  );
  await share.click();
  await page.waitForURL(/#\/users\/\d+$/);
  const {
    posts: [{media_count}],
  } = await client.ask('GET', `users/feed?userid=${account.id}`);
  assert.equal(media_count, 3);
  await close();
});

test('text runs in the direction of its script, shown or typed', async () => {
  const hebrew = 'תמונה יפה מאוד, 2 חתולים!';
  const arabic = 'صورة جميلة (جدا)';
  const author = await client.account({profile: {display_name: 'דנה לוי', bio: arabic}});
  const post = await client.post(author, {caption: `${hebrew}\nand English below`});
  const english = await client.post(author, {caption: `Plain words, and ${hebrew}`});
  await client.comment(author, post, arabic);
  const account = await client.account({follows: [author], profile: {display_name: 'عمر'}});
  const {page, close} = await open({account});
  const direction = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
  // The side of its box to which the last line is aligned.
  const lastLineSide = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const box = element.getBoundingClientRect();
        const range = document.createRange();
        range.selectNodeContents(element.lastChild);
        const rects = [...range.getClientRects()].filter(({width}) => width > 0);
        const last = rects.filter(({bottom}) => bottom === Math.max(...rects.map((rect) => rect.bottom)));
        const [left, right] = [Math.min(...last.map((rect) => rect.left)), Math.max(...last.map((rect) => rect.right))];
        return left - box.left < box.right - right ? 'left' : 'right';
      });
  await firstPost(page);
  const card = (id) => `.post[data-id="${id}"]`;
  assert.equal(await direction(`${card(post.id)} .caption`), 'rtl', 'the author’s name decides nothing');
  assert.equal(await direction(`${card(english.id)} .caption`), 'ltr');
  assert.equal(await lastLineSide(`${card(post.id)} .caption`), 'left', 'each line has its own direction');
  await go(page, `#/posts/${post.id}`);
  await page.locator('.comment-text').waitFor();
  assert.equal(await direction('.post-caption'), 'rtl');
  assert.equal(await direction('.comment-text'), 'rtl');
  await page.getByRole('textbox', {name: 'Add a comment', exact: true}).fill(arabic);
  assert.equal(await direction('.comment-form textarea'), 'rtl');
  await page.getByRole('textbox', {name: 'Add a comment', exact: true}).fill('English');
  assert.equal(await direction('.comment-form textarea'), 'ltr');
  await go(page, `#/users/${author.id}`);
  await page.locator('.profile-bio').waitFor();
  assert.equal(await direction('.profile-bio'), 'rtl');
  assert.equal(await direction('.profile-name h1'), 'rtl');
  const beside = (face, name) =>
    page.evaluate(
      ([face, name]) =>
        document.querySelector(name).getBoundingClientRect().left -
        document.querySelector(face).getBoundingClientRect().right,
      [face, name],
    );
  assert.ok((await beside('.profile-head .avatar', '.profile-name h1')) < 60, 'the name stands beside its face');
  await go(page, '#/search');
  await page.getByRole('searchbox').fill('דנה');
  assert.equal(await direction('.search-box .input'), 'rtl');
  assert.ok(
    await page.evaluate(() => {
      const input = document.querySelector('.search-box .input');
      return (
        input.getBoundingClientRect().left + parseFloat(getComputedStyle(input).paddingLeft) >
        document.querySelector('.search-box svg').getBoundingClientRect().right
      );
    }),
    'nothing lies on the picture of the box',
  );
  const row = `[aria-label="People found"] .person[data-id="${author.id}"]`;
  await page.locator(row).waitFor();
  assert.equal(await direction(`${row} .person-name`), 'rtl');
  assert.ok((await beside(`${row} .avatar`, `${row} .person-name`)) < 60);
  await go(page, '#/new');
  await page.fill('#caption', hebrew);
  assert.equal(await direction('#caption'), 'rtl');
  await page.fill('#caption', '');
  await close();
  const own = await open({account: author});
  await go(own.page, `#/posts/${post.id}`);
  await own.page.getByRole('button', {name: 'Edit the caption', exact: true}).click();
  assert.equal(await own.page.locator('#edit-caption').evaluate((field) => getComputedStyle(field).direction), 'rtl');
  await own.close();
});

test('after going back from a deleted post, it is gone everywhere', async () => {
  const account = await client.account();
  const posts = [];
  for (const caption of ['Kept', 'To be deleted', 'Deleted elsewhere', 'Deleted while away'])
    posts.push(await client.post(account, {caption}));
  const [kept, own, elsewhere, away] = posts.map(({id}) => id);
  const {page, close} = await open({account, allow: [404]});
  const tiles = () => page.$$eval('.grid [data-id]', (tiles) => tiles.map(({dataset}) => Number(dataset.id)));
  const untilTiles = (ids) =>
    page.waitForFunction(
      (ids) =>
        JSON.stringify([...document.querySelectorAll('.grid [data-id]')].map(({dataset}) => Number(dataset.id))) ===
        ids,
      JSON.stringify(ids),
    );
  const gone = page.getByText('This post is not here');
  await go(page, `#/users/${account.id}`);
  await untilTiles([away, elsewhere, own, kept]);
  await page.locator(`.grid [data-id="${own}"] a`).click();
  await page.getByRole('button', {name: 'Delete the post', exact: true}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'Delete', exact: true}).click();
  await page.waitForURL(/#\/users\/\d+$/);
  await untilTiles([away, elsewhere, kept]);
  await page.goBack();
  await gone.waitFor();
  assert.equal(await page.locator('.post-full').count(), 0);
  await page.goBack();
  await untilTiles([away, elsewhere, kept]);
  await page.getByText('3 posts').waitFor();
  // In another browser.
  await page.locator(`.grid [data-id="${elsewhere}"] a`).click();
  await page.locator('.post-full').waitFor();
  await go(page, '#/search');
  await page.waitForSelector('.person');
  await client.ask('DELETE', `posts/${elsewhere}`, {token: account.token});
  await page.goBack();
  await gone.waitFor();
  await page.goBack();
  await untilTiles([away, kept]);
  await page.getByText('2 posts').waitFor();
  // While the browser keeps the page in its back-forward cache.
  await page.locator(`.grid [data-id="${away}"] a`).click();
  await page.locator('.post-full').waitFor();
  await client.ask('DELETE', `posts/${away}`, {token: account.token});
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true})));
  await gone.waitFor();
  // And after a real reload of the page.
  await page.reload();
  await gone.waitFor();
  await page.goBack();
  await untilTiles([kept]);
  assert.deepEqual(await tiles(), [kept]);
  await close();
});

test('a post found deleted when it is opened also leaves the feed', async () => {
  const author = await client.account();
  const posts = [await client.post(author, {caption: 'One'}), await client.post(author, {caption: 'Two'})];
  const {page, close} = await open({account: await client.account({follows: [author]}), allow: [404]});
  await caughtUp(page).waitFor();
  for (const {id} of posts) {
    await client.ask('DELETE', `posts/${id}`, {token: author.token});
    await page.locator(`.post[data-id="${id}"] .post-time`).click();
    await page.getByText('This post is not here').waitFor();
    await page.goBack();
    await page.getByRole('feed').or(page.getByText('Your feed is empty')).waitFor();
    assert.equal(await page.locator(`.post[data-id="${id}"]`).count(), 0);
  }
  await page.getByText('Your feed is empty').waitFor();
  await close();
});

test('singular for one, plural for all other counts', async () => {
  const author = await client.account();
  const [a, b] = [await client.account(), await client.account()];
  const {page, close} = await open({account: a});
  const counts = async () =>
    (await page.locator('.profile-counts > *').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  const shown = async (expected) => {
    await go(page, '#/search');
    await page.waitForSelector('.person');
    await go(page, `#/users/${author.id}`);
    await page.locator('.profile-counts').waitFor();
    assert.deepEqual(await counts(), expected);
  };
  await shown(['0 posts', '0 followers', '0 following']);
  const post = await client.post(author);
  for (const [method, path, {token}, body] of [
    ['POST', `users/${author.id}/follow`, b],
    ['POST', `users/${b.id}/follow`, author],
    ['POST', `posts/${post.id}/like`, b],
    ['POST', `posts/${post.id}/comments`, b, {text: 'One'}],
  ])
    await client.ask(method, path, {token, body});
  await shown(['1 post', '1 follower', '1 following']);
  await page.getByRole('link', {name: `Post by ${author.username}, 1 like, 1 comment`}).click();
  await page.getByRole('button', {name: 'Like, 1 like', exact: true}).click();
  await page.getByRole('button', {name: 'Like, 2 likes', exact: true}).waitFor();
  await page.getByText('1 comment', {exact: true}).waitFor();
  await page.getByRole('textbox', {name: 'Add a comment', exact: true}).fill('Two');
  await page.getByRole('button', {name: 'Send', exact: true}).click();
  await page.getByText('2 comments', {exact: true}).waitFor();
  await client.post(author);
  await go(page, `#/users/${author.id}`);
  await page.getByRole('button', {name: `Follow ${author.username}`}).click();
  await page.getByText('2 followers').waitFor();
  assert.deepEqual(await counts(), ['2 posts', '2 followers', '1 following']);
  await go(page, '#/search');
  await page.getByRole('searchbox').fill(b.username);
  await page.getByText(`@${b.username} · 1 follower`, {exact: true}).waitFor();
  await close();
});
