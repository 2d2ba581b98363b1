// The server's status, and how it is shown.

import {h, setText} from '#design/dom';
import {icon} from '#design/icons';
import {state} from '#design/states';

export interface Fact {
  label: string;
  value: string;
}

export interface Application {
  name: string;
  title: string;
  summary: string;
  path: string;
  state: string;
  error?: string;
  facts: Fact[];
}

export interface Front {
  address: string;
  project: string;
  applications: Application[];
}

const badgeOf: Record<string, string> = {
  running: 'badge badge-good',
  failed: 'badge badge-bad',
  starting: 'badge badge-warn',
};
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const facts = (list: Fact[]) =>
  list.map(({label, value}) => h('div', {}, h('dt', {}, label), h('dd', {class: 'numeric'}, value)));

export const showAbout = (place: HTMLElement, {project}: Front) =>
  place.replaceChildren(...facts([{label: 'Project', value: project}]));

// Cards keep their elements between updates, so that the focus is kept.
export class ApplicationCards {
  readonly #place: HTMLElement;
  readonly #cards = new Map<string, HTMLElement>();
  #grid: HTMLElement | undefined;

  constructor(place: HTMLElement) {
    this.#place = place;
  }

  show(applications: Application[]) {
    if (applications.length === 0) {
      this.#cards.clear();
      this.#grid = undefined;
      if (this.#place.querySelector('.state')) return;
      this.#place.replaceChildren(
        state({
          icon: 'tray',
          title: 'No applications run here',
          text: h(
            'span',
            {},
            'The database is ready all the same. Start the server with ',
            h('code', {class: 'nowrap'}, '--apps all'),
            ' to see what it can carry.',
          ),
        }),
      );
      return;
    }
    if (!this.#grid) {
      this.#grid = h('ul', {class: 'apps', role: 'list'});
      this.#place.replaceChildren(this.#grid);
    }
    const names = new Set(applications.map(({name}) => name));
    for (const [name, card] of this.#cards) {
      if (names.has(name)) continue;
      card.remove();
      this.#cards.delete(name);
    }
    for (const application of applications) this.#showOne(this.#grid, application);
  }

  #showOne(grid: HTMLElement, application: Application) {
    let card = this.#cards.get(application.name);
    if (!card) {
      card = h(
        'li',
        {class: 'card app', 'data-app': application.name},
        h('div', {class: 'app-head'}, h('h3', {}, h('a', {href: application.path}, application.title)), h('span', {})),
        h('p', {class: 'muted'}, application.summary),
        h('p', {class: 'notice notice-bad', hidden: true}),
        h('dl', {class: 'facts'}),
        h('span', {class: 'app-go', 'aria-hidden': 'true'}, 'Open', icon('next', 16)),
      );
      this.#cards.set(application.name, card);
      grid.append(card);
    }
    const badge = card.querySelector('.app-head > span')!;
    badge.className = badgeOf[application.state] ?? 'badge';
    setText(badge, capital(application.state));
    const error = card.querySelector<HTMLElement>('.notice')!;
    error.hidden = !application.error;
    setText(error, application.error ?? '');
    card.querySelector<HTMLElement>('.app-go')!.hidden = application.state === 'failed';
    card.querySelector('.facts')!.replaceChildren(...facts(application.facts));
  }
}
