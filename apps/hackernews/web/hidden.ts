// Hidden stories: stored with the account, or in this browser before sign-in.

import type {Api} from './api';
import {HttpError} from '#design/http';

export interface Store {
  read(): string | null;
  write(value: string | null): void;
}

interface Entry {
  wanted: boolean; // As shown on the page.
  stored: boolean; // As stored on the server.
}

const mergeParallelMax = 4;

export class HiddenStories {
  readonly #api: Pick<Api, 'hide' | 'unhide'>;
  readonly #store: Store;
  readonly #onChange: () => void;
  readonly #entries = new Map<number, Entry>();
  readonly #settling = new Map<number, Promise<void>>();
  #local: Set<number>;
  signedIn = false;

  // `onChange`: also called when a shown change is reverted.
  constructor(api: Pick<Api, 'hide' | 'unhide'>, store: Store, onChange: () => void) {
    this.#api = api;
    this.#store = store;
    this.#onChange = onChange;
    this.#local = this.#readLocal();
  }

  get localCount() {
    return this.#local.size;
  }
  has(id: number): boolean {
    return this.#entries.get(id)?.wanted ?? this.#local.has(id);
  }

  // Shown at once. Rejects if the server refused the change and it was reverted.
  set(id: number, hidden: boolean): Promise<void> {
    if (!this.signedIn) {
      this.#setLocal(id, hidden);
      this.#onChange();
      return Promise.resolve();
    }
    const entry = this.#entries.get(id) ?? {wanted: false, stored: false};
    entry.wanted = hidden;
    if (!hidden && this.#local.has(id)) this.#setLocal(id, false);
    this.#entries.set(id, entry);
    this.#onChange();
    let settling = this.#settling.get(id);
    if (!settling) {
      settling = this.#settle(id, entry).finally(() => this.#settling.delete(id));
      this.#settling.set(id, settling);
    }
    return settling;
  }

  // Moves this browser's hidden stories to the account. Those that the server does not accept stay for the next time.
  async merge(): Promise<{merged: number; left: number}> {
    const ids = [...this.#local];
    let merged = 0;
    const next = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        await this.#api.hide(id);
        this.#entries.set(id, {wanted: true, stored: true});
        this.#setLocal(id, false);
        ++merged;
      }
    };
    await Promise.allSettled(Array.from({length: mergeParallelMax}, next));
    return {merged, left: this.#local.size};
  }

  // Removes everything of the account.
  signOut() {
    this.signedIn = false;
    this.#entries.clear();
    this.#onChange();
  }

  // Another tab may have changed it.
  reload() {
    this.#local = this.#readLocal();
    this.#onChange();
  }

  // One request at a time per story, until the server has the wanted state: an undo never overtakes its hide.
  async #settle(id: number, entry: Entry): Promise<void> {
    while (entry.wanted !== entry.stored) {
      const target = entry.wanted;
      try {
        await (target ? this.#api.hide(id) : this.#api.unhide(id));
        entry.stored = target;
      } catch (error) {
        if (entry.wanted !== target) continue;
        entry.wanted = entry.stored;
        if (error instanceof HttpError && error.status === 401) this.#keepHere(id, target);
        this.#onChange();
        throw error;
      }
    }
  }

  // The session is over. The change is kept here and moves to the account with the next sign-in.
  #keepHere(id: number, hidden: boolean) {
    this.#entries.delete(id);
    this.#setLocal(id, hidden);
  }

  // Reads again first: another tab may have written.
  #setLocal(id: number, hidden: boolean) {
    this.#local = this.#readLocal();
    if (hidden) this.#local.add(id);
    else this.#local.delete(id);
    this.#store.write(this.#local.size === 0 ? null : JSON.stringify([...this.#local]));
  }

  #readLocal(): Set<number> {
    try {
      const ids: unknown = JSON.parse(this.#store.read() ?? '[]');
      return new Set(Array.isArray(ids) ? ids.filter((id): id is number => Number.isSafeInteger(id) && id >= 0) : []);
    } catch {
      return new Set();
    }
  }
}
