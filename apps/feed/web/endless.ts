// The foot of a list, which loads the next page when it comes near the viewport.

import {h} from '#design/dom';
import {explain} from './words';

export interface EndlessOptions {
  list: {readonly complete: boolean};
  // Loads and shows the next page.
  load: () => Promise<void>;
  end: string; // The message at the end.
  failed: string;
  root?: Element; // The scroll container, if not the page.
}

export interface Endless {
  element: HTMLElement;
  update(): void; // The list has changed by other means.
  stop(): void;
}

// Loads pages before the user reaches the end of the previous one.
const aheadPixels = 1_200;

export function endless({list, load, end, failed, root}: EndlessOptions): Endless {
  const element = h('div', {class: 'foot'});
  let busy = false;
  let failure = '';

  const show = () => {
    if (failure !== '') {
      element.replaceChildren(
        h('div', {class: 'notice notice-bad', role: 'alert'}, `${failed} ${failure}`),
        h('button', {type: 'button', class: 'button', onclick: retry}, 'Try again'),
      );
    } else if (list.complete) {
      element.replaceChildren(...(end === '' ? [] : [h('p', {class: 'foot-end', role: 'status'}, end)]));
    } else {
      element.replaceChildren(h('span', {class: 'ember-dot'}), h('span', {class: 'muted'}, 'Loading more…'));
    }
  };

  const next = async () => {
    // After a failure only the user retries: the foot is visible, so automatic retries would follow each other at once.
    if (busy || failure !== '' || list.complete) return;
    busy = true;
    try {
      await load();
    } catch (error) {
      failure = explain(error);
    } finally {
      busy = false;
      show();
      look();
    }
  };

  const retry = () => {
    failure = '';
    show();
    void next();
  };

  // The second margin is for scroll containers between the root and the foot; browsers without it load when the foot is
  // visible.
  const margin = `${aheadPixels}px 0px`;
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some(({isIntersecting}) => isIntersecting)) void next();
    },
    {root: root ?? null, rootMargin: margin, scrollMargin: margin},
  );
  // Observing again reports whether it is visible even if that has not changed: after a short page it still is.
  const look = () => {
    observer.unobserve(element);
    if (!list.complete && failure === '') observer.observe(element);
  };

  show();
  look();
  return {
    element,
    update: () => {
      failure = '';
      show();
      look();
    },
    stop: () => observer.disconnect(),
  };
}
