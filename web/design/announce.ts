// Announces visible changes to screen readers.

import {h} from './dom';

let region: HTMLElement | undefined;

function liveRegion(): HTMLElement {
  if (!region) {
    region = h('div', {class: 'visually-hidden', role: 'status', 'aria-live': 'polite'});
    document.body.append(region);
  }
  return region;
}

// The region must exist before its text changes, or the change is not announced.
export function prepareAnnouncements() {
  liveRegion();
}

export function announce(text: string) {
  const element = liveRegion();
  // The same text is announced twice only if it changes in between.
  element.textContent = '';
  setTimeout(() => (element.textContent = text), 50);
}
