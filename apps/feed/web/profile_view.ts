// A user's profile: name, follow counts and pictures.

import {h, setText} from '#design/dom';
import {noun, plural} from '#design/format';
import {HttpError} from '#design/http';
import {icon} from '#design/icons';
import {skeletons, state} from '#design/states';
import {isOlder, type Tile, type User} from './api';
import type {App, Change, View} from './app';
import {endless, type Endless} from './endless';
import {PagedList} from './paged_list';
import {avatar} from './parts';
import {followButton, nameOf, openPeople} from './people';
import {composeHash, homeHash, postHash} from './routes';
import {explain, shortCount} from './words';

function tile(post: Tile, username: string): HTMLElement {
  const many = post.media_count > 1;
  const about = [
    many ? plural(post.media_count, 'picture') : '',
    plural(post.like_count, 'like'),
    plural(post.comment_count, 'comment'),
  ];
  const label = `Post by ${username}, ${about.filter(Boolean).join(', ')}`;
  return h(
    'li',
    {'data-id': post.id},
    h(
      'a',
      {class: 'tile', href: postHash(post.id), 'aria-label': label},
      h('img', {src: post.thumbnail_url, alt: '', loading: 'lazy', decoding: 'async'}),
      many && h('span', {class: 'tile-many', 'aria-hidden': 'true'}, icon('images', 18)),
      h(
        'span',
        {class: 'tile-counts numeric', 'aria-hidden': 'true'},
        icon('heart', 18),
        shortCount(post.like_count),
        icon('comments', 18),
        shortCount(post.comment_count),
      ),
    ),
  );
}

interface Head {
  element: HTMLElement;
  update(): void;
}

function profileHead(app: App, user: User, signOut: () => void): Head {
  const counter = (one: string, many?: string) => {
    const number = h('strong', {class: 'numeric'});
    const word = h('span', {});
    const show = (value: number) => {
      setText(number, shortCount(value));
      setText(word, noun(value, one, many));
    };
    return {parts: [number, ' ', word], show};
  };
  const posts = counter('post');
  const followers = counter('follower');
  const following = counter('following', 'following');
  const update = () => {
    posts.show(user.post_count);
    followers.show(user.follower_count);
    following.show(user.following_count);
  };
  update();
  const own = user.id === app.user()?.id;
  const element = h(
    'header',
    {class: 'profile-head'},
    avatar(nameOf(user), user.id, 'large'),
    h(
      'div',
      {class: 'profile-name'},
      h('h1', {tabindex: -1, dir: 'auto'}, nameOf(user)),
      h('p', {class: 'muted'}, `@${user.username}`),
    ),
    h(
      'div',
      {class: 'profile-actions'},
      own
        ? h('button', {type: 'button', class: 'button', onclick: signOut}, icon('signOut', 18), 'Sign out')
        : followButton(app, user),
    ),
    user.bio !== '' && h('p', {class: 'profile-bio', dir: 'auto'}, user.bio),
    h(
      'div',
      {class: 'profile-counts'},
      h('span', {}, ...posts.parts),
      h(
        'button',
        {type: 'button', 'aria-haspopup': 'dialog', onclick: () => openPeople(app, user, 'followers')},
        ...followers.parts,
      ),
      h(
        'button',
        {type: 'button', 'aria-haspopup': 'dialog', onclick: () => openPeople(app, user, 'following')},
        ...following.parts,
      ),
    ),
  );
  return {element, update};
}

const gridSkeleton = () =>
  h(
    'div',
    {class: 'grid'},
    ...Array.from({length: 9}, () => h('div', {class: 'tile'}, h('span', {class: 'skeleton skeleton-picture'}))),
  );

// A user's posts as a grid of thumbnails.
class Grid {
  readonly element = h('div', {});
  readonly #app: App;
  readonly #user: User;
  readonly #list: PagedList<Tile>;
  readonly #tiles = h('ul', {role: 'list', class: 'grid'});
  readonly #made = new Map<number, {post: Tile; element: HTMLElement}>();
  readonly #foot: Endless;

  constructor(app: App, user: User) {
    this.#app = app;
    this.#user = user;
    this.#tiles.setAttribute('aria-label', `Posts by ${user.username}`);
    this.#list = new PagedList<Tile>((cursor) => app.api.grid(user.id, cursor), isOlder);
    this.#foot = endless({
      list: this.#list,
      end: '',
      failed: 'The posts could not be loaded.',
      load: async () => {
        await this.#list.loadMore();
        this.#show();
      },
    });
    this.element.append(this.#tiles, this.#foot.element);
  }

  // Reloads the top, to show new posts and remove deleted ones.
  async refresh() {
    if (!this.#list.started) return;
    await this.#list.refresh();
    this.#show();
    this.#foot.update();
  }

  // Returns whether it was there.
  remove(post: number): boolean {
    const isKnown = this.#list.find(post) !== undefined;
    this.#list.remove(post);
    if (isKnown) this.#show();
    return isKnown;
  }

  stop() {
    this.#foot.stop();
  }

  #show() {
    const {items} = this.#list;
    if (this.#list.complete && items.length === 0) return this.#showNothing();
    const tiles = items.map((post) => this.#tileOf(post));
    const isSame =
      tiles.length === this.#tiles.childElementCount &&
      tiles.every((element, i) => element === this.#tiles.children[i]);
    if (!isSame) this.#tiles.replaceChildren(...tiles);
    if (this.#tiles.parentElement !== this.element) this.element.replaceChildren(this.#tiles, this.#foot.element);
  }

  #tileOf(post: Tile): HTMLElement {
    const known = this.#made.get(post.id);
    if (known?.post.like_count === post.like_count && known.post.comment_count === post.comment_count)
      return known.element;
    const element = tile(post, this.#user.username);
    this.#made.set(post.id, {post, element});
    return element;
  }

  #showNothing() {
    const own = this.#user.id === this.#app.user()?.id;
    this.element.replaceChildren(
      state({
        icon: 'images',
        title: 'No posts yet',
        text: own
          ? 'Your first picture will be here.'
          : `When ${this.#user.username} posts, the pictures will be here.`,
        ...(own ? {action: {label: 'Post a picture', run: () => this.#app.go(composeHash)}} : {}),
      }),
    );
  }
}

export class ProfileView implements View {
  readonly title = 'Profile';
  readonly element = h('section', {class: 'profile'}, skeletons(1, gridSkeleton));
  readonly #app: App;
  readonly #id: number;
  readonly #signOut: () => void;
  readonly #stop: () => void;
  #user: User | undefined;
  #head: Head | undefined;
  #grid: Grid | undefined;

  constructor(app: App, id: number, signOut: () => void) {
    this.#app = app;
    this.#id = id;
    this.#signOut = signOut;
    this.#stop = app.changes.listen((change) => this.#onChange(change));
  }

  shown() {
    void (this.#user ? this.#refresh(this.#user) : this.#load());
  }

  ended() {
    this.#stop();
    this.#grid?.stop();
  }

  async #load() {
    try {
      const user = await this.#app.api.user(this.#id);
      this.#showHead(user);
      this.#grid = new Grid(this.#app, user);
      this.element.replaceChildren(this.#head!.element, this.#grid.element);
    } catch (error) {
      const gone = error instanceof HttpError && error.status === 404;
      this.element.replaceChildren(
        state(
          gone
            ? {
                icon: 'person',
                title: 'Nobody is here',
                text: 'There is no such account.',
                action: {label: 'Go home', run: () => this.#app.go(homeHash)},
              }
            : {
                icon: 'plug',
                kind: 'bad',
                title: 'The profile could not be loaded',
                text: explain(error),
                action: {label: 'Try again', run: () => this.#retry()},
              },
        ),
      );
    }
  }

  #retry() {
    this.element.replaceChildren(skeletons(1, gridSkeleton));
    void this.#load();
  }

  // Shown before, and possibly changed since. Without a response it stays unchanged.
  async #refresh(shown: User) {
    const was = shown.is_following;
    const [user] = await Promise.all([this.#app.api.user(this.#id), this.#grid?.refresh()]).catch(() => [undefined]);
    // A press of the button after the request is newer than the response.
    if (user && shown.is_following === was) this.#showHead(user);
  }

  #showHead(user: User) {
    const head = profileHead(this.#app, user, this.#signOut);
    const previous = this.#head?.element;
    const hadFocus = previous?.contains(document.activeElement) ?? false;
    this.#user = user;
    this.#head = head;
    previous?.replaceWith(head.element);
    if (hadFocus) head.element.querySelector('h1')?.focus({preventScroll: true});
  }

  #onChange(change: Change) {
    const user = this.#user;
    if (!user) return;
    if (change.kind === 'follow-changed' && change.user === this.#id) user.follower_count += change.following ? 1 : -1;
    if (change.kind === 'follow-changed' && this.#id === this.#app.user()?.id)
      user.following_count += change.following ? 1 : -1;
    if (change.kind === 'post-deleted' && this.#grid?.remove(change.id)) user.post_count -= 1;
    this.#head?.update();
  }
}
