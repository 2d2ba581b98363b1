// Who has signed in. The access token is in memory only; the refresh token is in a cookie that no script can read.

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

// What the session needs of the world.
export interface Surroundings {
  ask: Ask; // Without a token.
  // Runs one at a time among all tabs: a refresh token that is used twice ends the session of all of them.
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
// A page that was closed while it refreshed cannot tell whether its answer, and with it the new cookie, has arrived.
// The next one gives it this long.
const lostRefreshMs = 1_500;
// Remembering the name saves those without an account a request that can only fail.
const userKey = 'hearth-feed-user';
const refreshingKey = 'hearth-feed-refreshing';

// How long a token is used before the next one is asked for: up to a minute before its end, or for half of a short life.
export const refreshDelayMs = (expiresInSeconds: number): number =>
  Math.max(0, expiresInSeconds * 1000 - Math.min(refreshAheadMs, expiresInSeconds * 500));

export class Session {
  readonly #world: Surroundings;
  readonly #events: SessionEvents;
  #user: Me | null = null;
  #token = '';
  #refreshAt = 0;
  #turn = 0; // Timers of an earlier token do nothing.
  #refreshing: Promise<boolean> | undefined;

  constructor(world: Surroundings, events: SessionEvents) {
    this.#world = world;
    this.#events = events;
  }

  get user(): Me | null {
    return this.#user;
  }

  // Whether somebody signed in here before and may still be.
  get isRemembered(): boolean {
    return this.#world.read(userKey) !== null;
  }

  // The session of last time. Rejects when the server does not tell whether there still is one.
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

  // What the server said about the account later.
  update(user: Me) {
    this.#user = user;
  }

  // As `ask` of the surroundings, with a token if there is one: a fresh one, and a second try with the next if the
  // server refuses it.
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

  // Whether there is a session still.
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
      // Its cookie arrives even if the page is closed meanwhile.
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
      // Without an answer now, the next request asks again.
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
