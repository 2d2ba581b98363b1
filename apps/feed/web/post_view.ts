// One post with all that belongs to it.

import {h, setText} from '../../../web/design/dom';
import {count, plural} from '../../../web/design/format';
import {HttpError} from '../../../web/design/http';
import {icon, type IconName} from '../../../web/design/icons';
import {skeletons, state} from '../../../web/design/states';
import {toast} from '../../../web/design/toast';
import {textMax, type Post} from './api';
import type {App, View} from './app';
import {carousel} from './carousel';
import {commentsPanel, type CommentsPanel} from './comments';
import {ago, authorLink, avatar, confirmed, field, momentaryDialog, whileBusy} from './parts';
import {likeButton, postSkeleton} from './post_card';
import {homeHash, profileHash} from './routes';
import {characters, explain} from './words';

function editCaption(app: App, post: Post) {
  const text = h('textarea', {class: 'input', rows: 6});
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
  const form = h('form', {class: 'form', novalidate: true}, error, field('Caption', 'edit-caption', text), counter,
    h('div', {class: 'form-actions'}, h('button', {type: 'button', class: 'button', onclick: () => box.close()}, 'Cancel'), save));
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
  form.addEventListener('submit', (event) => { event.preventDefault(); void whileBusy(save, send); });
  const box = momentaryDialog('Edit the caption', 'edit', form);
  show();
  box.open();
  text.focus();
}

async function deletePost(app: App, post: Post) {
  const what = post.media.length > 1 ? `its ${post.media.length} pictures` : 'its picture';
  if (!await confirmed('Delete this post?', `It goes with ${what}, all likes and all comments, and cannot be brought back.`, 'Delete')) return;
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
  h('button', {type: 'button', class: 'button button-quiet button-icon', 'aria-label': label, title: label, onclick}, icon(name));

export function postView(app: App, id: number): View {
  const element = h('section', {class: 'post-view'});
  let panel: CommentsPanel | undefined;
  let stop = () => {};

  const show = (post: Post) => {
    const like = likeButton(app, post);
    const comments = h('p', {class: 'muted'});
    const words = h('p', {class: 'caption post-caption', dir: 'auto'});
    const update = () => {
      like.update(post);
      setText(comments, plural(post.comment_count, 'comment'));
      setText(words, post.caption);
      words.hidden = post.caption === '';
    };
    stop = app.changes.listen((change) => {
      if (change.kind !== 'post-changed' || change.id !== id) return;
      Object.assign(post, change.changes);
      update();
    });
    panel = commentsPanel(app, post);
    const own = post.user_id === app.user()?.id;
    element.replaceChildren(
      h('h1', {class: 'visually-hidden', tabindex: -1}, `Post by ${post.username}`),
      h('article', {class: 'post post-full card', 'aria-label': `Post by ${post.username}`, 'data-id': id},
        h('div', {class: 'post-pictures'}, carousel(post, 'whole')),
        h('div', {class: 'post-side'},
          h('header', {class: 'post-head'}, avatar(post.username, post.user_id, 'small'),
            h('div', {class: 'post-author'}, authorLink(post), h('p', {class: 'post-time'}, ago(post.created_at))),
            own && ownerButton('edit', 'Edit the caption', () => editCaption(app, post)),
            own && ownerButton('trash', 'Delete the post', () => void deletePost(app, post))),
          words,
          h('div', {class: 'post-actions'}, like.element, comments),
          panel.list, panel.form)));
    update();
  };
  const load = async () => {
    element.replaceChildren(skeletons(1, postSkeleton));
    try {
      show(await app.api.post(id));
    } catch (error) {
      const gone = error instanceof HttpError && error.status === 404;
      element.replaceChildren(state(gone
        ? {icon: 'images', title: 'This post is not here', text: 'It may have been deleted.', action: {label: 'Go home', run: () => app.go(homeHash)}}
        : {icon: 'plug', kind: 'bad', title: 'The post could not be loaded', text: explain(error), action: {label: 'Try again', run: () => void load()}}));
    }
  };
  void load();
  return {element, title: 'Post', ended: () => { stop(); panel?.stop(); }};
}
