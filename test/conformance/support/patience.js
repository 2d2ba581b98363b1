// Waiting for a state. How long is only a matter of giving up: a machine that is busy with other things takes its time.

import {setTimeout as pause} from 'node:timers/promises';

export const patienceMs = 120_000;
const pollMs = 50;

// Fails unless `promise` settles in time.
export async function within(promise, what, ms = patienceMs) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Waits until `check` returns something true, and returns that; what it returned last if that never happens. It may fail
// meanwhile.
export async function eventually(check) {
  const end = Date.now() + patienceMs;
  for (;;) {
    try {
      const result = await check();
      if (result || Date.now() > end) return result;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await pause(pollMs);
  }
}
