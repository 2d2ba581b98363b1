// The pictures of a post, side by side. Navigated by swiping, arrows and keys.

import {h, setText} from '#design/dom';
import {icon} from '#design/icons';
import type {Post} from './api';
import {frameRatio} from './words';

const calm = matchMedia('(prefers-reduced-motion: reduce)');

function picture(post: Post, index: number): HTMLElement {
  const {url, width, height} = post.media[index]!;
  const which = post.media.length > 1 ? `Picture ${index + 1} of ${post.media.length}` : 'Picture';
  const image = h('img', {
    src: url,
    width,
    height,
    alt: `${which} by ${post.username}`,
    decoding: 'async',
    loading: 'lazy',
    draggable: 'false',
  });
  const slide = h('div', {class: 'slide'}, image);
  image.addEventListener('error', () => slide.classList.add('slide-broken'));
  return slide;
}

// `fit`: whether pictures of another aspect ratio fill the frame or are shown whole.
export function carousel(post: Post, fit: 'fill' | 'whole'): HTMLElement {
  const count = post.media.length;
  const track = h('div', {class: 'track'}, ...post.media.map((_, i) => picture(post, i)));
  const element = h('div', {class: `carousel carousel-${fit}`}, track);
  // Reserves the space before the picture loads, so that nothing moves.
  element.style.setProperty('--ratio', String(frameRatio(post.media)));
  if (count > 1) addControls(element, track, count, `Pictures by ${post.username}`);
  return element;
}

function addControls(element: HTMLElement, track: HTMLElement, count: number, label: string) {
  let current = 0;
  const arrow = (name: 'back' | 'next', text: string, step: number) =>
    h(
      'button',
      {
        type: 'button',
        class: `carousel-arrow carousel-${name}`,
        'aria-label': text,
        onclick: () => go(current + step),
      },
      icon(name, 20),
    );
  const back = arrow('back', 'Previous picture', -1);
  const next = arrow('next', 'Next picture', 1);
  const place = h('span', {class: 'carousel-place numeric', role: 'status'});
  const dots = h(
    'div',
    {class: 'dots', 'aria-hidden': 'true'},
    ...Array.from({length: count}, () => h('span', {class: 'dot'})),
  );

  const show = () => {
    back.hidden = current === 0;
    next.hidden = current === count - 1;
    setText(place, `${current + 1} / ${count}`);
    for (const [i, dot] of [...dots.children].entries()) dot.classList.toggle('dot-here', i === current);
  };
  const direction = () => (getComputedStyle(track).direction === 'rtl' ? -1 : 1);
  const go = (index: number) => {
    const bounded = Math.max(0, Math.min(count - 1, index));
    // The pressed button may disappear: keep the focus in the carousel.
    if (element.contains(document.activeElement) && (bounded === 0 || bounded === count - 1))
      track.focus({preventScroll: true});
    track.scrollTo({left: bounded * track.clientWidth * direction(), behavior: calm.matches ? 'auto' : 'smooth'});
  };
  track.addEventListener(
    'scroll',
    () => {
      const index = Math.round(Math.abs(track.scrollLeft) / Math.max(1, track.clientWidth));
      if (index === current) return;
      current = index;
      show();
    },
    {passive: true},
  );
  track.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(current + step * direction());
  });
  track.tabIndex = 0;
  track.setAttribute('role', 'group');
  track.setAttribute('aria-roledescription', 'carousel');
  track.setAttribute('aria-label', label);
  element.append(back, next, place, dots);
  show();
}
