// A search box for people, with results.

import {announce} from '#design/announce';
import {h} from '#design/dom';
import {plural} from '#design/format';
import {icon} from '#design/icons';
import {skeletons, state} from '#design/states';
import type {User} from './api';
import type {App} from './app';
import {personRow, personSkeleton} from './people';
import {explain} from './words';

const typingMs = 250;

export interface PeopleSearch {
  element: HTMLElement;
  input: HTMLInputElement;
  ended(): void;
}

export interface PeopleSearchOptions {
  query: string;
  onQuery?: (query: string) => void;
  // `users` without the signed-in user.
  onFound?: (users: User[], query: string) => void;
}

export function peopleSearch(app: App, {query, onQuery, onFound}: PeopleSearchOptions): PeopleSearch {
  const input = h('input', {
    class: 'input',
    type: 'search',
    value: query,
    placeholder: 'Search by name',
    'aria-label': 'Search for people',
    autocapitalize: 'none',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 100,
    dir: 'auto',
  });
  const results = h('div', {class: 'search-results'});
  const element = h('div', {role: 'search'}, h('div', {class: 'search-box'}, icon('search'), input), results);
  let timer = 0;
  let under: AbortController | undefined;
  let shown: User[] = [];
  // Changes during a search: its response may not include them.
  const follows = new Map<number, boolean>();

  const show = (users: User[], text: string) => {
    for (const user of users) user.is_following = follows.get(user.id) ?? user.is_following;
    shown = users;
    results.replaceChildren(
      users.length === 0
        ? state({
            icon: 'person',
            title: text === '' ? 'Nobody else is here yet' : 'Nobody found',
            text:
              text === ''
                ? 'You are the first. Others will show up here.'
                : h('span', {}, 'No name begins with “', h('bdi', {}, text), '”.'),
          })
        : h(
            'ul',
            {role: 'list', class: 'people', 'aria-label': text === '' ? 'Suggested accounts' : 'People found'},
            ...users.map((user) => personRow(app, user)),
          ),
    );
  };
  const find = async () => {
    const text = input.value.trim();
    under?.abort();
    const mine = new AbortController();
    under = mine;
    follows.clear();
    try {
      const users = (await app.api.searchUsers(text, mine.signal)).filter(({id}) => id !== app.user()?.id);
      if (mine.signal.aborted) return;
      show(users, text);
      onFound?.(users, text);
      if (text !== '') announce(plural(users.length, 'account found', 'accounts found'));
    } catch (error) {
      if (mine.signal.aborted) return;
      results.replaceChildren(
        state({
          icon: 'plug',
          kind: 'bad',
          title: 'The search failed',
          text: explain(error),
          action: {label: 'Try again', run: () => void find()},
        }),
      );
    }
  };
  // A row may have been replaced since its button was pressed.
  const ended = app.changes.listen((change) => {
    if (change.kind !== 'follow-changed') return;
    follows.set(change.user, change.following);
    const user = shown.find(({id}) => id === change.user);
    if (!user || user.is_following === change.following) return;
    user.is_following = change.following;
    results.querySelector(`.person[data-id="${user.id}"]`)?.replaceWith(personRow(app, user));
  });
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      onQuery?.(input.value.trim());
      void find();
    }, typingMs);
  });
  results.append(skeletons(6, personSkeleton));
  void find();
  return {element, input, ended};
}
