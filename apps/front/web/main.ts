// The front page: running applications, and how to connect.

import './style.css';
import {announce, prepareAnnouncements} from '#design/announce';
import {byId, h, setText} from '#design/dom';
import {sentence} from '#design/format';
import {getJson, HttpError} from '#design/http';
import {icon, mark} from '#design/icons';
import {segmented} from '#design/segmented';
import {skeletons, state} from '#design/states';
import {themeToggle} from '#design/theme';
import {toast} from '#design/toast';
import {ApplicationCards, showAbout, type Front} from './front';
import {languages, snippet, type Language} from './snippets';

const pollMs = 5_000;

const theme = themeToggle();
const cards = new ApplicationCards(byId('applications'));
let front: Front | undefined;
let timer = 0;

async function copy(text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast('The browser does not allow copying. Select the text instead.', {bad: true});
  }
}

// --- Connect

function showSnippet(language: Language) {
  const {about, code} = snippet(language, front?.address ?? location.host, front?.project || 'any-name');
  const place = byId('snippet');
  if (place.querySelector('code')?.textContent === code) return;
  place.replaceChildren(
    h(
      'div',
      {class: 'code card'},
      h(
        'button',
        {
          type: 'button',
          class: 'button',
          'aria-label': 'Copy the snippet',
          onclick: () => void copy(code, 'Snippet'),
        },
        icon('copy', 16),
        'Copy',
      ),
      // A scrollable box must be reachable by keyboard.
      h('pre', {tabindex: 0, role: 'region', 'aria-label': 'Snippet', dir: 'ltr'}, h('code', {}, code)),
    ),
    h('p', {class: 'muted'}, about),
  );
}

const choice = segmented(
  'Language',
  languages.map((value) => ({value, label: snippet(value, '', '').label})),
  'node',
  showSnippet,
);

function showAddress(address: string) {
  const place = byId('address');
  if (place.querySelector('code')?.textContent === address) return;
  place.replaceChildren(
    h('span', {class: 'address-label'}, 'SDKs connect to'),
    h('code', {dir: 'ltr'}, address),
    h(
      'button',
      {
        type: 'button',
        class: 'button button-quiet button-icon',
        'aria-label': 'Copy the address',
        title: 'Copy the address',
        onclick: () => void copy(address, 'Address'),
      },
      icon('copy', 18),
    ),
  );
}

// --- What runs here

function show(answer: Front) {
  front = answer;
  showHealth('badge badge-good', 'Running');
  showAddress(answer.address);
  showAbout(byId('about'), answer);
  cards.show(answer.applications);
  showSnippet(choice.value);
}

function showHealth(className: string, text: string) {
  const badge = byId('health');
  if (badge.textContent !== text && front) announce(text);
  badge.className = className;
  setText(badge, text);
}

// Keeps the last known state.
function showFailure(message: string) {
  showHealth('badge badge-bad', 'Not reachable');
  if (front) return;
  byId('applications').replaceChildren(
    state({
      icon: 'plug',
      kind: 'bad',
      title: 'Hearth does not answer',
      text: message,
      action: {
        label: 'Try again',
        run: () => {
          showLoading();
          void poll();
        },
      },
    }),
  );
}

async function poll() {
  clearTimeout(timer);
  try {
    show(await getJson<Front>('hearth/front', {timeoutMs: pollMs}));
  } catch (error) {
    showFailure(error instanceof HttpError ? sentence(error.message) : 'Something went wrong.');
  }
  if (!document.hidden) timer = setTimeout(() => void poll(), pollMs);
}

function showLoading() {
  const card = () =>
    h(
      'div',
      {class: 'card app'},
      ...['skeleton skeleton-title', 'skeleton', 'skeleton skeleton-short'].map((name) => h('span', {class: name})),
    );
  byId('applications').replaceChildren(skeletons(1, () => h('div', {class: 'apps'}, card(), card())));
}

function start() {
  byId('mark').append(mark());
  byId('actions').append(theme);
  byId('languages').append(choice.element);
  byId('foot').append(
    h(
      'nav',
      {'aria-label': 'More'},
      h('a', {href: 'metrics'}, 'Metrics'),
      h('a', {href: '#connect'}, 'How to connect'),
    ),
    h(
      'p',
      {class: 'muted'},
      'Documentation lies in docs/ of the source: indexes, REST, vector search, writing an application.',
    ),
  );
  prepareAnnouncements();
  showAddress(location.host);
  showSnippet('node');
  showLoading();
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void poll()));
  void poll();
}

start();
