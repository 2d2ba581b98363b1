// One short message at the foot of the page, with at most one action.

import {announce} from './announce';
import {h} from './dom';
import {icon} from './icons';

export interface ToastOptions {
  action?: {label: string; run: () => void};
  bad?: boolean;
  milliseconds?: number;
}

let shown: {close: () => void} | undefined;
let place: HTMLElement | undefined;

// Replaces the current one. It stays while the pointer or the focus is on it, and while the page is hidden.
export function toast(
  text: string,
  {action, bad = false, milliseconds = action || bad ? 8_000 : 4_000}: ToastOptions = {},
) {
  shown?.close();
  if (!place?.isConnected) {
    place = h('div', {class: 'toasts'});
    document.body.append(place);
  }
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', restart);
    element.remove();
    if (shown === handle) shown = undefined;
  };
  const element = h(
    'div',
    {class: bad ? 'toast toast-bad' : 'toast', role: 'group', 'aria-label': 'Notification'},
    h('p', {}, text),
    action &&
      h(
        'button',
        {
          type: 'button',
          class: 'button',
          onclick: () => {
            close();
            action.run();
          },
        },
        action.label,
      ),
    h(
      'button',
      {type: 'button', class: 'button button-icon', 'aria-label': 'Dismiss', onclick: close},
      icon('close', 18),
    ),
  );
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    if (!document.hidden && !element.matches(':hover, :focus-within')) timer = setTimeout(close, milliseconds);
  };
  for (const type of ['pointerenter', 'focusin']) element.addEventListener(type, stop);
  // The browser updates :focus-within after the event.
  for (const type of ['pointerleave', 'focusout']) element.addEventListener(type, () => setTimeout(restart));
  document.addEventListener('visibilitychange', restart);
  place.append(element);
  announce(text);
  restart();
  const handle = {close};
  shown = handle;
  return handle;
}

export const closeToast = () => shown?.close();
