// The feed: posts by followed accounts, newest first.

import {announce} from '#design/announce';
import {h} from '#design/dom';
import {plural} from '#design/format';
import {skeletons, state} from '#design/states';
import {toast} from '#design/toast';
import {isOlder, type Post} from './api';
import type {App, Change, View} from './app';
import {openComments} from './comments';
import {endless, type Endless} from './endless';
import {PagedList} from './paged_list';
import {postCard, postSkeleton, type PostCard} from './post_card';
import {pullToRefresh} from './pull';
import {welcomeHash} from './routes';
import {explain} from './words';

export class HomeView implements View {
  readonly title = 'Home';
  readonly isLasting = true;
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #list: PagedList<Post>;
  readonly #cards = new Map<number, PostCard>();
  readonly #feed = h('div', {class: 'feed', role: 'feed', 'aria-label': 'Posts'});
  readonly #body = h('div', {});
  readonly #stops: (() => void)[] = [];
  #foot: Endless | undefined;
  #isStale = false;

  constructor(app: App) {
    this.#app = app;
    this.#list = new PagedList<Post>(app.api.feed, isOlder);
    const pull = pullToRefresh(() => this.refresh());
    this.element = h(
      'section',
      {class: 'column'},
      h('h1', {class: 'visually-hidden', tabindex: -1}, 'Home'),
      pull.element,
      this.#body,
    );
    this.#feed.addEventListener('keydown', (event) => this.#onKey(event));
    this.#stops.push(
      app.changes.listen((change) => this.#onChange(change)),
      pull.stop,
    );
  }

  // Returns whether it has any posts.
  async load(): Promise<boolean> {
    await this.#list.refresh();
    return this.#list.items.length > 0;
  }

  shown() {
    if (this.#isStale) {
      this.#isStale = false;
      this.#list.reset();
    }
    if (this.#list.started) return this.#show();
    void this.#start();
  }

  ended() {
    for (const stop of this.#stops) stop();
    this.#foot?.stop();
  }

  // New posts go on top.
  async refresh() {
    if (!this.#list.started) return this.#start();
    try {
      const added = await this.#list.refresh();
      this.#show();
      scrollTo({top: 0});
      toast(added.length === 0 ? 'You are up to date.' : plural(added.length, 'new post'), {milliseconds: 2_500});
    } catch (error) {
      toast(`The feed could not be refreshed. ${explain(error)}`, {bad: true});
    }
  }

  async #start() {
    this.#foot?.stop();
    this.#foot = undefined;
    this.#body.replaceChildren(skeletons(2, postSkeleton));
    try {
      await this.#list.loadMore();
      this.#show();
    } catch (error) {
      this.#body.replaceChildren(
        state({
          icon: 'plug',
          kind: 'bad',
          title: 'Your feed could not be loaded',
          text: explain(error),
          action: {label: 'Try again', run: () => void this.#start()},
        }),
      );
    }
  }

  #show() {
    const {items} = this.#list;
    if (items.length === 0 && this.#list.complete) {
      this.#foot?.stop();
      this.#foot = undefined;
      this.#body.replaceChildren(
        state({
          icon: 'images',
          title: 'Your feed is empty',
          text: 'Follow some accounts to see posts!',
          action: {label: 'Find accounts', run: () => this.#app.go(welcomeHash)},
        }),
      );
      return;
    }
    this.#placeCards(items);
    if (this.#foot) return this.#foot.update();
    this.#foot = endless({
      list: this.#list,
      end: 'You are all caught up',
      failed: 'More posts could not be loaded.',
      load: () => this.#loadMore(),
    });
    this.#body.replaceChildren(this.#feed, this.#foot.element);
  }

  async #loadMore() {
    this.#feed.setAttribute('aria-busy', 'true');
    try {
      const added = await this.#list.loadMore();
      this.#placeCards(this.#list.items);
      if (added.length > 0) announce(`${plural(added.length, 'more post')} loaded`);
    } finally {
      this.#feed.setAttribute('aria-busy', 'false');
    }
  }

  // Cards that stay are not touched, so that scroll positions and the focus are kept.
  #placeCards(items: readonly Post[]) {
    const wanted = new Set(items.map(({id}) => id));
    for (const [id, card] of this.#cards) {
      if (wanted.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    let before: Element | null = this.#feed.firstElementChild;
    items.forEach((post, index) => {
      const known = this.#cards.get(post.id);
      const card = known ?? postCard(this.#app, post, (opened) => openComments(this.#app, opened));
      if (known) known.update(post);
      else this.#cards.set(post.id, card);
      card.element.setAttribute('aria-posinset', String(index + 1));
      card.element.setAttribute('aria-setsize', String(this.#list.complete ? items.length : -1));
      if (card.element === before) before = before.nextElementSibling;
      else this.#feed.insertBefore(card.element, before);
    });
  }

  // Moves from post to post, for keyboard users.
  #onKey(event: KeyboardEvent) {
    const article = (event.target as Element).closest('article');
    const next =
      event.key === 'PageDown'
        ? article?.nextElementSibling
        : event.key === 'PageUp'
          ? article?.previousElementSibling
          : null;
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({block: 'start'});
  }

  #onChange(change: Change) {
    if (change.kind === 'follow-changed') {
      this.#isStale = true;
      // The user may be back before the first follow is saved.
      if (this.element.isConnected && this.#list.items.length === 0) this.shown();
    } else if (change.kind === 'post-deleted') {
      this.#list.remove(change.id);
      if (this.#list.started) this.#show();
    } else {
      const post = this.#list.find(change.id);
      if (!post) return;
      Object.assign(post, change.changes);
      this.#cards.get(change.id)?.update(post);
    }
  }
}
