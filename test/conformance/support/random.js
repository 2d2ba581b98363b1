// Random numbers from a seed. The run prints the seed, and HEARTH_SEED repeats it.

export const seed = Number(process.env.HEARTH_SEED ?? (Date.now() ^ (process.pid << 8)) >>> 0);

export class Random {
  #state;

  constructor(start) {
    this.#state = start >>> 0;
  }

  // A whole number from 0 to limit - 1. (A Weyl sequence through a mixing function.)
  below(limit) {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit;
  }

  chance(percent) {
    return this.below(100) < percent;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  some(list, most) {
    return Array.from({length: 1 + this.below(most)}, () => this.pick(list));
  }
}
