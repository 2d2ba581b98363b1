// The stories of one timespan, page by page.

import {pageSize, type Api, type Story, type Timespan} from './api';

type Source = Pick<Api, 'stories'>;

export class StoryList {
  readonly #source: Source;
  readonly #isHidden: (id: number) => boolean;
  readonly #serverHides: () => boolean;
  #stories: Story[] = [];
  #complete = false;
  #loading: Promise<void> | undefined;
  #loadedAt = -Infinity;

  // `serverHides`: whether the server filters hidden stories, which it does for signed-in users.
  constructor(
    source: Source,
    readonly timespan: Timespan,
    isHidden: (id: number) => boolean,
    serverHides: () => boolean,
  ) {
    this.#source = source;
    this.#isHidden = isHidden;
    this.#serverHides = serverHides;
  }

  get visible(): Story[] {
    return this.#shown(this.#stories);
  }
  get complete() {
    return this.#complete;
  }
  get empty() {
    return this.#stories.length === 0;
  }
  get loadedAt() {
    return this.#loadedAt;
  }
  find(id: number): Story | undefined {
    return this.#stories.find((story) => story.id === id);
  }

  // Loads the next page, if there is one. Concurrent calls share one request.
  loadMore(): Promise<void> {
    if (this.#complete) return Promise.resolve();
    return this.#once(async () => {
      const page = await this.#source.stories(this.timespan, this.#skip());
      this.#append(page);
      this.#loadedAt = Date.now();
    });
  }

  // Reloads all loaded stories, plus as many as needed to show `visibleMin`. The old list stays until the new one is
  // complete.
  refresh(visibleMin = 1): Promise<void> {
    return this.#once(async () => {
      const before = this.#stories.length;
      const fresh: Story[] = [];
      let last = pageSize;
      while (last === pageSize && (fresh.length < before || this.#shown(fresh).length < visibleMin)) {
        const page = await this.#source.stories(this.timespan, fresh.length);
        fresh.push(...page);
        last = page.length;
      }
      this.#stories = [];
      this.#complete = false;
      this.#append(fresh);
      this.#complete = last < pageSize;
      this.#loadedAt = Date.now();
    });
  }

  #shown(stories: Story[]): Story[] {
    return stories.filter(({id}) => !this.#isHidden(id));
  }

  #once(run: () => Promise<void>): Promise<void> {
    this.#loading ??= run().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  // Where the server's list continues. Stories hidden since are no longer part of it. Duplicates are dropped; a skipped
  // story would never be seen.
  #skip(): number {
    return this.#serverHides() ? this.visible.length : this.#stories.length;
  }

  #append(page: Story[]) {
    const known = new Set(this.#stories.map(({id}) => id));
    for (const story of page) {
      if (known.has(story.id)) continue;
      known.add(story.id);
      this.#stories.push(story);
    }
    this.#complete = page.length < pageSize;
  }
}
