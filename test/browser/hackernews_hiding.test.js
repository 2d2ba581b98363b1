// The Hacker News reader's page: hidden stories and accounts.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {answer, stillClock} from './support/apps.js';
import {
  hiddenOnServer,
  hideButton,
  idsOf,
  newUser,
  open,
  signInDone,
  toastText,
  untilGone,
  untilThere,
} from './support/hackernews.js';

test('hide and undo without an account: stored in this browser', async () => {
  const {page, close} = await open({prepare: stillClock}); // Messages stay until they are dismissed.
  const [first, second, third] = await idsOf(page);
  await page.click(hideButton(second));
  await untilGone(page, second);
  assert.match(await toastText(page), /^Hidden: /);
  assert.deepEqual((await idsOf(page)).slice(0, 2), [first, third]);
  await page.reload();
  await untilThere(page, third);
  assert.ok(!(await idsOf(page)).includes(second), 'still hidden after a reload');
  await page.click(hideButton(first));
  await untilGone(page, first);
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  assert.equal((await idsOf(page))[0], first, 'back in its place');
  assert.equal(await page.locator('.toast').count(), 0);
  await close();
});

test('hide and undo with an account: the server stores it and leaves them out', async () => {
  const {page, owner, close} = await open({prepare: stillClock});
  await signInDone(page, newUser());
  const [first, second] = await idsOf(page);
  await page.click(hideButton(first));
  await page.waitForFunction(async (id) => (await (await fetch('api/v1/hidden')).json()).includes(id), first);
  const other = await open({owner});
  await untilThere(other.page, second);
  assert.ok(!(await idsOf(other.page)).includes(first), 'another tab does not show it');
  await page.bringToFront();
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  await page.waitForFunction(async (id) => !(await (await fetch('api/v1/hidden')).json()).includes(id), first);
  await close();
});

test('a hide that fails is undone, with a message', async () => {
  const {page, close} = await open({allow: [500]});
  await signInDone(page, newUser());
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/api/v1/hidden', async (route) => {
    await held;
    await answer({error: 'the disk is full'}, 500)(route);
  });
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await untilGone(page, first); // At once, without waiting for the server.
  release();
  await untilThere(page, first);
  await page.locator('.toast-bad').waitFor();
  assert.match(await toastText(page), /could not be hidden and is back\. The disk is full\./);
  assert.equal((await idsOf(page))[0], first);
  await close();
});

test('an undo never overtakes its hide', async () => {
  const {page, close} = await open({prepare: stillClock});
  await signInDone(page, newUser());
  const order = [];
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/api/v1/hidden**', async (route) => {
    if (route.request().method() === 'POST') await held;
    order.push(route.request().method());
    await route.continue();
  });
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await page.getByRole('button', {name: 'Undo', exact: true}).click();
  await untilThere(page, first);
  assert.deepEqual(order, []);
  release();
  await page.waitForResponse((response) => response.request().method() === 'DELETE');
  assert.deepEqual(order, ['POST', 'DELETE']);
  await page.unroute('**/api/v1/hidden**');
  assert.deepEqual(await hiddenOnServer(page), []);
  await close();
});

test('stories hidden before signing in move to the account', async () => {
  const {page, close} = await open();
  const user = newUser();
  const [first, second, third] = await idsOf(page);
  for (const id of [first, second]) {
    await page.click(hideButton(id));
    await untilGone(page, id);
  }
  const told = page.locator('.toast').getByText('2 hidden stories added to your account').waitFor();
  await signInDone(page, user);
  await told;
  assert.deepEqual((await hiddenOnServer(page)).sort(), [first, second].sort());
  assert.equal(await page.evaluate(() => localStorage.getItem('hearth-hackernews-hidden')), null);
  await untilThere(page, third);
  assert.deepEqual(
    (await idsOf(page)).filter((id) => id === first || id === second),
    [],
  );
  await page.getByRole('button', {name: 'Sign out', exact: true}).click();
  await untilThere(page, first); // They belong to the account now.
  await close();
});

test('a merge that fails half-way loses nothing', async () => {
  const {page, close} = await open({allow: [503]});
  const [first, second] = await idsOf(page);
  for (const id of [first, second]) {
    await page.click(hideButton(id));
    await untilGone(page, id);
  }
  await page.route('**/api/v1/hidden', (route) =>
    route.request().method() === 'POST' && route.request().postDataJSON().hidden === second
      ? answer({error: 'busy'}, 503)(route)
      : route.continue(),
  );
  const told = page.locator('.toast').getByText('1 hidden story could not be added yet').waitFor();
  await signInDone(page, newUser());
  await told;
  assert.deepEqual(await hiddenOnServer(page), [first]);
  assert.ok(!(await idsOf(page)).includes(second), 'still hidden here');
  await page.unroute('**/api/v1/hidden');
  await page.reload();
  await page.waitForFunction(async (id) => (await (await fetch('api/v1/hidden')).json()).includes(id), second);
  await close();
});

test('an expired session: the hide stays in this browser', async () => {
  const {page, owner, close} = await open({allow: [401]});
  await signInDone(page, newUser());
  await owner.clearCookies();
  const [first] = await idsOf(page);
  await page.click(hideButton(first));
  await page.locator('.toast').getByText('Your session has ended').waitFor();
  await page.waitForSelector('.story[data-id]');
  assert.ok(!(await idsOf(page)).includes(first));
  assert.equal(await page.evaluate(() => localStorage.getItem('hearth-hackernews-hidden')), JSON.stringify([first]));
  await close();
});

test('signing in explains errors, and signing out clears the session', async () => {
  const {page, close} = await open({allow: [401, 429]});
  const dialog = page.getByRole('dialog', {name: 'Sign in', exact: true});
  const error = page.getByRole('alert');
  await page.getByRole('button', {name: 'Sign in', exact: true}).click();
  const submit = dialog.getByRole('button', {name: 'Sign in', exact: true});
  await submit.click();
  assert.match(await error.textContent(), /enter your username/);
  await page.fill('#acct', 'no spaces allowed');
  await page.fill('#pw', 'x');
  await submit.click();
  assert.match(await error.textContent(), /only letters, digits/);
  assert.equal(await page.getAttribute('#acct', 'aria-invalid'), 'true');
  await page.fill('#acct', newUser());
  await page.fill('#pw', 'wrong');
  await submit.click();
  await page.getByText('do not match').waitFor();
  await page.route('**/api/v1/login', answer({error: 'too many tries'}, 429));
  await submit.click();
  await page.getByText('Too many tries').waitFor();
  await page.unroute('**/api/v1/login');
  await page.fill('#pw', 'hearth');
  await submit.click();
  await page.getByRole('button', {name: 'Sign out', exact: true}).waitFor();
  await page.reload();
  await page.getByRole('button', {name: 'Sign out', exact: true}).click();
  await page.getByRole('button', {name: 'Sign in', exact: true}).waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('api/v1/me')).status), 401);
  await close();
});
