// Routes are in the hash of the URL, so that they work wherever the application is mounted.

export type Route =
  | {name: 'home'}
  | {name: 'search'; query: string}
  | {name: 'compose'}
  | {name: 'welcome'}
  | {name: 'sign-in'}
  | {name: 'profile'; id: number}
  | {name: 'post'; id: number}
  | {name: 'unknown'};

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  if (path === '') return {name: 'home'};
  if (path === 'search') return {name: 'search', query: new URLSearchParams(query).get('q') ?? ''};
  if (path === 'new') return {name: 'compose'};
  if (path === 'welcome') return {name: 'welcome'};
  if (path === 'sign-in') return {name: 'sign-in'};
  const [, kind, id] = /^(users|posts)\/([1-9]\d{0,15})$/.exec(path) ?? [];
  if (kind === 'users') return {name: 'profile', id: Number(id)};
  if (kind === 'posts') return {name: 'post', id: Number(id)};
  return {name: 'unknown'};
}

export const homeHash = '#/';
export const composeHash = '#/new';
export const welcomeHash = '#/welcome';
export const signInHash = '#/sign-in';
export const searchHash = (query = '') => (query === '' ? '#/search' : `#/search?${new URLSearchParams({q: query})}`);
export const profileHash = (user: number) => `#/users/${user}`;
export const postHash = (post: number) => `#/posts/${post}`;

// Routes that require a signed-in user.
export const needsAccount = ({name}: Route) => name === 'home' || name === 'compose' || name === 'welcome';
