// The reader: the shown stories and the actions on them.

import {announce} from '#design/announce';
import {byId, h} from '#design/dom';
import {sentence} from '#design/format';
import {HttpError} from '#design/http';
import {skeletons, state} from '#design/states';
import {readStored, writeStored} from '#design/stored';
import {closeToast, toast} from '#design/toast';
import {VirtualList, type Place} from '#design/virtual_list';
import {api, type Site, type Story, type Timespan} from './api';
import {HiddenStories} from './hidden';
import {listedText, type Listed} from './status';
import {StoryList} from './story_list';
import {storyRow, storySkeleton, updateStoryRow} from './story_row';

const staleMs = 5 * 60_000;
const loadAheadRows = 150;
const undoMax = 100;
const hiddenKey = 'hearth-hackernews-hidden';

export interface ReaderEvents {
  onSessionEnded: () => void;
  onSite: (site: Site) => void; // Called before the first story is shown.
  onShow: () => void; // Whenever the list may have changed.
}

export class Reader {
  readonly hidden: HiddenStories;
  readonly #events: ReaderEvents;
  readonly #view = byId('view');
  readonly #foot = h('div', {class: 'foot'});
  readonly #list: VirtualList<Story>;
  readonly #hides: number[] = []; // For `undo`, last first.
  #lists = new Map<Timespan, StoryList>();
  #timespan: Timespan;
  #site: Site | undefined;
  #gathering = false;
  #failure: string | undefined;
  #arrival: {place: Place | null} | undefined; // Where to scroll once the list is loaded.

  constructor(timespan: Timespan, events: ReaderEvents) {
    this.#timespan = timespan;
    this.#events = events;
    const store = {read: () => readStored(hiddenKey), write: (value: string | null) => writeStored(hiddenKey, value)};
    this.hidden = new HiddenStories(api, store, () => this.#show(true));
    addEventListener('storage', (event) => event.key === hiddenKey && this.hidden.reload());
    this.#list = new VirtualList<Story>({
      label: 'Stories',
      kind: 'feed',
      rowHeight: 76,
      measured: true,
      insets: () => ({top: byId('bar').offsetHeight, bottom: 16}),
      keyOf: ({id}) => id,
      render: (story, index) => storyRow(story, index, this.#site!, {hide: (id) => this.hide(id)}),
      update: updateStoryRow,
      // After a failure only the user retries: each attempt draws the list, which would trigger the next one.
      onRange: ({end}, length) => {
        if (end > length - loadAheadRows && !this.#failure) void this.#loadMore();
      },
    });
  }

  get #current(): StoryList {
    const found = this.#lists.get(this.#timespan);
    if (found) return found;
    const made = new StoryList(
      api,
      this.#timespan,
      (id) => this.hidden.has(id),
      () => this.hidden.signedIn,
    );
    this.#lists.set(this.#timespan, made);
    return made;
  }

  get isEmpty() {
    return this.#current.empty;
  }
  // Undefined while no story is shown.
  get listed(): Listed | undefined {
    return this.#list.element.isConnected ? {count: this.#list.items.length, more: !this.#current.complete} : undefined;
  }
  // The scroll position of the list; undefined while it is being restored.
  get place(): Place | null | undefined {
    return this.#arrival || !this.#list.element.isConnected ? undefined : this.#list.place;
  }

  // `place`: an earlier position; null for the top.
  start(place: Place | null): Promise<void> {
    return this.#arrive(place);
  }

  async choose(timespan: Timespan, place: Place | null) {
    const isSame = timespan === this.#timespan;
    this.#timespan = timespan;
    this.#failure = undefined;
    if (!isSame) this.#view.replaceChildren();
    await this.#arrive(place);
    if (!isSame && timespan === this.#timespan)
      announce(`${timespan}: ${listedText(this.listed ?? {count: 0, more: false})}`);
  }

  // For a change of account: the server shows a different list.
  async reset() {
    this.#lists = new Map();
    this.#hides.length = 0;
    this.#failure = undefined;
    closeToast();
    await this.#arrive(null);
  }

  // While the server gathers its first stories, an empty list lasts only seconds.
  setGathering(gathering: boolean) {
    if (gathering === this.#gathering) return;
    this.#gathering = gathering;
    if (this.isEmpty) this.#show();
  }

  refreshIfStale() {
    if (Date.now() - this.#current.loadedAt > staleMs) void this.refresh();
  }

  // Silent: old stories are better than an error about new ones.
  async refresh() {
    const list = this.#current;
    if (list.empty) return this.#loadMore();
    try {
      await list.refresh();
      this.#show();
    } catch {
      /* Shown in the status line. */
    }
  }

  tick() {
    this.#list.refresh();
  }
  move(delta: number) {
    this.#list.move(delta);
  }

  open(what: 'story' | 'comments') {
    const row = this.#currentRow();
    const link =
      (what === 'story' ? row?.querySelector<HTMLAnchorElement>('a.story-link') : null) ??
      row?.querySelector<HTMLAnchorElement>('a.story-comments');
    link?.click();
  }

  hideCurrent() {
    const story = this.#currentRow() && this.#list.current;
    if (story) this.hide(story.id);
  }

  hide(id: number) {
    const story = this.#current.find(id);
    if (!story) return;
    const index = this.#list.items.findIndex((item) => item.id === id);
    this.#hides.push(id);
    if (this.#hides.length > undoMax) this.#hides.shift();
    toast(`Hidden: ${story.title}`, {action: {label: 'Undo', run: () => this.undo(id)}});
    void this.#set(story, true);
    // The row with the focus is gone: focus the one that took its place.
    if (this.#list.items.length > 0) this.#list.focusIndex(index);
  }

  // The last hide, or that of a given story.
  undo(id = this.#hides.at(-1)) {
    if (id === undefined) return;
    this.#forget(id);
    closeToast();
    const story = this.#current.find(id);
    if (!story) return;
    void this.#set(story, false);
    announce(`Shown again: ${story.title}`);
    this.#list.focusIndex(this.#list.items.findIndex((item) => item.id === id));
  }

  async #set(story: Story, hidden: boolean) {
    try {
      await this.hidden.set(story.id, hidden);
    } catch (error) {
      if (hidden) this.#forget(story.id);
      if (error instanceof HttpError && error.status === 401) return this.#events.onSessionEnded();
      const reason = error instanceof HttpError ? ` ${sentence(error.message)}` : '';
      const outcome = hidden ? 'could not be hidden and is back.' : 'is still hidden.';
      toast(`“${story.title}” ${outcome}${reason}`, {bad: true});
    }
  }

  #forget(id: number) {
    const at = this.#hides.lastIndexOf(id);
    if (at >= 0) this.#hides.splice(at, 1);
  }

  #currentRow(): HTMLElement | undefined {
    return document.activeElement?.closest<HTMLElement>('.story') ?? undefined;
  }

  // Shows the current list, from its top or at an earlier position, and loads as much of it as needed.
  async #arrive(place: Place | null) {
    this.#arrival = {place};
    window.scrollTo({top: 0});
    this.#show();
    if (this.#arrival) await this.#loadMore();
    else this.refreshIfStale();
  }

  // The number of stories needed before any is shown.
  get #rowsMin(): number {
    return (this.#arrival?.place?.index ?? 0) + 1;
  }

  // Rows cannot be drawn before the targets of their links are known.
  async #learnSite() {
    if (this.#site) return;
    this.#site = await api.site();
    this.#events.onSite(this.#site);
  }

  async #loadMore() {
    const list = this.#current;
    if (list.complete && !list.empty && this.#site) return;
    try {
      const before = list.visible.length;
      await Promise.all([this.#learnSite(), before < this.#rowsMin ? list.refresh(this.#rowsMin) : list.loadMore()]);
      this.#failure = undefined;
      if (list !== this.#current) return;
      this.#show();
      // A whole page may be hidden: then nothing scrolls, and nothing would trigger the next page.
      if (!list.complete && list.visible.length === before) await this.#loadMore();
    } catch (error) {
      this.#failure = error instanceof HttpError ? sentence(error.message) : 'Something went wrong.';
      if (list === this.#current) this.#show();
    }
  }

  #show(animate = false) {
    const list = this.#current;
    const visible = list.visible;
    const isReady = this.#site && visible.length > 0 && (list.complete || visible.length >= this.#rowsMin);
    if (isReady) this.#showStories(list, visible, animate);
    else this.#showNothing(list);
    this.#events.onShow();
  }

  #showStories(list: StoryList, visible: Story[], animate: boolean) {
    const isNew = !this.#list.element.isConnected;
    if (isNew) this.#view.replaceChildren(this.#list.element, this.#foot);
    const {place} = this.#arrival ?? {};
    this.#arrival = undefined;
    this.#list.setItems(visible, {total: list.complete ? visible.length : -1, animate: animate && !isNew});
    this.#showFoot(list);
    if (place) this.#list.restore(place);
  }

  #showFoot(list: StoryList) {
    if (this.#failure) {
      this.#foot.replaceChildren(
        h('div', {class: 'notice notice-bad', role: 'alert'}, `More stories could not be loaded. ${this.#failure}`),
        h('button', {type: 'button', class: 'button', onclick: () => this.#retry()}, 'Try again'),
      );
    } else if (list.complete) {
      this.#foot.replaceChildren(h('p', {class: 'muted'}, 'That is all.'));
    } else {
      this.#foot.replaceChildren(h('span', {class: 'ember-dot'}), h('span', {class: 'muted'}, 'Loading more…'));
    }
  }

  #retry() {
    this.#failure = undefined;
    this.#show();
    void this.#loadMore();
  }

  #showNothing(list: StoryList) {
    if (this.#failure) {
      this.#view.replaceChildren(
        state({
          icon: 'plug',
          kind: 'bad',
          title: 'The stories could not be loaded',
          text: this.#failure,
          action: {label: 'Try again', run: () => this.#retry()},
        }),
      );
    } else if (!list.complete || !this.#site) {
      if (!this.#view.querySelector('.story-skeleton')) this.#view.replaceChildren(skeletons(12, storySkeleton));
    } else if (list.empty && this.#gathering) {
      this.#view.replaceChildren(
        state({
          icon: 'tray',
          kind: 'busy',
          title: 'Gathering stories',
          text: 'The first ones will be here in a moment.',
        }),
      );
    } else {
      this.#view.replaceChildren(
        state({
          icon: 'tray',
          title: 'Nothing here',
          text: list.empty
            ? 'There are no stories for this timespan yet. A longer one may have some.'
            : 'You have hidden every story of this timespan. A longer one may have more.',
        }),
      );
    }
  }
}
