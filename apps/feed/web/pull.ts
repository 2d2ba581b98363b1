// Pull to refresh.

import {h, setText} from '#design/dom';
import {dialogIsOpen} from '#design/dialog';

// How far the finger must move. The indicator follows at half its speed.
const enoughPixels = 120;
const shownPixelsMax = 96;

export interface Pull {
  element: HTMLElement;
  stop(): void;
}

export function pullToRefresh(refresh: () => Promise<void>): Pull {
  const words = h('span', {class: 'muted'});
  const element = h('div', {class: 'pull', 'aria-hidden': 'true'}, h('span', {class: 'ember-dot'}), words);
  let startY = -1;
  let distance = 0;
  let busy = false;
  const place = (pixels: number) => {
    element.style.blockSize = `${Math.min(pixels, shownPixelsMax)}px`;
    setText(words, busy ? 'Refreshing…' : distance >= enoughPixels ? 'Let go to refresh' : 'Pull to refresh');
  };
  const start = (event: TouchEvent) => {
    const touch = event.touches.length === 1 ? event.touches[0] : undefined;
    startY = touch && !busy && scrollY <= 0 && element.isConnected && !dialogIsOpen() ? touch.clientY : -1;
    distance = 0;
  };
  const move = (event: TouchEvent) => {
    const touch = event.touches[0];
    if (startY < 0 || !touch) return;
    distance = Math.max(0, touch.clientY - startY);
    place(distance / 2);
  };
  const end = () => {
    if (startY < 0) return;
    startY = -1;
    if (distance < enoughPixels) return place(0);
    busy = true;
    place(enoughPixels / 2);
    void refresh().finally(() => {
      busy = false;
      distance = 0;
      place(0);
    });
  };
  const cancel = () => {
    startY = -1;
    place(0);
  };
  const listeners = {touchstart: start, touchmove: move, touchend: end, touchcancel: cancel};
  for (const [type, listener] of Object.entries(listeners))
    addEventListener(type, listener as EventListener, {passive: true});
  return {
    element,
    stop: () => {
      for (const [type, listener] of Object.entries(listeners)) removeEventListener(type, listener as EventListener);
    },
  };
}
