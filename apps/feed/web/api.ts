// The feed's server. Paths are relative, because the application may be mounted anywhere.

import type {RequestOptions} from '#design/http';
import type {Page} from './paged_list';

export interface Me {
  id: number;
  username: string;
  display_name: string;
  bio: string;
  post_count: number;
  follower_count: number;
  following_count: number;
  created_at: string;
  is_new_user: boolean;
}

// `is_following` is null if not signed in.
export type User = Omit<Me, 'is_new_user'> & {is_following: boolean | null};

export interface Media {
  position: number;
  url: string;
  thumbnail_url: string;
  width: number;
  height: number;
}

export interface Post {
  id: number;
  user_id: number;
  username: string;
  caption: string;
  created_at: string;
  like_count: number;
  comment_count: number;
  has_liked: boolean;
  media: Media[];
}

// A post in a grid.
export interface Tile {
  id: number;
  thumbnail_url: string;
  media_count: number;
  like_count: number;
  comment_count: number;
  created_at: string;
}

// The server's order: newest first, by seconds and then by id.
export function isOlder(post: Pick<Post, 'id' | 'created_at'>, other: Pick<Post, 'id' | 'created_at'>): boolean {
  const difference = Date.parse(post.created_at) - Date.parse(other.created_at);
  return difference < 0 || (difference === 0 && post.id < other.id);
}

export interface Comment {
  id: number;
  post_id: number;
  user_id: number;
  username: string;
  text: string;
  parent_id: number | null;
  created_at: string;
  is_deleted: boolean;
}

export const textMax = 2_200; // Characters of a caption or a comment.

export type Ask = <T>(method: string, path: string, options?: RequestOptions) => Promise<T>;
type Paged<Name extends string, T> = Record<Name, T[]> & {next_cursor: string | null; has_more: boolean};
export type Direction = 'followers' | 'following';

const withCursor = (path: string, cursor: string | null) =>
  cursor === null ? path : `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;

// `ask` sends a request as the signed-in user.
export function makeApi(ask: Ask) {
  async function page<Name extends string, T extends {id: number}>(
    name: Name,
    path: string,
    cursor: string | null,
  ): Promise<Page<T>> {
    const answer = await ask<Paged<Name, T>>('GET', withCursor(path, cursor));
    return {items: answer[name], next: answer.has_more ? answer.next_cursor : null};
  }
  return {
    feed: (cursor: string | null) => page<'posts', Post>('posts', 'feed', cursor),
    grid: (user: number, cursor: string | null) => page<'posts', Tile>('posts', `users/feed?userid=${user}`, cursor),
    searchUsers: async (text: string, signal?: AbortSignal) =>
      (await ask<{users: User[]}>('GET', `users/search?${new URLSearchParams({q: text})}`, signal ? {signal} : {}))
        .users,
    user: (id: number) => ask<User>('GET', `users/${id}`),
    people: (id: number, direction: Direction, cursor: string | null) =>
      page<'users', User>('users', `users/${id}/${direction}`, cursor),
    follow: (id: number) => ask<unknown>('POST', `users/${id}/follow`),
    unfollow: (id: number) => ask<unknown>('DELETE', `users/${id}/follow`),
    finishOnboarding: () => ask<Me>('PATCH', 'me/onboarding'),
    post: (id: number) => ask<Post>('GET', `posts/${id}`),
    editPost: (id: number, caption: string) => ask<Post>('PATCH', `posts/${id}`, {body: {caption}}),
    deletePost: (id: number) => ask<unknown>('DELETE', `posts/${id}`),
    like: (id: number) => ask<unknown>('POST', `posts/${id}/like`, {keepalive: true}),
    unlike: (id: number) => ask<unknown>('DELETE', `posts/${id}/like`, {keepalive: true}),
    comments: (post: number, cursor: string | null) =>
      page<'comments', Comment>('comments', `posts/${post}/comments`, cursor),
    addComment: (post: number, text: string, parent: number | null) =>
      ask<Comment>('POST', `posts/${post}/comments`, {body: parent === null ? {text} : {text, parent_id: parent}}),
    deleteComment: (post: number, comment: number) => ask<unknown>('DELETE', `posts/${post}/comments/${comment}`),
  };
}

export type Api = ReturnType<typeof makeApi>;
