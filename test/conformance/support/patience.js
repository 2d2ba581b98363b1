// Waiting for a state. The limits only decide when to give up: a busy machine may take long.

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

// Waits until `check` returns something truthy, and returns it; at the time limit, returns the last result. `check` may
// throw in the meantime.
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
