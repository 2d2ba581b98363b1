// Actions of other users in the photo feed while a test looks at its page: accounts, follows and posts, without a
// browser.

import assert from 'node:assert/strict';
import {writeFile} from '../../conformance/support/own_server.js';
import {png} from './png.js';

export const feedPath = '/apps/feed/';
// A test makes more accounts than one address usually may.
const generous = writeFile('generous.json', {feed: {registrations_per_hour: 1_000}});
export const feedFlags = ['--apps', 'all', '--app-config', generous];
const followsWanted = 3; // Before the server ends the welcome of a new account.
const password = 'a long password';

export class FeedClient {
  #count = 0;
  #pictures = 0;

  constructor(context) {
    this.context = context;
    // Names that no other run on the same server uses.
    this.prefix = `t${process.pid.toString(36)}${Date.now().toString(36).slice(-5)}`;
  }

  async ask(method, path, {token, body} = {}) {
    const isForm = body instanceof FormData;
    const response = await fetch(`${this.context.origin}${feedPath}${path}`, {
      method,
      headers: {
        ...(token ? {authorization: `Bearer ${token}`} : {}),
        ...(body && !isForm ? {'content-type': 'application/json'} : {}),
      },
      body: isForm || !body ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  newName(kind = 'u') {
    return `${this.prefix}${kind}${++this.#count}`;
  }

  // `follows`: accounts. Without any the account counts as new, unless specified otherwise. `profile`: its display_name
  // and bio.
  async account({kind, follows = [], isNew = false, username = this.newName(kind), profile = {}} = {}) {
    const {access_token: token, user} = await this.ask('POST', 'auth/register', {
      body: {username, password, ...profile},
    });
    for (const {id} of follows) await this.ask('POST', `users/${id}/follow`, {token});
    if (!isNew) await this.#endWelcome({id: user.id, token, follows});
    return {id: user.id, username, password, token, isNew};
  }

  // Follows others too as long as the server insists.
  async #endWelcome({id, token, follows}) {
    const known = new Set([id, ...follows.map((account) => account.id)]);
    const {users} = await this.ask('GET', 'users/search?q=', {token});
    const others = users.filter((user) => !known.has(user.id)).slice(0, Math.max(0, followsWanted - follows.length));
    for (const other of others) await this.ask('POST', `users/${other.id}/follow`, {token});
    await this.ask('PATCH', 'me/onboarding', {token});
    for (const other of others) await this.ask('DELETE', `users/${other.id}/follow`, {token});
  }

  // `sizes`: width and height of each picture.
  post({token}, {caption = '', sizes = [[60, 60]]} = {}) {
    const form = new FormData();
    form.append('caption', caption);
    for (const [width, height] of sizes) {
      const shade = ++this.#pictures;
      form.append(
        'images',
        new Blob([png(width, height, [(shade * 37) % 256, (shade * 59) % 256, (shade * 83) % 256])]),
        `${shade}.png`,
      );
    }
    return this.ask('POST', 'posts', {token, body: form});
  }

  comment({token}, {id}, text) {
    return this.ask('POST', `posts/${id}/comments`, {token, body: {text}});
  }

  // All ids of a feed, as the server returns them.
  async feedIds({token}) {
    const ids = [];
    let cursor = null;
    do {
      const page = await this.ask('GET', cursor ? `feed?cursor=${encodeURIComponent(cursor)}` : 'feed', {token});
      ids.push(...page.posts.map(({id}) => id));
      cursor = page.has_more ? page.next_cursor : null;
    } while (cursor);
    return ids;
  }
}
