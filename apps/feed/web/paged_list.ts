// A list that comes in pages, each after the cursor of the one before, and never has anything twice.

export interface Page<T> {
  items: T[];
  next: string | null; // Null: this was the last one.
}

export interface Listed {
  id: number;
}

// How many pages a refresh reads to find the place where the list goes on. Beyond that the list starts anew.
export const refreshPagesMax = 3;

export class PagedList<T extends Listed> {
  readonly #load: (cursor: string | null) => Promise<Page<T>>;
  readonly #isBelow: (item: T, other: T) => boolean;
  #items: T[] = [];
  #next: string | null = null;
  #started = false;
  #loading: Promise<T[]> | undefined;
  #generation = 0; // Answers to questions of an earlier list are not for this one.
  readonly #removed = new Set<number>(); // An answer that is under way may still have them.

  // `isBelow` tells the order, for lists that are refreshed.
  constructor(load: (cursor: string | null) => Promise<Page<T>>, isBelow: (item: T, other: T) => boolean = () => true) {
    this.#load = load;
    this.#isBelow = isBelow;
  }

  get items(): readonly T[] {
    return this.#items;
  }
  get started() {
    return this.#started;
  }
  get complete() {
    return this.#started && this.#next === null;
  }

  // The items of the next page that are new. One request at a time: who asks meanwhile gets the same answer.
  loadMore(): Promise<T[]> {
    if (this.complete) return Promise.resolve([]);
    this.#loading ??= this.#readNext().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #readNext(): Promise<T[]> {
    const generation = this.#generation;
    const cursor = this.#next;
    const page = await this.#load(cursor);
    if (generation !== this.#generation) return [];
    this.#started = true;
    // A cursor that leads to itself would be asked for ever.
    this.#next = page.next === cursor ? null : page.next;
    const added = this.#present(withoutRepeats(page.items, this.#items));
    this.#items.push(...added);
    return added;
  }

  // Reads the top again, and tells what is new. What was deleted from the pages that were read is gone; what is below
  // them stays, unless so much is new that the pages do not reach it.
  async refresh(): Promise<T[]> {
    const generation = ++this.#generation;
    this.#loading = undefined;
    const before = new Set(this.#items.map(({id}) => id));
    const top: T[] = [];
    let next: string | null = null;
    let reached = false;
    for (let pages = 0; pages < refreshPagesMax && !reached; ++pages) {
      const page: Page<T> = await this.#load(next);
      if (generation !== this.#generation) return [];
      top.push(...withoutRepeats(page.items, top));
      reached =
        before.size === 0 || page.next === null || page.next === next || page.items.some(({id}) => before.has(id));
      next = page.next;
    }
    const last = top.at(-1);
    const rest =
      reached && next !== null && last
        ? withoutRepeats(this.#items, top).filter((item) => this.#isBelow(item, last))
        : [];
    if (rest.length === 0) this.#next = next;
    this.#started = true;
    this.#items = this.#present([...top, ...rest]);
    return this.#present(top).filter(({id}) => !before.has(id));
  }

  find(id: number): T | undefined {
    return this.#items.find((item) => item.id === id);
  }

  // Puts something new at the end, as one's own comment, unless a page has brought it already.
  append(item: T) {
    if (!this.find(item.id)) this.#items.push(item);
  }

  // For good: no page brings it back.
  remove(id: number) {
    this.#removed.add(id);
    this.#items = this.#items.filter((item) => item.id !== id);
  }

  #present(items: T[]): T[] {
    return items.filter(({id}) => !this.#removed.has(id));
  }

  // As on the first day. What is under way does not count any more.
  reset() {
    ++this.#generation;
    this.#loading = undefined;
    this.#items = [];
    this.#next = null;
    this.#started = false;
  }
}

function withoutRepeats<T extends Listed>(items: readonly T[], known: readonly T[]): T[] {
  const seen = new Set(known.map(({id}) => id));
  return items.filter(({id}) => !seen.has(id) && seen.add(id));
}
