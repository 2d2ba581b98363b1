// One post: author, time, pictures, likes and caption.

import {h, setText} from '#design/dom';
import {plural} from '#design/format';
import {icon} from '#design/icons';
import type {Post} from './api';
import type {App} from './app';
import {carousel} from './carousel';
import {ago, authorLink, avatar} from './parts';
import {postHash} from './routes';
import {isLong, shortCount} from './words';

export interface LikeButton {
  element: HTMLButtonElement;
  update(post: Post): void;
}

export function likeButton(app: App, post: Post): LikeButton {
  const count = h('span', {class: 'numeric'});
  const element = h(
    'button',
    {
      type: 'button',
      class: 'button button-quiet like',
      onclick: () => {
        if (app.hasAccount()) void app.likes.toggle(post);
      },
    },
    icon('heart', 24),
    count,
  );
  const update = ({has_liked, like_count}: Post) => {
    element.setAttribute('aria-pressed', String(has_liked));
    element.setAttribute('aria-label', `Like, ${plural(like_count, 'like')}`);
    setText(count, shortCount(like_count));
  };
  update(post);
  return {element, update};
}

export function caption(post: Post): HTMLElement {
  const text = h('p', {class: 'caption'}, authorLink(post), ' ', post.caption);
  if (!isLong(post.caption)) return h('div', {dir: 'auto'}, text);
  text.classList.add('caption-short');
  const more = h(
    'button',
    {
      type: 'button',
      class: 'more',
      'aria-label': `More of the caption by ${post.username}`,
      onclick: () => {
        text.classList.remove('caption-short');
        more.remove();
      },
    },
    'more',
  );
  return h('div', {dir: 'auto'}, text, more);
}

export interface PostCard {
  element: HTMLElement;
  update(post: Post): void;
}

// `openComments`: the action of the comments button.
export function postCard(app: App, post: Post, openComments: (post: Post) => void): PostCard {
  const titleId = `post-${post.id}`;
  const like = likeButton(app, post);
  const count = h('span', {class: 'numeric'});
  const comments = h(
    'button',
    {type: 'button', class: 'button button-quiet', 'aria-haspopup': 'dialog', onclick: () => openComments(post)},
    icon('comments', 24),
    count,
  );
  const words = h('div', {class: 'post-words'});
  const pictures = carousel(post, 'fill');
  pictures.addEventListener('dblclick', () => {
    if (!post.has_liked) like.element.click();
  });
  const update = (changed: Post) => {
    // The list may have reloaded it; the buttons act on this object.
    Object.assign(post, changed);
    like.update(changed);
    setText(count, shortCount(changed.comment_count));
    comments.setAttribute('aria-label', plural(changed.comment_count, 'comment'));
    if (words.dataset.caption === changed.caption) return;
    words.dataset.caption = changed.caption;
    words.replaceChildren(...(changed.caption === '' ? [] : [caption(changed)]));
  };
  update(post);
  const element = h(
    'article',
    {class: 'post card', 'aria-labelledby': titleId, tabindex: -1, 'data-id': post.id},
    h(
      'header',
      {class: 'post-head'},
      avatar(post.username, post.user_id, 'small'),
      h('h2', {class: 'post-author', id: titleId}, authorLink(post)),
      h('a', {class: 'post-time', href: postHash(post.id)}, ago(post.created_at)),
    ),
    pictures,
    h('div', {class: 'post-actions'}, like.element, comments),
    words,
  );
  return {element, update};
}

export function postSkeleton(): HTMLElement {
  return h(
    'div',
    {class: 'post card'},
    h(
      'div',
      {class: 'post-head'},
      h('span', {class: 'avatar avatar-small skeleton'}),
      h('span', {class: 'skeleton skeleton-name'}),
    ),
    h('div', {class: 'carousel'}, h('div', {class: 'skeleton skeleton-picture'})),
    h(
      'div',
      {class: 'skeleton-lines'},
      h('span', {class: 'skeleton skeleton-line'}),
      h('span', {class: 'skeleton skeleton-line skeleton-half'}),
    ),
  );
}
