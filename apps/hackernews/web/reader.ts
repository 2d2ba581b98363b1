// The reader: which stories are shown, and what can be done with them.

import {announce} from '../../../web/design/announce';
import {byId, h} from '../../../web/design/dom';
import {sentence} from '../../../web/design/format';
import {HttpError} from '../../../web/design/http';
import {skeletons, state} from '../../../web/design/states';
import {readStored, writeStored} from '../../../web/design/stored';
import {closeToast, toast} from '../../../web/design/toast';
import {VirtualList} from '../../../web/design/virtual_list';
import {api, type Story, type Timespan} from './api';
import {HiddenStories} from './hidden';
import {StoryList} from './story_list';
import {storyRow, storySkeleton, updateStoryRow} from './story_row';

const staleMs = 5 * 60_000;
const loadAheadRows = 150;
const undoMax = 100;
const hiddenKey = 'hearth-hackernews-hidden';

export interface ReaderEvents {
  onSessionEnded: () => void;
}

export class Reader {
  readonly hidden: HiddenStories;
  readonly #events: ReaderEvents;
  readonly #view = byId('view');
  readonly #foot = h('div', {class: 'foot'});
  readonly #list: VirtualList<Story>;
  readonly #hides: number[] = [];  // What `undo` takes back, last first.
  #lists = new Map<Timespan, StoryList>();
  #timespan: Timespan;
  #gathering = false;
  #failure: string | undefined;

  constructor(timespan: Timespan, events: ReaderEvents) {
    this.#timespan = timespan;
    this.#events = events;
    const store = {read: () => readStored(hiddenKey), write: (value: string | null) => writeStored(hiddenKey, value)};
    this.hidden = new HiddenStories(api, store, () => this.#show(true));
    addEventListener('storage', (event) => event.key === hiddenKey && this.hidden.reload());
    this.#list = new VirtualList<Story>({
      label: 'Stories', kind: 'feed', rowHeight: 76, measured: true,
      insets: () => ({top: byId('bar').offsetHeight, bottom: 16}),
      keyOf: ({id}) => id,
      render: (story, index) => storyRow(story, index, {hide: (id) => this.hide(id)}),
      update: updateStoryRow,
      // After a failure only a person tries again: each try draws the list, which would lead to the next one.
      onRange: ({end}, length) => { if (end > length - loadAheadRows && !this.#failure) void this.#loadMore(); },
    });
  }

  get #current(): StoryList {
    const found = this.#lists.get(this.#timespan);
    if (found) return found;
    const made = new StoryList(api, this.#timespan, (id) => this.hidden.has(id), () => this.hidden.signedIn);
    this.#lists.set(this.#timespan, made);
    return made;
  }

  get isEmpty() { return this.#current.empty; }

  async start() {
    this.#show();
    await this.#load();
  }

  async choose(timespan: Timespan) {
    if (timespan === this.#timespan) return;
    this.#timespan = timespan;
    this.#failure = undefined;
    this.#view.replaceChildren();
    window.scrollTo({top: 0});
    this.#show();
    await this.#load();
    announce(`${timespan}: ${this.#list.items.length} stories`);
  }

  // Another account, or none: what the server shows differs.
  async reset() {
    this.#lists = new Map();
    this.#hides.length = 0;
    this.#failure = undefined;
    closeToast();
    this.#show();
    await this.#load();
  }

  // While the server gathers its first stories, emptiness is a matter of seconds.
  setGathering(gathering: boolean) {
    if (gathering === this.#gathering) return;
    this.#gathering = gathering;
    if (this.isEmpty) this.#show();
  }

  refreshIfStale() {
    if (Date.now() - this.#current.loadedAt > staleMs) void this.refresh();
  }

  // Silently: old stories are better than a message about new ones.
  async refresh() {
    const list = this.#current;
    if (list.empty) return this.#load();
    try {
      await list.refresh();
      this.#show();
    } catch { /* The status line tells. */ }
  }

  tick() { this.#list.refresh(); }
  move(delta: number) { this.#list.move(delta); }

  open(what: 'story' | 'comments') {
    const row = this.#currentRow();
    const link = (what === 'story' ? row?.querySelector<HTMLAnchorElement>('a.story-link') : null)
      ?? row?.querySelector<HTMLAnchorElement>('a.story-comments');
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
    // The row is gone, and with it the focus: the one that took its place goes on.
    if (this.#list.items.length > 0) this.#list.focusIndex(index);
  }

  // The last hide, or that of a certain story.
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

  async #load() {
    const list = this.#current;
    if (!list.empty) {
      this.#show();
      this.refreshIfStale();
      return;
    }
    await this.#loadMore();
  }

  async #loadMore() {
    const list = this.#current;
    if (list.complete && !list.empty) return;
    try {
      const before = list.visible.length;
      await (list.empty ? list.refresh() : list.loadMore());
      this.#failure = undefined;
      if (list !== this.#current) return;
      this.#show();
      // All of a page may be hidden: then nothing scrolls, and nobody would ask for the next one.
      if (!list.complete && list.visible.length === before) await this.#loadMore();
    } catch (error) {
      this.#failure = error instanceof HttpError ? sentence(error.message) : 'Something went wrong.';
      if (list === this.#current) this.#show();
    }
  }

  #show(animate = false) {
    const list = this.#current;
    const visible = list.visible;
    if (visible.length === 0) return this.#showNothing(list);
    const isNew = !this.#list.element.isConnected;
    if (isNew) this.#view.replaceChildren(this.#list.element, this.#foot);
    this.#list.setItems(visible, {total: list.complete ? visible.length : -1, animate: animate && !isNew});
    this.#showFoot(list);
  }

  #showFoot(list: StoryList) {
    if (this.#failure) {
      this.#foot.replaceChildren(
        h('div', {class: 'notice notice-bad', role: 'alert'}, `More stories could not be loaded. ${this.#failure}`),
        h('button', {type: 'button', class: 'button', onclick: () => this.#retry()}, 'Try again'));
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
      this.#view.replaceChildren(state({
        icon: 'plug', kind: 'bad', title: 'The stories could not be loaded', text: this.#failure,
        action: {label: 'Try again', run: () => this.#retry()},
      }));
    } else if (list.loadedAt < 0 || (!list.complete && list.empty)) {
      if (!this.#view.querySelector('.story-skeleton')) this.#view.replaceChildren(skeletons(12, storySkeleton));
    } else if (list.empty && this.#gathering) {
      this.#view.replaceChildren(state({
        icon: 'tray', kind: 'busy', title: 'Gathering stories', text: 'The first ones will be here in a moment.',
      }));
    } else {
      this.#view.replaceChildren(state({
        icon: 'tray', title: 'Nothing here',
        text: list.empty ? 'There are no stories for this timespan yet. A longer one may have some.'
          : 'You have hidden every story of this timespan. A longer one may have more.',
      }));
    }
  }
}
