// The Hacker News reader's page.

import './style.css';
import {prepareAnnouncements} from '#design/announce';
import {byId, h, setText} from '#design/dom';
import {HttpError} from '#design/http';
import {icon, mark} from '#design/icons';
import {segmented} from '#design/segmented';
import {readStored, writeStored} from '#design/stored';
import {themeToggle} from '#design/theme';
import {toast} from '#design/toast';
import {plural, sentence} from '#design/format';
import {ScrollMemory} from '#design/scroll_memory';
import type {Place} from '#design/virtual_list';
import {api, timespans, type Site, type Status, type Timespan} from './api';
import {Reader} from './reader';
import {shortcuts} from './shortcuts';
import {signInDialog} from './sign_in';
import {listedText, statusLine} from './status';

const statusMs = 60_000;
const gatheringMs = 1_500;
let lastStatus: Status | null | undefined;
let statusTimer = 0;
// Scripts cannot read the session's cookie. Remembering the name saves users without an account a request that can only
// fail.
const userKey = 'hearth-hackernews-user';

const timespanOfHash = (): Timespan =>
  timespans.find((timespan) => timespan.toLowerCase() === location.hash.slice(1).toLowerCase()) ?? 'Day';

const theme = themeToggle();
const reader = new Reader(timespanOfHash(), {
  onSessionEnded: () => void sessionEnded(),
  onSite: showSite,
  onShow: showStatus,
});
const memory = new ScrollMemory<Place | null>('hearth-hackernews-places', () => reader.place);
const choice = segmented(
  'Timespan',
  timespans.map((value) => ({value, label: value})),
  timespanOfHash(),
  (timespan) => (location.hash = timespan),
);
const account = h('div', {class: 'account'});
const signIn = signInDialog(async (acct, pw) => signedIn((await api.login(acct, pw)).username));

function choose(timespan: Timespan) {
  location.hash = timespan;
}

const help = shortcuts([
  {keys: ['j', 'ArrowDown'], shown: ['j', '↓'], text: 'Next story', run: () => reader.move(1)},
  {keys: ['k', 'ArrowUp'], shown: ['k', '↑'], text: 'Previous story', run: () => reader.move(-1)},
  {keys: ['o', 'Enter'], shown: ['o', 'Enter'], text: 'Open the story', run: () => reader.open('story')},
  {keys: ['c'], text: 'Open the comments', run: () => reader.open('comments')},
  {keys: ['h'], text: 'Hide the story', run: () => reader.hideCurrent()},
  {keys: ['u'], text: 'Undo the last hide', run: () => reader.undo()},
  ...timespans.map((timespan, i) => ({
    keys: [String(i + 1)],
    shown: i === 0 ? timespans.map((_, k) => String(k + 1)) : [],
    text: 'Timespan',
    run: () => choose(timespan),
  })),
  {keys: ['?'], text: 'This list', run: () => help.open()},
]);

// --- Account

function showAccount(username: string | null) {
  account.replaceChildren(
    ...(username
      ? [
          h('span', {class: 'account-name', title: `Signed in as ${username}`}, username),
          h('button', {type: 'button', class: 'button', onclick: () => void signOut()}, 'Sign out'),
        ]
      : [h('button', {type: 'button', class: 'button', onclick: () => signIn.open()}, 'Sign in')]),
  );
}

async function signedIn(username: string) {
  writeStored(userKey, username);
  reader.hidden.signedIn = true;
  showAccount(username);
  const {merged, left} = await reader.hidden.merge();
  await reader.reset();
  const stories = (count: number) => plural(count, 'hidden story', 'hidden stories');
  const news =
    left > 0
      ? ` ${stories(left)} could not be added yet and will be next time.`
      : merged > 0
        ? ` ${stories(merged)} added to your account.`
        : '';
  toast(`Signed in as ${username}.${news}`, {bad: left > 0});
}

async function signOut() {
  try {
    await api.logout();
    await forgetAccount();
    toast('Signed out.');
  } catch (error) {
    toast(`Signing out failed. ${error instanceof Error ? error.message : ''}`, {bad: true});
  }
}

async function forgetAccount() {
  writeStored(userKey, null);
  reader.hidden.signOut();
  showAccount(null);
  await reader.reset();
}

async function sessionEnded() {
  await forgetAccount();
  toast('Your session has ended. What you hide stays in this browser until you sign in again.', {
    action: {label: 'Sign in', run: () => signIn.open()},
  });
}

// Checks whether the last session is still valid.
async function restoreAccount() {
  const remembered = readStored(userKey);
  showAccount(remembered);
  if (!remembered) return;
  try {
    const {username} = await api.me();
    reader.hidden.signedIn = true;
    showAccount(username);
    await reader.hidden.merge();
  } catch (error) {
    // A missing response says nothing about the session.
    reader.hidden.signedIn = !(error instanceof HttpError && error.status === 401);
    if (reader.hidden.signedIn) return;
    writeStored(userKey, null);
    showAccount(null);
  }
}

// --- Status

function showSite({madeUp, demoAccount}: Site) {
  byId('made-up').hidden = !madeUp;
  if (demoAccount) signIn.offer(demoAccount);
}

function showStatus() {
  const {text, warn} = lastStatus === undefined ? {text: '', warn: false} : statusLine(lastStatus, Date.now());
  byId('status').className = warn ? 'status notice notice-warn' : 'status';
  const counted = reader.listed && !warn ? listedText(reader.listed) : '';
  setText(byId('count'), counted);
  setText(byId('freshness'), counted ? text : sentence(text));
  byId('comma').hidden = counted === '' || text === '';
}

// Polls the status, more often while the server has no stories yet.
async function watchStatus() {
  clearTimeout(statusTimer);
  const before = lastStatus;
  lastStatus = await api.status().catch(() => null);
  showStatus();
  const gathering = !!lastStatus && (lastStatus.worker.running || lastStatus.worker.lastRun === null);
  reader.setGathering(gathering);
  const ran = before && lastStatus && before.worker.lastRun !== lastStatus.worker.lastRun;
  if (ran || (reader.isEmpty && lastStatus?.hasStories)) void reader.refresh();
  if (!document.hidden) statusTimer = setTimeout(() => void watchStatus(), gathering ? gatheringMs : statusMs);
}

function onVisible() {
  if (document.hidden) return clearTimeout(statusTimer);
  reader.tick();
  reader.refreshIfStale();
  void watchStatus();
}

// --- Start

function applyHash() {
  const place = memory.enter();
  choice.value = timespanOfHash();
  void reader.choose(timespanOfHash(), place ?? null);
}

// Focused rows must not be hidden by the bar, whose height depends on the width.
function watchBar() {
  const bar = byId('bar');
  const tell = () => document.documentElement.style.setProperty('--bar-height', `${bar.offsetHeight}px`);
  new ResizeObserver(tell).observe(bar);
}

async function start() {
  byId('mark').append(mark());
  byId('timespans').append(choice.element);
  byId('actions').append(
    theme,
    h(
      'button',
      {
        type: 'button',
        class: 'button button-quiet button-icon help',
        title: 'Keyboard shortcuts (?)',
        'aria-label': 'Keyboard shortcuts',
        onclick: () => help.open(),
      },
      icon('help'),
    ),
    account,
  );
  // The hash belongs to the timespan.
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('stories').focus();
  });
  prepareAnnouncements();
  watchBar();
  addEventListener('hashchange', applyHash);
  document.addEventListener('visibilitychange', onVisible);
  addEventListener('online', onVisible);
  setInterval(() => {
    showStatus();
    reader.tick();
  }, statusMs);
  const place = memory.enter();
  await restoreAccount();
  await Promise.all([reader.start(place ?? null), watchStatus()]);
}

void start();
