// A modal dialog based on the browser's own: it traps the focus, closes on Escape and then restores the focus.

import {h, type Child} from './dom';
import {icon} from './icons';

let count = 0;

export interface Dialog {
  element: HTMLDialogElement;
  open(): void;
  close(): void;
}

export function dialog(title: string, ...content: Child[]): Dialog {
  const titleId = `dialog-title-${++count}`;
  const close = () => element.close();
  const element = h(
    'dialog',
    {class: 'dialog', 'aria-labelledby': titleId},
    h(
      'div',
      {class: 'dialog-head'},
      // The title gets the focus, so that it is read first; a dialog may move the focus to a field.
      h('h2', {id: titleId, tabindex: -1, autofocus: true}, title),
      h(
        'button',
        {type: 'button', class: 'button button-quiet button-icon', 'aria-label': 'Close', onclick: close},
        icon('close'),
      ),
    ),
    ...content,
  );
  // A press on the backdrop targets the dialog element itself; a press inside targets a child.
  element.addEventListener('pointerdown', (event) => {
    const box = element.getBoundingClientRect();
    const inside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (event.target === element && !inside) close();
  });
  document.body.append(element);
  return {
    element,
    close,
    open: () => {
      if (!element.open) element.showModal();
    },
  };
}

export const dialogIsOpen = () => document.querySelector('dialog[open]') !== null;
