// The photo feed's page, for its tests.

import {openApp} from './apps.js';
import {feedPath} from './feed_client.js';
import {png} from './png.js';

export const phone = {viewport: {width: 390, height: 844}, isMobile: true, hasTouch: true};

// `account`: the account that signs in. The other options are those of openApp.
export async function openFeed(context, {account, hash = '', ...options} = {}) {
  const opened = await openApp(context, `${feedPath}${hash}`, options);
  if (account) {
    await opened.page.fill('#username', account.username);
    await opened.page.fill('#password', account.password);
    await opened.page.getByRole('button', {name: 'Sign in', exact: true}).click();
    await opened.page.waitForSelector(account.isNew ? '.welcome' : '#navigation:not([hidden])');
  }
  return opened;
}

export const go = (page, hash) => page.evaluate((hash) => (location.hash = hash), hash);
export const firstPost = (page) => page.waitForSelector('.feed .post[data-id]');
export const caughtUp = (page) => page.getByText('You are all caught up');

// Each as large as a photograph: bytes after the end of a picture are ignored.
export const pictureFiles = (count) =>
  Array.from({length: count}, (_, i) => ({
    name: `picture ${i + 1}.png`,
    mimeType: 'image/png',
    buffer: Buffer.concat([png(300, 200 + 50 * i, [20 * i, 90, 140]), Buffer.alloc(300_000)]),
  }));
