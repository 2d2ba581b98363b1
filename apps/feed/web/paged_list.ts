// A list loaded in pages, each after the cursor of the previous one, without duplicates.

export interface Page<T> {
  items: T[];
  next: string | null; // Null: this was the last one.
}

export interface Listed {
  id: number;
}

// How many pages a refresh reads to find where the known list continues. Beyond that the list is replaced.
export const refreshPagesMax = 3;

export class PagedList<T extends Listed> {
  readonly #load: (cursor: string | null) => Promise<Page<T>>;
  readonly #isBelow: (item: T, other: T) => boolean;
  #items: T[] = [];
  #next: string | null = null;
  #started = false;
  #loading: Promise<T[]> | undefined;
  #generation = 0; // Responses for an earlier list are ignored.
  readonly #removed = new Set<number>(); // A response in flight may still contain them.

  // `isBelow` defines the order, for lists that are refreshed.
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

  // Returns the new items of the next page. One request at a time: concurrent calls share its result.
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
    // A cursor that leads to itself would be requested for ever.
    this.#next = page.next === cursor ? null : page.next;
    const added = this.#present(withoutRepeats(page.items, this.#items));
    this.#items.push(...added);
    return added;
  }

  // Reloads the top and returns the new items. Items deleted from the reloaded pages are removed. Items below them
  // stay, unless there are so many new ones that the pages do not reach the known ones.
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

  // Appends an item, such as the user's own comment, unless a page has already brought it.
  append(item: T) {
    if (!this.find(item.id)) this.#items.push(item);
  }

  // Permanent: no page brings it back.
  remove(id: number) {
    this.#removed.add(id);
    this.#items = this.#items.filter((item) => item.id !== id);
  }

  #present(items: T[]): T[] {
    return items.filter(({id}) => !this.#removed.has(id));
  }

  // Back to the initial state. Requests in flight are ignored.
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
