// Shared by all views of the feed.

import type {Api, Me, Post} from './api';
import type {Likes} from './likes';
import type {Session} from './session';

// A change that several views may show.
export type Change =
  | {kind: 'post-changed'; id: number; changes: Partial<Post>}
  | {kind: 'post-deleted'; id: number} // Here, or elsewhere and only noticed now.
  | {kind: 'follow-changed'; user: number; following: boolean};

export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  // Returns a function that unsubscribes.
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(change: Change) {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

export interface App {
  api: Api;
  session: Session;
  changes: Changes;
  likes: Likes;
  user(): Me | null;
  go(hash: string): void;
  // Whether a user is signed in. If not, opens the sign-in dialog.
  hasAccount(): boolean;
}

export interface View {
  element: HTMLElement;
  title: string;
  isLasting?: boolean; // A single instance, ended by its creator.
  shown?(): void; // Called whenever it is added to the document.
  ended?(): void; // It will not be shown again.
}
