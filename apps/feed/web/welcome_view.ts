// Suggestions for users who follow nobody yet, and the wait for their first feed.

import {h, setText} from '#design/dom';
import {state} from '#design/states';
import {toast} from '#design/toast';
import type {App, View} from './app';
import {whileBusy} from './parts';
import {peopleSearch} from './people_search';
import {homeHash} from './routes';
import {explain} from './words';

export const followsWanted = 3;

// How many are still to be chosen. Capped by the number of accounts on the server.
export const followsMissing = (following: number, available: number): number =>
  Math.max(0, Math.min(followsWanted, available) - following);

// `prepare` runs when enough accounts are chosen.
export function welcomeView(app: App, prepare: () => void): View {
  const isNew = app.user()?.is_new_user ?? false;
  let following = app.user()?.following_count ?? 0;
  let available = followsWanted;
  const progress = h('p', {class: 'muted', role: 'status'});
  const next = h('button', {type: 'button', class: 'button button-primary'}, isNew ? 'Continue' : 'Done');
  const show = () => {
    const missing = isNew ? followsMissing(following, available) : 0;
    next.disabled = missing > 0;
    setText(progress, missing === 0 ? (following > 0 ? `${following} chosen` : '') : `Choose ${missing} more`);
  };
  const proceed = async () => {
    if (!isNew) return app.go(homeHash);
    try {
      app.session.update(await app.api.finishOnboarding());
      prepare();
    } catch (error) {
      toast(`That did not work. ${explain(error)}`, {bad: true});
    }
  };
  next.addEventListener('click', () => void whileBusy(next, proceed));
  const search = peopleSearch(app, {
    query: '',
    // Search results are not all accounts.
    onFound: (users, text) => {
      if (text === '') available = users.length;
      show();
    },
  });
  const stop = app.changes.listen((change) => {
    if (change.kind !== 'follow-changed') return;
    following = app.user()?.following_count ?? 0;
    show();
  });
  show();
  return {
    element: h(
      'section',
      {class: 'column welcome'},
      h(
        'h1',
        {class: 'title', tabindex: -1},
        ...(isNew ? ['Welcome, ', h('bdi', {}, app.user()?.display_name || app.user()?.username)] : ['Find people']),
      ),
      h(
        'p',
        {class: 'muted lead'},
        isNew
          ? `Your feed shows the pictures of the people you follow. Choose at least ${followsWanted} to begin.`
          : 'Your feed shows the pictures of the people you follow.',
      ),
      search.element,
      h('div', {class: 'welcome-foot'}, progress, next),
    ),
    title: isNew ? 'Welcome' : 'Find people',
    ended: () => {
      stop();
      search.ended();
    },
  };
}

// How often, and at what interval, a feed that is being built is requested.
const preparingTriesMax = 8;
const preparingMs = (attempt: number) => Math.min(2_000, 250 * 2 ** attempt);

// Until `load` reports posts. The feed itself shows errors, and that it is still empty.
export function preparingView(load: () => Promise<boolean>, done: () => void): View {
  let left = false;
  const wait = async () => {
    for (let attempt = 0; attempt < preparingTriesMax && !left; ++attempt) {
      if (await load().catch(() => true)) break;
      await new Promise((resolve) => setTimeout(resolve, preparingMs(attempt)));
    }
    if (!left) done();
  };
  const title = state({
    icon: 'images',
    kind: 'busy',
    title: 'Preparing your feed…',
    text: 'The newest pictures of the people you follow are on their way.',
  });
  title.querySelector('h2')?.setAttribute('tabindex', '-1');
  return {
    element: h(
      'section',
      {class: 'column preparing'},
      title,
      h('div', {class: 'progress-line', 'aria-hidden': 'true'}),
    ),
    title: 'Preparing your feed',
    shown: () => void wait(),
    ended: () => {
      left = true;
    },
  };
}
