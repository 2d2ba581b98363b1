// The comments on a post, oldest first, and replies to them, one level deep.

import {announce} from '#design/announce';
import {h, setText} from '#design/dom';
import {toast} from '#design/toast';
import {textMax, type Comment, type Post} from './api';
import type {App} from './app';
import {endless} from './endless';
import {PagedList} from './paged_list';
import {ago, authorLink, avatar, confirmed, momentaryDialog, whileBusy} from './parts';
import {signInHash} from './routes';
import {characters, explain} from './words';

export interface CommentsPanel {
  list: HTMLElement;
  form: HTMLElement;
  field: HTMLTextAreaElement | null;
  stop(): void;
}

interface Row {
  comment: Comment;
  element: HTMLElement;
  body: HTMLElement;
  replies: HTMLElement;
}

class Comments {
  readonly scroller = h('div', {class: 'comments'});
  readonly form: CommentForm;
  readonly foot;
  readonly #app: App;
  readonly #post: Post;
  readonly #list: PagedList<Comment>;
  readonly #rows = new Map<number, Row>();
  readonly #top = h('ol', {role: 'list', class: 'comment-list', 'aria-label': 'Comments'});
  readonly #none = h('p', {class: 'muted comments-none', hidden: true}, 'No comments yet.');

  constructor(app: App, post: Post, root?: Element) {
    this.#app = app;
    this.#post = post;
    this.#list = new PagedList<Comment>((cursor) => app.api.comments(post.id, cursor));
    this.form = new CommentForm((text, parent) => this.#add(text, parent));
    this.foot = endless({
      list: this.#list,
      end: '',
      failed: 'The comments could not be loaded.',
      ...(root ? {root} : {}),
      load: async () => {
        for (const comment of await this.#list.loadMore()) this.#place(comment);
        this.#showNone();
      },
    });
    this.scroller.append(this.#none, this.#top, this.foot.element);
  }

  // A parent is older than its replies, so it is always loaded before them.
  #place(comment: Comment): HTMLElement {
    const known = this.#rows.get(comment.id);
    if (known) return known.element;
    const body = h('div', {class: 'comment-body'});
    const replies = h('ol', {role: 'list', class: 'replies', 'aria-label': 'Replies'});
    const parent = comment.parent_id === null ? undefined : this.#rows.get(comment.parent_id);
    const element = h(
      'li',
      {class: 'comment', 'data-id': comment.id, tabindex: -1},
      avatar(comment.username || '?', comment.user_id, 'small'),
      body,
      !parent && replies,
    );
    this.#rows.set(comment.id, {comment, element, body, replies});
    this.#fill(comment, body);
    // The user's own new comment may be shown before older ones of later pages.
    const siblings = parent?.replies ?? this.#top;
    const newer = [...siblings.children].find((sibling) => Number((sibling as HTMLElement).dataset.id) > comment.id);
    siblings.insertBefore(element, newer ?? null);
    return element;
  }

  #fill(comment: Comment, body: HTMLElement) {
    if (comment.is_deleted) return body.replaceChildren(h('p', {class: 'muted'}, 'This comment was deleted.'));
    const user = this.#app.user();
    body.replaceChildren(
      h('p', {class: 'comment-text', dir: 'auto'}, authorLink(comment), ' ', comment.text),
      h(
        'p',
        {class: 'comment-meta'},
        ago(comment.created_at),
        user &&
          h(
            'button',
            {type: 'button', 'aria-label': `Reply to ${comment.username}`, onclick: () => this.form.replyTo(comment)},
            'Reply',
          ),
        // The owner of a post may delete comments on it.
        user &&
          (user.id === comment.user_id || user.id === this.#post.user_id) &&
          h(
            'button',
            {
              type: 'button',
              'aria-label':
                user.id === comment.user_id ? 'Delete your comment' : `Delete the comment by ${comment.username}`,
              onclick: () => void this.#remove(comment),
            },
            'Delete',
          ),
      ),
    );
  }

  async #add(text: string, parent: number | null) {
    const comment = await this.#app.api.addComment(this.#post.id, text, parent);
    this.#list.append(comment);
    this.#count(1);
    const element = this.#place(comment);
    this.#showNone();
    element.scrollIntoView({block: 'nearest'});
    announce('Comment added');
  }

  async #remove(comment: Comment) {
    if (!(await confirmed('Delete this comment?', 'It cannot be brought back.', 'Delete'))) return;
    try {
      await this.#app.api.deleteComment(this.#post.id, comment.id);
    } catch (error) {
      return void toast(`The comment could not be deleted. ${explain(error)}`, {bad: true});
    }
    this.#count(-1);
    this.form.forget(comment.id);
    const row = this.#rows.get(comment.id)!;
    // Replies may come with a later page.
    if (row.replies.childElementCount > 0 || !this.#list.complete) {
      this.#fill(Object.assign(comment, {is_deleted: true, text: ''}), row.body);
    } else {
      row.element.remove();
      this.#rows.delete(comment.id);
      this.#list.remove(comment.id);
    }
    this.#showNone();
    announce('Comment deleted');
  }

  #count(change: number) {
    const comment_count = Math.max(0, this.#post.comment_count + change);
    this.#app.changes.tell({kind: 'post-changed', id: this.#post.id, changes: {comment_count}});
    this.#post.comment_count = comment_count;
  }

  #showNone() {
    this.#none.hidden = !this.#list.complete || this.#rows.size > 0;
  }
}

class CommentForm {
  readonly element: HTMLFormElement;
  readonly field = h('textarea', {
    class: 'input',
    rows: 1,
    dir: 'auto',
    'aria-label': 'Add a comment',
    placeholder: 'Add a comment…',
  });
  readonly #button = h('button', {type: 'submit', class: 'button button-primary'}, 'Send');
  readonly #error = h('p', {class: 'form-error', role: 'alert', hidden: true});
  readonly #target = h('span', {class: 'reply-target'});
  readonly #reply = h(
    'p',
    {class: 'reply-to', hidden: true},
    this.#target,
    h('button', {type: 'button', onclick: () => this.#answer(null)}, 'Cancel'),
  );
  #parent: Comment | null = null;

  constructor(send: (text: string, parent: number | null) => Promise<void>) {
    this.element = h(
      'form',
      {class: 'comment-form', novalidate: true},
      this.#error,
      this.#reply,
      h('div', {class: 'comment-line'}, this.field, this.#button),
    );
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void whileBusy(this.#button, () => this.#submit(send));
    });
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) this.element.requestSubmit();
    });
  }

  // A reply to a reply goes to the same top-level comment, and mentions the user.
  replyTo(comment: Comment) {
    this.#answer(comment);
    if (comment.parent_id !== null && this.field.value === '') this.field.value = `@${comment.username} `;
    this.field.focus();
  }

  forget(id: number) {
    if (this.#parent?.id === id) this.#answer(null);
  }

  #answer(comment: Comment | null) {
    this.#parent = comment;
    this.#reply.hidden = comment === null;
    this.#target.replaceChildren(...(comment ? ['Reply to ', h('bdi', {}, comment.username)] : []));
  }

  #complain(text: string) {
    this.#error.hidden = text === '';
    setText(this.#error, text);
  }

  async #submit(send: (text: string, parent: number | null) => Promise<void>) {
    const text = this.field.value.trim();
    if (text === '') return this.field.focus();
    const surplus = characters(text) - textMax;
    if (surplus > 0) return this.#complain(`A comment has at most 2,200 characters; this has ${surplus} too many.`);
    this.#complain('');
    try {
      await send(text, this.#parent === null ? null : (this.#parent.parent_id ?? this.#parent.id));
      this.field.value = '';
      this.#answer(null);
    } catch (error) {
      this.#complain(explain(error));
    }
  }
}

// `root`: the scroll container of the comments, if not the page.
export function commentsPanel(app: App, post: Post, root?: Element): CommentsPanel {
  const comments = new Comments(app, post, root);
  const user = app.user();
  return {
    list: comments.scroller,
    form: user
      ? comments.form.element
      : h(
          'div',
          {class: 'comment-form'},
          h('p', {class: 'muted'}, h('a', {href: signInHash}, 'Sign in'), ' to comment.'),
        ),
    field: user ? comments.form.field : null,
    stop: comments.foot.stop,
  };
}

export function openComments(app: App, post: Post) {
  const scroller = h('div', {class: 'sheet-scroller'});
  const panel = commentsPanel(app, post, scroller);
  scroller.append(panel.list);
  const box = momentaryDialog('Comments', 'sheet', scroller, panel.form);
  box.element.addEventListener('close', panel.stop);
  box.open();
}
