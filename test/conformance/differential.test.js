// Runs random sequences of writes and reads in step against Hearth and the official emulator and compares the results.
// HEARTH_SEED repeats a run, HEARTH_STEPS makes it longer.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {isDeepStrictEqual} from 'node:util';
import {newProject} from './support/check.js';
import {isAccepted} from './support/differences.js';
import {Generator} from './support/generator.js';
import {Random, seed} from './support/random.js';
import {Raw} from './support/raw.js';
import {startEmulator, startTarget} from './support/server.js';
import {Side, separateServerTimes} from './support/side.js';

const stepsInAll = Number(process.env.HEARTH_STEPS ?? 600);
const stepsInOneDatabase = 150;
const shrinkMsMax = 20_000;

let target;
let emulator;
before(async () => {
  [target, emulator] = await Promise.all([startTarget(), startEmulator()]);
});
after(async () => {
  await Promise.all([target?.stop(), emulator?.stop()]);
});

// Both servers, each with a fresh database.
class Pair {
  constructor() {
    const project = newProject();
    this.raws = [new Raw(target.address), new Raw(emulator.address)];
    this.sides = this.raws.map((raw, n) => new Side(raw, {project, isEmulator: n === 1}));
  }

  close() {
    for (const raw of this.raws) raw.close();
  }

  // The first difference that the step causes, or null.
  async run(step) {
    await separateServerTimes(step);
    const [ours, theirs] = await Promise.all(this.sides.map((side) => side.run(step)));
    for (let n = 0; n < Math.max(ours.length, theirs.length); ++n) {
      const isSame = isDeepStrictEqual(ours[n], theirs[n]) || (ours[n] && theirs[n] && isAccepted(ours[n], theirs[n]));
      if (!isSame) return {request: n, ours: ours[n], theirs: theirs[n]};
    }
    return null;
  }
}

// The difference that the last of `steps` causes after the others; null if there is none, or if another step differs.
async function replay(steps) {
  const pair = new Pair();
  try {
    for (const step of steps.slice(0, -1)) if (await pair.run(step)) return null;
    return await pair.run(steps.at(-1));
  } finally {
    pair.close();
  }
}

// The steps without those that the difference does not need.
async function shrink(steps) {
  const deadline = Date.now() + shrinkMsMax;
  let kept = steps;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length - 1 && Date.now() < deadline; ) {
      const fewer = [...kept.slice(0, start), ...kept.slice(Math.min(start + size, kept.length - 1))];
      if (fewer.length < kept.length && (await replay(fewer))) kept = fewer;
      else start += size;
    }
  }
  return kept;
}

const show = (x) =>
  JSON.stringify(x, (_, value) => {
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
      return Object.is(value, -0) ? '-0' : String(value);
    return value?.type === 'Buffer' ? `bytes ${Buffer.from(value.data).toString('hex')}` : value;
  });

async function report(steps) {
  const fewest = await shrink(steps);
  const difference = (await replay(fewest)) ?? {note: 'does not happen again when replayed'};
  return [
    `HEARTH_SEED=${seed}: the last of these ${fewest.length} steps differs (in its request ${difference.request}):`,
    ...fewest.map(show),
    `hearth:   ${show(difference.ours)}`,
    `emulator: ${show(difference.theirs)}`,
  ].join('\n');
}

test('Hearth answers as the official emulator does', async (t) => {
  if (!emulator) return t.skip('the official emulator is not installed here');
  console.log(`HEARTH_SEED=${seed}`);
  const random = new Random(seed);
  const reports = [];
  for (let done = 0; done < stepsInAll; done += stepsInOneDatabase) {
    const generator = new Generator(random);
    const pair = new Pair();
    const steps = [];
    try {
      while (steps.length < Math.min(stepsInOneDatabase, stepsInAll - done)) {
        steps.push(generator.step());
        if (await pair.run(steps.at(-1))) {
          reports.push(await report(steps));
          break; // From here on the two databases may contain different documents.
        }
        const {id} = steps.at(-1);
        if (steps.at(-1).kind === 'commit' && pair.sides.every((side) => side.committed(id)))
          generator.committed.push(id);
      }
    } finally {
      pair.close();
    }
    if (reports.length >= 3) break;
  }
  assert.equal(reports.length, 0, `\n${reports.join('\n\n')}`);
});
