// Keyboard shortcuts, and the dialog that lists them.

import {dialog, dialogIsOpen, type Dialog} from '#design/dialog';
import {acceptsText, h} from '#design/dom';
import {readStored, writeStored} from '#design/stored';

export interface Shortcut {
  keys: string[]; // Values of KeyboardEvent.key.
  shown?: string[]; // In the list; omitted if undefined.
  text: string;
  run: () => void;
}

// Speech input may press letters by accident, so single keys can be turned off.
const offKey = 'hearth-hackernews-keys-off';

export function shortcuts(list: Shortcut[]): Dialog {
  const box = dialog('Keyboard', help(list));
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (dialogIsOpen() || acceptsText(event.target) || readStored(offKey)) return;
    const shortcut = list.find(({keys}) => keys.includes(event.key));
    if (!shortcut || belongsToTarget(event)) return;
    event.preventDefault();
    shortcut.run();
  });
  return box;
}

// Enter activates the focused element, and arrows move within a group of radio buttons.
function belongsToTarget({key, target}: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (key === 'Enter') return target.closest('a, button, input') !== null;
  return key.startsWith('Arrow') && target instanceof HTMLInputElement;
}

function help(list: Shortcut[]): HTMLElement {
  const on = h('input', {type: 'checkbox', checked: !readStored(offKey)});
  on.addEventListener('change', () => writeStored(offKey, on.checked ? null : '1'));
  return h(
    'div',
    {},
    h(
      'dl',
      {class: 'keys'},
      ...list
        .filter(({shown}) => shown?.length !== 0)
        .map(({keys, shown, text}) =>
          h('div', {}, h('dt', {}, ...(shown ?? keys).map((key) => h('kbd', {}, key))), h('dd', {}, text)),
        ),
    ),
    h('label', {class: 'check'}, on, 'Use these keys'),
  );
}
