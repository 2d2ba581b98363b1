// The snapshots of an SDK's listener, in order.

import {patienceMs} from './patience.js';

export class Snapshots {
  #waiting = [];
  #arrived = () => {};
  #error;

  // `listen` starts it with a callback for snapshots and one for the error that ends it, and returns a function that
  // stops it.
  constructor(listen) {
    this.all = [];
    this.stop = listen(
      (snapshot) => {
        this.all.push(snapshot);
        this.#waiting.push(snapshot);
        this.#arrived();
      },
      (error) => {
        this.#error = error;
        this.#arrived();
      },
    );
  }

  async #arrival(what) {
    const late = Date.now() + patienceMs;
    while (!this.#waiting.length && !this.#error) {
      let timer;
      await new Promise((resolve) => {
        this.#arrived = resolve;
        timer = setTimeout(resolve, Math.max(0, late - Date.now()));
      });
      clearTimeout(timer);
      if (Date.now() >= late && !this.#waiting.length && !this.#error)
        throw new Error(`no ${what} within ${patienceMs} ms`);
    }
  }

  async next() {
    await this.#arrival('snapshot');
    if (!this.#waiting.length) throw this.#error;
    return this.#waiting.shift();
  }

  // The first coming snapshot for which `isWanted` holds.
  async until(isWanted) {
    for (;;) {
      const snapshot = await this.next();
      if (isWanted(snapshot)) return snapshot;
    }
  }

  async error() {
    for (; !this.#error; this.#waiting.shift()) await this.#arrival('error');
    return this.#error;
  }
}

// The changes in a query's snapshot: "added a 0", "modified b 1>0", "removed c 2".
export function changesOf(snapshot) {
  return snapshot
    .docChanges()
    .map(
      ({type, doc, oldIndex, newIndex}) =>
        `${type} ${doc.id} ${type === 'added' ? newIndex : type === 'removed' ? oldIndex : `${oldIndex}>${newIndex}`}`,
    );
}

export const idsOf = (snapshot) => snapshot.docs.map(({id}) => id);
