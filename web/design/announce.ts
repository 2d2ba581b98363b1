// Tells screen readers what others see happen.

import {h} from './dom';

let region: HTMLElement | undefined;

function liveRegion(): HTMLElement {
  if (!region) {
    region = h('div', {class: 'visually-hidden', role: 'status', 'aria-live': 'polite'});
    document.body.append(region);
  }
  return region;
}

// The region must be there before its text changes, or the change is not read.
export function prepareAnnouncements() {
  liveRegion();
}

export function announce(text: string) {
  const element = liveRegion();
  // The same words twice are read twice only if the text changes in between.
  element.textContent = '';
  setTimeout(() => (element.textContent = text), 50);
}
