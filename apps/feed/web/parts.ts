// Small shared parts: avatars, times, short-lived dialogs.

import {dialog, type Dialog} from '#design/dialog';
import {h, setText, type Child} from '#design/dom';
import {exactTime, relativeTime} from '#design/time';
import {profileHash} from './routes';
import {hueOf, initials} from './words';

// Decorative: the name is always next to it.
export function avatar(name: string, id: number, size: 'small' | 'medium' | 'large' = 'medium'): HTMLElement {
  const element = h('span', {class: `avatar avatar-${size}`, 'aria-hidden': 'true'}, initials(name));
  element.style.setProperty('--hue', String(hueOf(id)));
  return element;
}

// Isolates the name's text direction from the text around it.
export const authorLink = (user: {user_id: number; username: string}): HTMLElement =>
  h('a', {class: 'author', href: profileHash(user.user_id), dir: 'auto'}, user.username);

export function ago(iso: string): HTMLElement {
  const at = Date.parse(iso);
  return h('time', {class: 'ago', datetime: iso, title: exactTime(at)}, relativeTime(at, Date.now()));
}

// Updates relative times.
export function refreshTimes() {
  for (const element of document.querySelectorAll<HTMLTimeElement>('time.ago')) {
    setText(element, relativeTime(Date.parse(element.dateTime), Date.now()));
  }
}

// A dialog that is removed when it closes.
export function momentaryDialog(title: string, className: string, ...content: Child[]): Dialog {
  const box = dialog(title, ...content);
  box.element.classList.add(className);
  box.element.addEventListener('close', () => box.element.remove());
  return box;
}

// Asks for confirmation of something irreversible. The safe answer has the focus.
export function confirmed(title: string, text: string, label: string): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = false;
    const keep = h('button', {type: 'button', class: 'button', onclick: () => box.close()}, 'Keep it');
    const box = momentaryDialog(
      title,
      'confirmation',
      h('p', {class: 'muted'}, text),
      h(
        'div',
        {class: 'form-actions'},
        keep,
        h(
          'button',
          {
            type: 'button',
            class: 'button button-danger',
            onclick: () => {
              answer = true;
              box.close();
            },
          },
          label,
        ),
      ),
    );
    box.element.addEventListener('close', () => resolve(answer));
    box.open();
    keep.focus();
  });
}

// A label, an input and their hints.
export function field(label: string, id: string, input: HTMLElement, hint?: string): HTMLElement {
  input.id = id;
  if (hint) input.setAttribute('aria-describedby', `${id}-hint`);
  return h(
    'div',
    {class: 'field'},
    h('label', {for: id}, label),
    input,
    hint && h('p', {class: 'hint', id: `${id}-hint`}, hint),
  );
}

// Runs a button's action, one call at a time.
export async function whileBusy(button: HTMLButtonElement, run: () => Promise<void>) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  // Not `disabled`, which would lose the focus.
  button.setAttribute('aria-disabled', 'true');
  try {
    await run();
  } finally {
    button.setAttribute('aria-disabled', 'false');
  }
}
