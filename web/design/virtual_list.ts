// A list that keeps only the visible rows in the document. It scrolls with the page, or in its own element.
//
// Rows keep their place when rows above them change, appear or go. The row with the focus stays in the document even
// when scrolled out of view, or the focus would be lost. Rows are in the document in the list's order.

import {h} from './dom';
import {ListLayout, scrollIntoView, type Range} from './list_layout';

type Key = string | number;

export interface VirtualListOptions<T> {
  label: string;
  // feed: articles, possibly followed by more. list: items. table: rows, counted from `firstRow`.
  kind?: 'feed' | 'list' | 'table';
  firstRow?: number;
  rowHeight: number; // Of every row; with `measured`, an initial estimate.
  measured?: boolean;
  scroller?: HTMLElement; // Default: the page.
  insets?: () => {top: number; bottom: number}; // What covers the edges of the view, such as a sticky bar.
  keyOf: (item: T) => Key;
  render: (item: T, index: number) => HTMLElement;
  update?: (row: HTMLElement, item: T, index: number) => void; // The same item, changed or at another index.
  onRange?: (range: Range, length: number) => void;
}

// The scroll position of a list: the first visible row, and how far its top is below the upper edge of the visible
// area.
export interface Place {
  key: Key;
  index: number;
  offset: number;
}

interface Row<T> {
  element: HTMLElement;
  item: T;
  index: number;
  offset: number; // As last written to the document, since writing is expensive; NaN before.
  counted: string;
}

const overscanPx = 600;
const movingMs = 260;
const passesMax = 3;
const samePx = 0.5;
const noInsets = () => ({top: 0, bottom: 0});

export class VirtualList<T> {
  readonly element: HTMLElement;
  readonly #options: VirtualListOptions<T>;
  readonly #layout: ListLayout;
  readonly #rows = new Map<Key, Row<T>>();
  readonly #heights = new Map<Key, number>();
  readonly #keys = new WeakMap<Element, Key>();
  readonly #observer: ResizeObserver;
  #items: readonly T[] = [];
  #indexes = new Map<Key, number>();
  #current: Key | undefined;
  #width = 0;
  #frame = 0;
  #movingTimer = 0;
  #total = 0;

  constructor(options: VirtualListOptions<T>) {
    this.#options = options;
    this.#layout = new ListLayout(options.rowHeight);
    this.element = h('div', {class: 'virtual', role: options.kind ?? 'list', 'aria-label': options.label});
    this.#observer = new ResizeObserver((entries) => this.#onResize(entries));
    this.#observer.observe(this.element);
    (options.scroller ?? window).addEventListener('scroll', () => this.#schedule(), {passive: true});
    addEventListener('resize', () => this.#schedule());
    this.element.addEventListener('focusin', (event) => this.#onFocus(event));
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
  }

  get items() {
    return this.#items;
  }
  get currentIndex(): number {
    return this.#current === undefined ? -1 : (this.#indexes.get(this.#current) ?? -1);
  }
  get current(): T | undefined {
    return this.#items[this.currentIndex];
  }

  // `total`: the number of items, including those that are not loaded; -1 if unknown. `animate`: rows glide to their
  // new positions. The first visible row keeps its position.
  setItems(items: readonly T[], {total = items.length, animate = false} = {}) {
    const anchor = this.#anchor();
    this.#items = items;
    this.#total = total;
    this.#indexes = new Map(items.map((item, index) => [this.#options.keyOf(item), index]));
    this.#layout.reset(items.map((item) => this.#heights.get(this.#options.keyOf(item))));
    if (this.#options.kind === 'table') this.element.setAttribute('aria-rowcount', String(total));
    if (animate) this.#glide();
    this.#restore(anchor);
    this.#render();
  }

  // Moves the focus to a row and scrolls it into view.
  focusIndex(index: number) {
    if (this.#items.length === 0) return;
    const target = Math.max(0, Math.min(index, this.#items.length - 1));
    this.#current = this.#options.keyOf(this.#items[target]!);
    this.reveal(target);
    this.#render();
    // The heights in between were estimates; now they are known.
    this.reveal(target);
    this.#rows.get(this.#current)?.element.focus({preventScroll: true});
  }

  // The next or the previous row; if none is current, the first visible one.
  move(delta: number) {
    const from = this.currentIndex;
    const inSight = from >= 0 && this.#rows.get(this.#current!)?.element.contains(document.activeElement);
    this.focusIndex(inSight ? from + delta : this.#firstInSight());
  }

  reveal(index: number) {
    const {top, height} = this.#view();
    const insets = (this.#options.insets ?? noInsets)();
    const by = scrollIntoView(
      this.#layout.offset(index),
      this.#layout.height(index),
      top + insets.top,
      height - insets.top - insets.bottom,
    );
    if (Math.abs(by) >= 1) this.#scrollBy(by);
  }

  // Null at the very top of the list: a user who returns there should see new rows.
  get place(): Place | null {
    const anchor = this.#anchor();
    return anchor ? {...anchor, offset: anchor.offset - this.#edge()} : null;
  }

  // Scrolls to an earlier place of the list. If the row is gone, the row that now has its index takes its place.
  restore({key, index, offset}: Place) {
    if (this.#items.length === 0) return;
    const row = this.#indexes.get(key) ?? Math.max(0, Math.min(index, this.#items.length - 1));
    // The heights in between are estimates; in the second pass they are known.
    for (let pass = 0; pass < 2; ++pass) {
      this.#scrollBy(this.#layout.offset(row) - offset - this.#edge());
      this.#render();
    }
  }

  scrollToTop() {
    (this.#options.scroller ?? window).scrollTo({top: 0});
    this.#render();
  }

  // Redraws the rows whose text may change by itself, such as times.
  refresh() {
    for (const row of this.#rows.values()) this.#options.update?.(row.element, row.item, row.index);
  }

  #firstInSight(): number {
    const y = this.#edge();
    const index = this.#layout.indexAt(y);
    return this.#layout.offset(index) < y - 1 && y > 0 ? index + 1 : index;
  }

  // The visible part of the list, in the list's own coordinates.
  #view(): {top: number; height: number} {
    const {scroller} = this.#options;
    const origin = this.element.getBoundingClientRect().top;
    if (!scroller) return {top: -origin, height: innerHeight};
    return {top: scroller.getBoundingClientRect().top + scroller.clientTop - origin, height: scroller.clientHeight};
  }

  // The upper edge of the visible area, below whatever covers it.
  #edge(): number {
    return this.#view().top + (this.#options.insets ?? noInsets)().top;
  }

  #scrollBy(y: number) {
    (this.#options.scroller ?? window).scrollBy({top: y, behavior: 'instant'});
  }

  // The first visible row and its offset within the list. At the very top no row is held in place: new first rows
  // should be visible.
  #anchor(): Place | undefined {
    const y = this.#edge();
    if (y <= 0 || this.#items.length === 0) return undefined;
    const index = this.#layout.indexAt(y);
    return {key: this.#options.keyOf(this.#items[index]!), index, offset: this.#layout.offset(index)};
  }

  #restore(anchor: Place | undefined) {
    this.#resize();
    const index = anchor && this.#indexes.get(anchor.key);
    if (anchor === undefined || index === undefined) return;
    const by = this.#layout.offset(index) - anchor.offset;
    if (Math.abs(by) >= 1) this.#scrollBy(by);
  }

  #resize() {
    this.element.style.height = `${this.#layout.total}px`;
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#render();
    });
  }

  #render() {
    if (!this.element.isConnected) return;
    const anchor = this.#anchor();
    // Rows are measured as they appear. If their heights differ from the estimates, other rows may be visible.
    let view = this.#view();
    for (let pass = 0; pass < passesMax; ++pass) {
      const range = this.#layout.range(view.top - overscanPx, view.top + view.height + overscanPx);
      this.#dropRows(range);
      if (!this.#measure(this.#placeRows(range))) break;
      this.#restore(anchor);
      view = this.#view();
    }
    this.#options.onRange?.(this.#layout.range(view.top, view.top + view.height), this.#items.length);
  }

  // Returns whether that moved anything.
  #measure(rows: Row<T>[]): boolean {
    if (!this.#options.measured || rows.length === 0) return false;
    const sizes = rows.map(({element}) => element.getBoundingClientRect().height);
    const first = this.#heights.size === 0;
    if (first) this.#layout.setEstimate(sizes.reduce((sum, size) => sum + size, 0) / sizes.length);
    const moved = rows.map((row, i) => {
      this.#heights.set(this.#options.keyOf(row.item), sizes[i]!);
      return this.#layout.setHeight(row.index, sizes[i]!);
    });
    return first || moved.includes(true);
  }

  #dropRows({start, end}: Range) {
    const focused = document.activeElement;
    for (const [key, row] of this.#rows) {
      const index = this.#indexes.get(key) ?? -1;
      const wanted = index >= start && index < end;
      if (wanted || (index >= 0 && row.element.contains(focused))) continue;
      this.#observer.unobserve(row.element);
      row.element.remove();
      this.#rows.delete(key);
    }
  }

  // The rows that were not in the document before.
  #placeRows({start, end}: Range): Row<T>[] {
    const indexes = new Set([...this.#rows.keys()].map((key) => this.#indexes.get(key)!));
    for (let index = start; index < end; ++index) indexes.add(index);
    const added: Row<T>[] = [];
    let next = this.element.firstElementChild;
    for (const index of [...indexes].sort((a, b) => a - b)) {
      const row = this.#row(index);
      if (!row.element.isConnected) added.push(row);
      if (row.element === next) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
      const offset = this.#layout.offset(index);
      if (row.offset === offset) continue;
      row.offset = offset;
      row.element.style.transform = `translateY(${offset}px)`;
    }
    return added;
  }

  #row(index: number): Row<T> {
    const item = this.#items[index]!;
    const key = this.#options.keyOf(item);
    let row = this.#rows.get(key);
    if (!row) {
      row = {element: this.#options.render(item, index), item, index, offset: NaN, counted: ''};
      this.#keys.set(row.element, key);
      row.element.setAttribute('role', {feed: 'article', list: 'listitem', table: 'row'}[this.#options.kind ?? 'list']);
      row.element.tabIndex = -1;
      this.#rows.set(key, row);
      if (this.#options.measured) this.#observer.observe(row.element);
    } else if (row.index !== index || row.item !== item) {
      row.item = item;
      row.index = index;
      this.#options.update?.(row.element, item, index);
    }
    this.#count(row);
    return row;
  }

  #count(row: Row<T>) {
    const {element, index} = row;
    const counted = `${index}/${this.#total}`;
    if (row.counted === counted) return;
    row.counted = counted;
    if (this.#options.kind === 'table') {
      element.setAttribute('aria-rowindex', String(index + (this.#options.firstRow ?? 1)));
      return;
    }
    element.setAttribute('aria-posinset', String(index + 1));
    element.setAttribute('aria-setsize', String(this.#total));
  }

  // Rows whose height differs from the estimate move the rows below, never the visible ones.
  #onResize(entries: ResizeObserverEntry[]) {
    const sizes = entries
      .filter(({target}) => target !== this.element)
      .flatMap(({target, borderBoxSize}) => {
        const key = this.#keys.get(target);
        const height = borderBoxSize[0]?.blockSize ?? 0;
        const same = key === undefined || height === 0 || Math.abs(height - (this.#heights.get(key) ?? 0)) < samePx;
        return same ? [] : [{key, height}];
      });
    if (sizes.length === 0 && this.element.clientWidth === this.#width) return;
    const anchor = this.#anchor();
    if (!this.#onWidth(this.element.clientWidth)) {
      for (const {key, height} of sizes) {
        this.#heights.set(key, height);
        this.#layout.setHeight(this.#indexes.get(key) ?? -1, height);
      }
    }
    this.#restore(anchor);
    this.#render();
  }

  // A different width changes heights: the measurements are invalid.
  #onWidth(width: number): boolean {
    if (width === this.#width || width === 0) return false;
    this.#width = width;
    if (!this.#options.measured) return false;
    this.#heights.clear();
    this.#layout.reset(this.#items.map(() => undefined));
    this.#measure([...this.#rows.values()]);
    return true;
  }

  #onFocus(event: FocusEvent) {
    for (const [key, row] of this.#rows) {
      const isCurrent = row.element.contains(event.target as Node);
      row.element.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) this.#current = key;
    }
  }

  #onKey(event: KeyboardEvent) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      Home: () => this.focusIndex(0),
      End: () => this.focusIndex(this.#items.length - 1),
    };
    const run = moves[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }

  #glide() {
    clearTimeout(this.#movingTimer);
    this.element.classList.add('virtual-moving');
    this.#movingTimer = setTimeout(() => this.element.classList.remove('virtual-moving'), movingMs);
  }
}
