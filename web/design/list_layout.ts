// The positions of the rows of a long list. Heights that are not measured yet are estimated.

export interface Range {
  start: number;
  end: number; // Exclusive.
}

export class ListLayout {
  #estimate: number;
  #heights: (number | undefined)[] = [];
  #offsets: number[] = [0]; // One more than there are rows: the last is the total. Valid up to #valid.
  #valid = 0;

  constructor(estimate: number) {
    this.#estimate = estimate;
  }

  get length() {
    return this.#heights.length;
  }
  get total() {
    return this.offset(this.length);
  }

  reset(heights: (number | undefined)[]) {
    this.#heights = heights;
    this.#valid = 0;
  }

  setEstimate(estimate: number) {
    this.#estimate = estimate;
    this.#valid = 0;
  }

  // Returns whether that moved anything.
  setHeight(index: number, height: number): boolean {
    if (index < 0 || index >= this.length || this.#heights[index] === height) return false;
    const moved = this.height(index) !== height;
    this.#heights[index] = height;
    this.#valid = Math.min(this.#valid, index);
    return moved;
  }

  height(index: number): number {
    return this.#heights[index] ?? this.#estimate;
  }

  offset(index: number): number {
    const last = Math.max(0, Math.min(index, this.length));
    for (; this.#valid < last; ++this.#valid) {
      this.#offsets[this.#valid + 1] = this.#offsets[this.#valid]! + this.height(this.#valid);
    }
    return this.#offsets[last]!;
  }

  // The row at this position; the first or the last row if it is outside the list.
  indexAt(y: number): number {
    let low = 0;
    let high = Math.max(0, this.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offset(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The rows that are at least partly between `top` and `bottom`.
  range(top: number, bottom: number): Range {
    if (this.length === 0 || bottom <= 0 || top >= this.total) return {start: 0, end: 0};
    const start = this.indexAt(top);
    const last = this.indexAt(bottom);
    return {start, end: this.offset(last) < bottom ? last + 1 : Math.max(last, start + 1)};
  }
}

// How far to scroll so that a row is visible between the insets; 0 if it already is. A row that is higher than the view
// shows its beginning.
export function scrollIntoView(rowTop: number, rowHeight: number, viewTop: number, viewHeight: number): number {
  if (rowTop < viewTop || rowHeight > viewHeight) return rowTop - viewTop;
  return Math.max(0, rowTop + rowHeight - (viewTop + viewHeight));
}
