// Somebody: who they are, who follows them, and their pictures.

import {h, setText} from '../../../web/design/dom';
import {plural} from '../../../web/design/format';
import {HttpError} from '../../../web/design/http';
import {icon} from '../../../web/design/icons';
import {skeletons, state} from '../../../web/design/states';
import type {Tile, User} from './api';
import type {App, View} from './app';
import {endless, type Endless} from './endless';
import {PagedList} from './paged_list';
import {avatar} from './parts';
import {followButton, nameOf, openPeople} from './people';
import {composeHash, homeHash, postHash} from './routes';
import {explain, shortCount} from './words';

function tile(post: Tile, username: string): HTMLElement {
  const many = post.media_count > 1;
  const about = [many ? plural(post.media_count, 'picture') : '', plural(post.like_count, 'like'), plural(post.comment_count, 'comment')];
  const label = `Post by ${username}, ${about.filter(Boolean).join(', ')}`;
  return h('li', {'data-id': post.id}, h('a', {class: 'tile', href: postHash(post.id), 'aria-label': label},
    h('img', {src: post.thumbnail_url, alt: '', loading: 'lazy', decoding: 'async'}),
    many && h('span', {class: 'tile-many', 'aria-hidden': 'true'}, icon('images', 18)),
    h('span', {class: 'tile-counts numeric', 'aria-hidden': 'true'},
      icon('heart', 18), shortCount(post.like_count), icon('comments', 18), shortCount(post.comment_count))));
}

function profileHead(app: App, user: User, signOut: () => void): {element: HTMLElement; update: () => void} {
  const posts = h('strong', {class: 'numeric'});
  const followers = h('strong', {class: 'numeric'});
  const following = h('strong', {class: 'numeric'});
  const update = () => {
    setText(posts, shortCount(user.post_count));
    setText(followers, shortCount(user.follower_count));
    setText(following, shortCount(user.following_count));
  };
  update();
  const own = user.id === app.user()?.id;
  const element = h('header', {class: 'profile-head'},
    avatar(nameOf(user), user.id, 'large'),
    h('div', {class: 'profile-name'}, h('h1', {tabindex: -1}, nameOf(user)), h('p', {class: 'muted'}, `@${user.username}`)),
    h('div', {class: 'profile-actions'}, own
      ? h('button', {type: 'button', class: 'button', onclick: signOut}, icon('signOut', 18), 'Sign out')
      : followButton(app, user)),
    user.bio !== '' && h('p', {class: 'profile-bio', dir: 'auto'}, user.bio),
    h('div', {class: 'profile-counts'},
      h('span', {}, posts, ' posts'),
      h('button', {type: 'button', 'aria-haspopup': 'dialog', onclick: () => openPeople(app, user, 'followers')}, followers, ' followers'),
      h('button', {type: 'button', 'aria-haspopup': 'dialog', onclick: () => openPeople(app, user, 'following')}, following, ' following')));
  return {element, update};
}

const gridSkeleton = () => h('div', {class: 'grid'},
  ...Array.from({length: 9}, () => h('div', {class: 'tile'}, h('span', {class: 'skeleton skeleton-picture'}))));

export function profileView(app: App, id: number, signOut: () => void): View {
  const element = h('section', {class: 'profile'});
  const list = new PagedList<Tile>((cursor) => app.api.grid(id, cursor));
  let foot: Endless | undefined;
  let stop = () => {};

  const showGrid = (user: User) => {
    const grid = h('ul', {role: 'list', class: 'grid', 'aria-label': `Posts by ${user.username}`});
    const own = id === app.user()?.id;
    const body = h('div', {}, grid);
    const showNothing = () => body.replaceChildren(state({
      icon: 'images', title: 'No posts yet',
      text: own ? 'Your first picture will be here.' : `When ${user.username} posts, the pictures will be here.`,
      ...(own ? {action: {label: 'Post a picture', run: () => app.go(composeHash)}} : {}),
    }));
    foot = endless({
      list, end: '', failed: 'The posts could not be loaded.',
      load: async () => {
        grid.append(...(await list.loadMore()).map((post) => tile(post, user.username)));
        if (list.complete && list.items.length === 0) showNothing();
      },
    });
    body.append(foot.element);
    const remove = (post: number) => {
      list.remove(post);
      grid.querySelector(`[data-id="${post}"]`)?.remove();
      if (list.complete && list.items.length === 0) showNothing();
    };
    return {body, remove};
  };

  const show = (user: User) => {
    const head = profileHead(app, user, signOut);
    const grid = showGrid(user);
    stop = app.changes.listen((change) => {
      if (change.kind === 'follow-changed' && change.user === id) user.follower_count += change.following ? 1 : -1;
      if (change.kind === 'follow-changed' && id === app.user()?.id) user.following_count += change.following ? 1 : -1;
      if (change.kind === 'post-deleted' && list.find(change.id)) {
        user.post_count -= 1;
        grid.remove(change.id);
      }
      head.update();
    });
    element.replaceChildren(head.element, grid.body);
  };
  const load = async () => {
    element.replaceChildren(skeletons(1, gridSkeleton));
    try {
      show(await app.api.user(id));
    } catch (error) {
      const gone = error instanceof HttpError && error.status === 404;
      element.replaceChildren(state(gone
        ? {icon: 'person', title: 'Nobody is here', text: 'There is no such account.', action: {label: 'Go home', run: () => app.go(homeHash)}}
        : {icon: 'plug', kind: 'bad', title: 'The profile could not be loaded', text: explain(error), action: {label: 'Try again', run: () => void load()}}));
    }
  };
  void load();
  return {element, title: 'Profile', ended: () => { stop(); foot?.stop(); }};
}
