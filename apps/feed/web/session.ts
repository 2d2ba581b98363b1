// The user's session. The access token is in memory only; the refresh token is in a cookie that scripts cannot read.

import {HttpError, type RequestOptions} from '#design/http';
import type {Ask, Me} from './api';

export interface Tokens {
  access_token: string;
  expires_in: number; // Seconds.
  user: Me;
}

export interface Account {
  username: string;
  password: string;
  display_name?: string;
}

// The environment of the session.
export interface Surroundings {
  ask: Ask; // Without a token.
  // Runs one at a time over all tabs: a refresh token that is used twice ends the session of all of them.
  exclusively: <T>(run: () => Promise<T>) => Promise<T>;
  now: () => number;
  later: (run: () => void, milliseconds: number) => void;
  read: (key: string) => string | null;
  write: (key: string, value: string | null) => void;
}

export interface SessionEvents {
  onUser: (user: Me | null, why: 'signed-in' | 'signed-out' | 'ended') => void;
}

const refreshAheadMs = 60_000;
// A page that was closed during a refresh does not know whether the response, with the new cookie, has arrived. The
// next page waits this long for it.
const lostRefreshMs = 1_500;
// Remembering the name saves users without an account a request that can only fail.
const userKey = 'hearth-feed-user';
const refreshingKey = 'hearth-feed-refreshing';

// How long a token is used before it is refreshed: until a minute before its end, or for half of a short lifetime.
export const refreshDelayMs = (expiresInSeconds: number): number =>
  Math.max(0, expiresInSeconds * 1000 - Math.min(refreshAheadMs, expiresInSeconds * 500));

export class Session {
  readonly #world: Surroundings;
  readonly #events: SessionEvents;
  #user: Me | null = null;
  #token = '';
  #refreshAt = 0;
  #turn = 0; // Timers of earlier tokens do nothing.
  #refreshing: Promise<boolean> | undefined;

  constructor(world: Surroundings, events: SessionEvents) {
    this.#world = world;
    this.#events = events;
  }

  get user(): Me | null {
    return this.#user;
  }

  // Whether a user signed in here before and may still be.
  get isRemembered(): boolean {
    return this.#world.read(userKey) !== null;
  }

  // Restores the last session. Rejects if the server does not say whether it still exists.
  async restore(): Promise<Me | null> {
    if (this.isRemembered) await this.#refresh();
    return this.#user;
  }

  signIn(account: Account) {
    return this.#enter('auth/login', account);
  }
  register(account: Account) {
    return this.#enter('auth/register', account);
  }

  async signOut() {
    await this.#world.exclusively(() => this.#world.ask('POST', 'auth/logout', {body: {}}));
    this.#leave('signed-out');
  }

  // Updates the account with later data from the server.
  update(user: Me) {
    this.#user = user;
  }

  // Like `ask` of the surroundings, but with a fresh token if there is a session. Retries once with a new token if the
  // server rejects it.
  readonly request: Ask = async <T>(method: string, path: string, options: RequestOptions = {}): Promise<T> =>
    this.withToken((headers) => this.#world.ask<T>(method, path, {...options, headers}));

  async withToken<T>(send: (headers: Record<string, string>) => Promise<T>): Promise<T> {
    if (!this.#user) return send({});
    if (this.#world.now() >= this.#refreshAt) await this.#refresh();
    try {
      return await send(this.#headers());
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 401) throw error;
      if (!(await this.#refresh())) throw error;
      return send(this.#headers());
    }
  }

  #headers(): Record<string, string> {
    return this.#user ? {authorization: `Bearer ${this.#token}`} : {};
  }

  async #enter(path: string, account: Account): Promise<Me> {
    const tokens = await this.#world.exclusively(() =>
      this.#world.ask<Tokens>('POST', path, {body: {...account, session: 'cookie'}}),
    );
    this.#keep(tokens);
    this.#world.write(userKey, tokens.user.username);
    this.#events.onUser(tokens.user, 'signed-in');
    return tokens.user;
  }

  // Returns whether there still is a session.
  #refresh(): Promise<boolean> {
    this.#refreshing ??= this.#world
      .exclusively(() => this.#refreshAlone())
      .finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #refreshAlone(): Promise<boolean> {
    const lost = Number(this.#world.read(refreshingKey) ?? 0) + lostRefreshMs - this.#world.now();
    if (lost > 0) await new Promise<void>((resolve) => this.#world.later(resolve, Math.min(lost, lostRefreshMs)));
    this.#world.write(refreshingKey, String(this.#world.now()));
    try {
      // The cookie arrives even if the page is closed meanwhile.
      this.#keep(await this.#world.ask<Tokens>('POST', 'auth/refresh', {body: {}, keepalive: true}));
      return true;
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 401) throw error;
      this.#leave('ended');
      return false;
    } finally {
      this.#world.write(refreshingKey, null);
    }
  }

  #keep({access_token, expires_in, user}: Tokens) {
    const delay = refreshDelayMs(expires_in);
    this.#token = access_token;
    this.#user = user;
    this.#refreshAt = this.#world.now() + delay;
    const turn = ++this.#turn;
    this.#world.later(() => {
      // Without a response now, the next request tries again.
      if (turn === this.#turn) this.#refresh().catch(() => undefined);
    }, delay);
  }

  #leave(why: 'signed-out' | 'ended') {
    ++this.#turn;
    this.#token = '';
    this.#user = null;
    this.#world.write(userKey, null);
    this.#events.onUser(null, why);
  }
}
