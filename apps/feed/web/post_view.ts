// A single post with its comments.

import {h, setText} from '#design/dom';
import {count, plural} from '#design/format';
import {HttpError} from '#design/http';
import {icon, type IconName} from '#design/icons';
import {skeletons, state} from '#design/states';
import {toast} from '#design/toast';
import {textMax, type Post} from './api';
import type {App, View} from './app';
import {carousel} from './carousel';
import {commentsPanel} from './comments';
import {ago, authorLink, avatar, confirmed, field, momentaryDialog, whileBusy} from './parts';
import {likeButton, postSkeleton} from './post_card';
import {homeHash, profileHash} from './routes';
import {characters, explain} from './words';

function editCaption(app: App, post: Post) {
  const text = h('textarea', {class: 'input', rows: 6, dir: 'auto'});
  text.value = post.caption;
  const counter = h('p', {class: 'numeric counter'});
  const error = h('p', {class: 'form-error', role: 'alert', hidden: true});
  const save = h('button', {type: 'submit', class: 'button button-primary'}, 'Save');
  const show = () => {
    const length = characters(text.value);
    setText(counter, `${count(length)} / ${count(textMax)}`);
    counter.classList.toggle('counter-over', length > textMax);
    save.disabled = length > textMax;
  };
  const form = h(
    'form',
    {class: 'form', novalidate: true},
    error,
    field('Caption', 'edit-caption', text),
    counter,
    h(
      'div',
      {class: 'form-actions'},
      h('button', {type: 'button', class: 'button', onclick: () => box.close()}, 'Cancel'),
      save,
    ),
  );
  const send = async () => {
    try {
      const {caption} = await app.api.editPost(post.id, text.value.trim());
      app.changes.tell({kind: 'post-changed', id: post.id, changes: {caption}});
      box.close();
    } catch (reason) {
      error.hidden = false;
      setText(error, explain(reason));
    }
  };
  text.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(save, send);
  });
  const box = momentaryDialog('Edit the caption', 'edit', form);
  show();
  box.open();
  text.focus();
}

async function deletePost(app: App, post: Post) {
  const what = post.media.length > 1 ? `its ${post.media.length} pictures` : 'its picture';
  if (
    !(await confirmed(
      'Delete this post?',
      `It goes with ${what}, all likes and all comments, and cannot be brought back.`,
      'Delete',
    ))
  )
    return;
  try {
    await app.api.deletePost(post.id);
    app.changes.tell({kind: 'post-deleted', id: post.id});
    app.go(profileHash(post.user_id));
    toast('The post was deleted.');
  } catch (error) {
    toast(`The post could not be deleted. ${explain(error)}`, {bad: true});
  }
}

const ownerButton = (name: IconName, label: string, onclick: () => void) =>
  h(
    'button',
    {type: 'button', class: 'button button-quiet button-icon', 'aria-label': label, title: label, onclick},
    icon(name),
  );

interface FullPost {
  element: HTMLElement;
  update(changes: Partial<Post>): void;
  stop(): void;
}

function fullPost(app: App, post: Post): FullPost {
  const like = likeButton(app, post);
  const comments = h('p', {class: 'muted'});
  const words = h('p', {class: 'caption post-caption', dir: 'auto'});
  const update = (changes: Partial<Post>) => {
    Object.assign(post, changes);
    like.update(post);
    setText(comments, plural(post.comment_count, 'comment'));
    setText(words, post.caption);
    words.hidden = post.caption === '';
  };
  const panel = commentsPanel(app, post);
  const own = post.user_id === app.user()?.id;
  const element = h(
    'article',
    {class: 'post post-full card', 'aria-label': `Post by ${post.username}`, 'data-id': post.id},
    h('div', {class: 'post-pictures'}, carousel(post, 'whole')),
    h(
      'div',
      {class: 'post-side'},
      h(
        'header',
        {class: 'post-head'},
        avatar(post.username, post.user_id, 'small'),
        h('div', {class: 'post-author'}, authorLink(post), h('p', {class: 'post-time'}, ago(post.created_at))),
        own && ownerButton('edit', 'Edit the caption', () => editCaption(app, post)),
        own && ownerButton('trash', 'Delete the post', () => void deletePost(app, post)),
      ),
      h('div', {class: 'post-scroller'}, words, h('div', {class: 'post-actions'}, like.element, comments), panel.list),
      panel.form,
    ),
  );
  update({});
  return {element, update, stop: panel.stop};
}

export function postView(app: App, id: number): View {
  const element = h('section', {class: 'post-view'}, skeletons(1, postSkeleton));
  let full: FullPost | undefined;
  let isGone = false;

  const load = async () => {
    try {
      const post = await app.api.post(id);
      // If it is already shown, this only checked whether it still exists.
      if (isGone || full) return;
      full = fullPost(app, post);
      element.replaceChildren(
        h('h1', {class: 'visually-hidden', tabindex: -1}, `Post by ${post.username}`),
        full.element,
      );
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return app.changes.tell({kind: 'post-deleted', id});
      if (full) return;
      element.replaceChildren(
        state({
          icon: 'plug',
          kind: 'bad',
          title: 'The post could not be loaded',
          text: explain(error),
          action: {label: 'Try again', run: retry},
        }),
      );
    }
  };
  const retry = () => {
    element.replaceChildren(skeletons(1, postSkeleton));
    void load();
  };
  const stop = app.changes.listen((change) => {
    if (change.kind === 'follow-changed' || change.id !== id) return;
    if (change.kind === 'post-changed') return full?.update(change.changes);
    isGone = true;
    full?.stop();
    element.replaceChildren(
      state({
        icon: 'images',
        title: 'This post is not here',
        text: 'It may have been deleted.',
        action: {label: 'Go home', run: () => app.go(homeHash)},
      }),
    );
  });
  return {
    element,
    title: 'Post',
    shown: () => {
      if (!isGone) void load();
    },
    ended: () => {
      stop();
      full?.stop();
    },
  };
}
