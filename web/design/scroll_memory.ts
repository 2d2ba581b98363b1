// The scroll position in each entry of the browser's history, so that going back and reloading return to it. The
// browser's own scroll restoration stores only pixels, and gives up before a list that is still loading is long enough.

const entriesMax = 50;

export class ScrollMemory<Place> {
  readonly #name: string;
  readonly #read: () => Place | undefined;
  readonly #places: Map<string, Place>; // By the entry's key; the most recently left one is last.
  #key = '';
  #place: Place | undefined;

  // `read`: the current place; undefined while nothing is shown. `name`: the key under which the tab stores the places.
  constructor(name: string, read: () => Place | undefined) {
    this.#name = name;
    this.#read = read;
    this.#places = new Map(Object.entries(this.#stored()));
    history.scrollRestoration = 'manual';
    // Browsers may scroll the page as soon as the address changes, before any event: the place is recorded during
    // scrolling.
    addEventListener('scroll', () => (this.#place = this.#read() ?? this.#place), {passive: true});
    addEventListener('pagehide', () => this.#leave());
    document.addEventListener('visibilitychange', () => document.hidden && this.#leave());
  }

  // Call this at the start, and when the address has changed but the page has not. Returns the last place in the entry
  // that is entered; undefined if the entry is new.
  enter(): Place | undefined {
    this.#leave();
    const state = (history.state ?? {}) as {scrollKey?: string};
    this.#key = state.scrollKey ?? `${Date.now()}-${Math.random()}`;
    if (state.scrollKey === undefined) history.replaceState({...state, scrollKey: this.#key}, '');
    this.#place = this.#places.get(this.#key);
    return this.#place;
  }

  #leave() {
    if (this.#place === undefined) return;
    this.#places.delete(this.#key);
    this.#places.set(this.#key, this.#place);
    for (const key of this.#places.keys()) {
      if (this.#places.size <= entriesMax) break;
      this.#places.delete(key);
    }
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(Object.fromEntries(this.#places)));
    } catch {
      /* Private windows and full disks refuse; the places then last as long as the page. */
    }
  }

  #stored(): Record<string, Place> {
    try {
      return JSON.parse(sessionStorage.getItem(this.#name) ?? '{}') as Record<string, Place>;
    } catch {
      return {};
    }
  }
}
