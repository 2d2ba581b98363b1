// The photo feed's page.

import './style.css';
import {prepareAnnouncements} from '#design/announce';
import {byId, h} from '#design/dom';
import {requestJson} from '#design/http';
import {icon, mark, type IconName} from '#design/icons';
import {skeletons, state} from '#design/states';
import {readStored, writeStored} from '#design/stored';
import {themeToggle} from '#design/theme';
import {toast} from '#design/toast';
import {makeApi, type Me} from './api';
import {Changes, type App, type View} from './app';
import {authView} from './auth_view';
import {ComposeView} from './compose_view';
import {HomeView} from './home_view';
import {Likes} from './likes';
import {refreshTimes} from './parts';
import {postSkeleton} from './post_card';
import {postView} from './post_view';
import {ProfileView} from './profile_view';
import {
  composeHash,
  homeHash,
  needsAccount,
  parseRoute,
  profileHash,
  searchHash,
  signInHash,
  welcomeHash,
  type Route,
} from './routes';
import {searchView} from './search_view';
import {Session} from './session';
import {ViewKeeper} from './view_keeper';
import {preparingView, welcomeView} from './welcome_view';
import {explain} from './words';

const tickMs = 60_000;
// Two applications on one server must not wait for each other.
const lockName = `hearth-feed ${location.pathname}`;
const otherTabs = new BroadcastChannel(lockName);

const theme = themeToggle();
const changes = new Changes();
const session = new Session(
  {
    ask: requestJson,
    // Locks exist only in secure contexts. Without them a tab waits only for itself.
    exclusively: (run) => ('locks' in navigator ? navigator.locks.request(lockName, run) : run()),
    now: () => Date.now(),
    later: (run, milliseconds) => void setTimeout(run, milliseconds),
    read: readStored,
    write: writeStored,
  },
  {onUser: (user, why) => onUser(user, why)},
);
const api = makeApi(session.request);

const app: App = {
  api,
  session,
  changes,
  likes: new Likes(api, changes, (error) => toast(`Your like could not be saved. ${explain(error)}`, {bad: true})),
  user: () => session.user,
  go: (hash) => {
    if (location.hash === hash) showRoute();
    else location.hash = hash;
  },
  hasAccount: () => {
    if (!session.user) location.hash = signInHash;
    return session.user !== null;
  },
};

const keeper = new ViewKeeper(byId('view'));
let home: HomeView | undefined;
let compose: ComposeView | undefined;
let isPreparing = false;
let beforeSignIn = homeHash;

// --- Account

function onUser(user: Me | null, why: 'signed-in' | 'signed-out' | 'ended') {
  forgetViews();
  if (why !== 'ended') otherTabs.postMessage('changed');
  if (why === 'signed-in' && user) {
    if (user.is_new_user && location.hash !== welcomeHash) return app.go(welcomeHash);
    if (parseRoute(location.hash).name === 'sign-in') return app.go(beforeSignIn);
  }
  showRoute();
  if (why === 'ended') toast('Your session has ended. Please sign in again.');
}

function forgetViews() {
  keeper.clear();
  home?.ended();
  compose?.ended();
  home = compose = undefined;
  isPreparing = false;
}

async function signOut() {
  try {
    await session.signOut();
    toast('Signed out.');
  } catch (error) {
    toast(`Signing out failed. ${explain(error)}`, {bad: true});
  }
}

// --- Views

function prepareFeed() {
  forgetViews();
  isPreparing = true;
  app.go(homeHash);
}

function homeOrBefore(): View {
  if (session.user?.is_new_user) return welcomeView(app, prepareFeed);
  home ??= new HomeView(app);
  const feed = home;
  if (!isPreparing) return feed;
  return preparingView(
    () => feed.load(),
    () => {
      isPreparing = false;
      showRoute();
    },
  );
}

function viewOf(route: Route): View {
  if (!session.user && needsAccount(route)) return authView(app);
  switch (route.name) {
    case 'home':
      return homeOrBefore();
    case 'compose':
      compose ??= new ComposeView(app);
      return compose;
    case 'welcome':
      return welcomeView(app, prepareFeed);
    case 'search':
      return searchView(app, route.query);
    case 'profile':
      return new ProfileView(app, route.id, () => void signOut());
    case 'post':
      return postView(app, route.id);
    case 'sign-in':
      return authView(app);
    case 'unknown':
      return {
        title: 'Not found',
        element: state({
          icon: 'alert',
          title: 'Nothing is here',
          text: 'This address leads nowhere.',
          action: {label: 'Go home', run: () => app.go(homeHash)},
        }),
      };
  }
}

function showRoute() {
  const route = parseRoute(location.hash);
  if (route.name === 'sign-in' && session.user) return location.replace(homeHash);
  if (route.name !== 'sign-in') beforeSignIn = location.hash || homeHash;
  for (const open of document.querySelectorAll<HTMLDialogElement>('dialog[open]')) open.close();
  keeper.show(() => viewOf(route));
  showNavigation(route);
}

// --- Around the views

interface Place {
  label: string;
  icon: IconName;
  hash: string;
  names: Route['name'][];
}

function showNavigation(route: Route) {
  const {user} = session;
  const places: Place[] =
    user && !user.is_new_user
      ? [
          {label: 'Home', icon: 'home', hash: homeHash, names: ['home']},
          {label: 'Search', icon: 'search', hash: searchHash(), names: ['search', 'welcome']},
          {label: 'Post', icon: 'plus', hash: composeHash, names: ['compose']},
          {label: 'Profile', icon: 'person', hash: profileHash(user.id), names: []},
        ]
      : [];
  const isHere = ({names, hash}: Place) =>
    names.includes(route.name) || (route.name === 'profile' && hash === profileHash(route.id));
  const navigation = byId('navigation');
  const focused = navigation.contains(document.activeElement) ? document.activeElement?.textContent : null;
  navigation.hidden = places.length === 0;
  document.body.classList.toggle('has-navigation', places.length > 0);
  byId('links').replaceChildren(
    ...places.map((place) =>
      h(
        'li',
        {},
        h(
          'a',
          {
            class: 'nav-link',
            href: place.hash,
            'aria-current': isHere(place) ? 'page' : null,
            onclick: () => {
              if (place.hash === location.hash) scrollTo({top: 0});
            },
          },
          icon(place.icon, 24),
          h('span', {}, place.label),
        ),
      ),
    ),
  );
  if (focused) [...navigation.querySelectorAll('a')].find(({textContent}) => textContent === focused)?.focus();
  byId('refresh').hidden = !(user && !user.is_new_user && route.name === 'home' && !isPreparing);
  byId('sign-in').hidden = user !== null || needsAccount(route) || route.name === 'sign-in';
}

function showRestoreFailure(error: unknown) {
  byId('view').replaceChildren(
    state({
      icon: 'plug',
      kind: 'bad',
      title: 'The server cannot be asked who you are',
      text: explain(error),
      action: {label: 'Try again', run: () => void restore()},
    }),
  );
}

async function restore() {
  if (session.isRemembered) {
    // Reserves the space of the navigation, so that nothing moves later.
    document.body.classList.add('has-navigation');
    byId('navigation').hidden = false;
    byId('view').replaceChildren(h('div', {class: 'column'}, skeletons(2, postSkeleton)));
  }
  try {
    // The end of the session has been shown already.
    const wasRemembered = session.isRemembered;
    if ((await session.restore()) || !wasRemembered) showRoute();
  } catch (error) {
    showRestoreFailure(error);
  }
}

// Before all other listeners: they read the number.
changes.listen((change) => {
  if (change.kind !== 'follow-changed' || !session.user) return;
  const following_count = session.user.following_count + (change.following ? 1 : -1);
  session.update({...session.user, following_count});
});

function start() {
  byId('mark').append(mark());
  byId('actions').append(theme);
  byId('refresh').append(icon('refresh'));
  byId('refresh').addEventListener('click', () => void home?.refresh());
  // The hash belongs to the views.
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('view').focus();
  });
  prepareAnnouncements();
  const bar = byId('bar');
  new ResizeObserver(() => document.documentElement.style.setProperty('--bar-height', `${bar.offsetHeight}px`)).observe(
    bar,
  );
  addEventListener('hashchange', showRoute);
  // A page from the browser's back/forward cache is as the user left it.
  addEventListener('pageshow', ({persisted}) => {
    if (persisted) keeper.again();
  });
  // If the account changes in another tab, it changes in this one.
  otherTabs.addEventListener('message', () => location.reload());
  addEventListener('beforeunload', (event) => {
    if (compose?.hasDraft) event.preventDefault();
  });
  setInterval(refreshTimes, tickMs);
  void restore();
}

start();
