// Light or dark: the system's setting, until the user chooses. All pages of a server share the choice.

import {h} from './dom';
import {icon} from './icons';
import {readStored, writeStored} from './stored';

type Theme = 'light' | 'dark';
const key = 'hearth-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | null {
  const value = readStored(key);
  return value === 'light' || value === 'dark' ? value : null;
}

export const currentTheme = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

function apply() {
  const choice = chosen();
  if (choice) document.documentElement.dataset.theme = choice;
  else delete document.documentElement.dataset.theme;
  // The phone's own interface around the page follows the theme.
  const {backgroundColor} = getComputedStyle(document.documentElement);
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]'))
    meta.content = backgroundColor;
}

// A button that changes the theme. Pages create it before they show anything, so that they never flash.
export function themeToggle(): HTMLButtonElement {
  const button = h('button', {type: 'button', class: 'button button-quiet button-icon'});
  const show = () => {
    apply();
    const other = currentTheme() === 'dark' ? 'light' : 'dark';
    button.replaceChildren(icon(other === 'dark' ? 'moon' : 'sun'));
    button.setAttribute('aria-label', `Use the ${other} theme`);
    button.title = `Use the ${other} theme`;
  };
  button.addEventListener('click', () => {
    writeStored(key, currentTheme() === 'dark' ? 'light' : 'dark');
    show();
  });
  system.addEventListener('change', show);
  addEventListener('storage', (event) => event.key === key && show());
  show();
  return button;
}
