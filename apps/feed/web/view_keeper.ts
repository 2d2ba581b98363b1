// Shows one view at a time, and keeps recent ones, so that going back restores the scroll position.

import {announce} from '#design/announce';
import type {View} from './app';

interface Kept {
  view: View;
  scroll: number;
}

const keptMax = 8;

export class ViewKeeper {
  readonly #place: HTMLElement;
  readonly #kept = new Map<number, Kept>(); // By entry of the history.
  #entry = 0;
  #current: View | undefined;
  #isFirst = true;

  constructor(place: HTMLElement) {
    this.#place = place;
    history.scrollRestoration = 'manual';
    // The browser scrolls as soon as the URL changes, before the views do, so the position is recorded while scrolling.
    addEventListener('scroll', () => this.#note(), {passive: true});
  }

  // `make` creates the view for the URL, or finds it if it is kept.
  show(make: () => View) {
    const {entry} = (history.state ?? {}) as {entry?: number};
    const kept = entry === undefined ? undefined : this.#kept.get(entry);
    if (entry === undefined) history.replaceState({entry: Date.now()}, '');
    this.#entry = (history.state as {entry: number}).entry;
    const isBack = kept !== undefined && kept.view !== this.#current;
    const view = isBack ? kept.view : make();
    const previous = this.#current;
    this.#current = view;
    this.#place.replaceChildren(view.element);
    this.#keep({view, scroll: isBack ? kept.scroll : view.isLasting && previous !== view ? this.#lastScroll(view) : 0});
    document.title = `${view.title} · Photo feed`;
    view.shown?.();
    scrollTo({top: this.#kept.get(this.#entry)?.scroll ?? 0});
    this.#focus(view);
  }

  // The browser has restored the page from its back/forward cache.
  again() {
    this.#current?.shown?.();
  }

  clear() {
    const views = new Set([...this.#kept.values()].map(({view}) => view));
    this.#kept.clear();
    for (const view of views) this.#endUnlessKept(view);
    this.#current = undefined;
  }

  #note() {
    const kept = this.#kept.get(this.#entry);
    if (kept && kept.view === this.#current && this.#place.contains(kept.view.element)) kept.scroll = scrollY;
  }

  #lastScroll(view: View): number {
    return [...this.#kept.values()].findLast((kept) => kept.view === view)?.scroll ?? 0;
  }

  #keep(kept: Kept) {
    const replaced = this.#kept.get(this.#entry);
    this.#kept.delete(this.#entry);
    this.#kept.set(this.#entry, kept);
    if (replaced) this.#endUnlessKept(replaced.view);
    for (const [entry, {view}] of this.#kept) {
      if (this.#kept.size <= keptMax) break;
      this.#kept.delete(entry);
      this.#endUnlessKept(view);
    }
  }

  #endUnlessKept(view: View) {
    if (!view.isLasting && ![...this.#kept.values()].some((kept) => kept.view === view)) view.ended?.();
  }

  // New content is read from its title on; on the first page the browser decides.
  #focus(view: View) {
    if (this.#isFirst) {
      this.#isFirst = false;
      return;
    }
    const heading = view.element.querySelector<HTMLElement>('h1, h2[tabindex]');
    (heading ?? this.#place).focus({preventScroll: true});
    announce(view.title);
  }
}
