// The three states without content: loading, empty and failed.

import {h, type Child} from './dom';
import {icon, type IconName} from './icons';

export interface StateOptions {
  icon: IconName;
  title: string;
  text: Child;
  kind?: 'plain' | 'bad' | 'busy';
  action?: {label: string; run: () => void};
}

export function state({icon: name, title, text, kind = 'plain', action}: StateOptions): HTMLElement {
  return h(
    'div',
    {class: `state state-${kind}`, role: kind === 'bad' ? 'alert' : 'status'},
    h('div', {class: 'state-icon'}, icon(name, 28)),
    h('h2', {}, title),
    h('p', {}, text),
    action && h('button', {type: 'button', class: 'button', onclick: action.run}, action.label),
  );
}

// Grey placeholders for content that is loading. Screen readers get one word instead.
export function skeletons(count: number, one: (index: number) => Child): HTMLElement {
  return h(
    'div',
    {role: 'status'},
    h('span', {class: 'visually-hidden'}, 'Loading…'),
    h('div', {'aria-hidden': 'true'}, ...Array.from({length: count}, (_, i) => one(i))),
  );
}
