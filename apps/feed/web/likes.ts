// Likes: shown at once, sent in order, reverted if the server refuses.

import type {Api, Post} from './api';
import type {Changes} from './app';
import {isCode} from './words';

type Likable = Pick<Post, 'id' | 'has_liked' | 'like_count'>;

// The desired state of a post while requests for it are in flight.
interface Wish {
  liked: boolean;
  count: number; // As shown.
}

export class Likes {
  readonly #api: Pick<Api, 'like' | 'unlike'>;
  readonly #changes: Pick<Changes, 'tell'>;
  readonly #onFailure: (error: unknown) => void;
  readonly #wishes = new Map<number, Wish>();

  constructor(api: Pick<Api, 'like' | 'unlike'>, changes: Pick<Changes, 'tell'>, onFailure: (error: unknown) => void) {
    this.#api = api;
    this.#changes = changes;
    this.#onFailure = onFailure;
  }

  // Resolves when the server has the final state. Presses while a request is in flight send nothing: only the last one
  // counts.
  async toggle(post: Likable): Promise<void> {
    const liked = !post.has_liked;
    const count = Math.max(0, post.like_count + (liked ? 1 : -1));
    this.#show(post.id, liked, count);
    const wish = this.#wishes.get(post.id);
    if (wish) {
      Object.assign(wish, {liked, count});
      return;
    }
    const first: Wish = {liked, count};
    this.#wishes.set(post.id, first);
    try {
      await this.#send(post.id, first);
    } finally {
      this.#wishes.delete(post.id);
    }
  }

  async #send(id: number, wish: Wish) {
    let known = !wish.liked;
    while (wish.liked !== known) {
      const next = wish.liked;
      try {
        await (next ? this.#api.like(id) : this.#api.unlike(id));
      } catch (error) {
        // Another tab was faster: the state is already as desired.
        if (!isCode(error, 'already_liked', 'not_liked')) {
          if (wish.liked !== known) this.#show(id, known, Math.max(0, wish.count + (known ? 1 : -1)));
          this.#onFailure(error);
          return;
        }
      }
      known = next;
    }
  }

  #show(id: number, liked: boolean, count: number) {
    this.#changes.tell({kind: 'post-changed', id, changes: {has_liked: liked, like_count: count}});
  }
}
