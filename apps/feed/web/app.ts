// What every view of the feed has at hand.

import type {Api, Me, Post} from './api';
import type {Likes} from './likes';
import type {Session} from './session';

// Something that several views may show has changed.
export type Change =
  | {kind: 'post-changed'; id: number; changes: Partial<Post>}
  | {kind: 'post-deleted'; id: number} // Here, or somewhere else and noticed now.
  | {kind: 'follow-changed'; user: number; following: boolean};

export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  // Returns what ends it.
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
  // Whether somebody has signed in. If not, they are asked to.
  hasAccount(): boolean;
}

export interface View {
  element: HTMLElement;
  title: string;
  isLasting?: boolean; // There is one only, and who made it ends it.
  shown?(): void; // It is in the document now, for the first time or again.
  ended?(): void; // It will not be shown again.
}
