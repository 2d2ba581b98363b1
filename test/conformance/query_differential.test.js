// Sends random queries over random documents to Hearth and to the official emulator and compares the answers: results,
// order, values, codes and messages. HEARTH_SEED repeats a run, HEARTH_QUERIES makes it longer.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {isDeepStrictEqual} from 'node:util';
import {newProject} from './support/check.js';
import {isAcceptedForQueries} from './support/query_differences.js';
import {QueryGenerator} from './support/query_generator.js';
import {Random, seed} from './support/random.js';
import {Raw} from './support/raw.js';
import {startEmulator, startTarget} from './support/server.js';
import {Names} from './support/values.js';

const queriesInAll = Number(process.env.HEARTH_QUERIES ?? 4000);
const msMax = process.env.HEARTH_QUERIES ? Infinity : 40_000;
const queriesInOneDatabase = 500;
const documentsInOneDatabase = 90;
const queriesAtOnce = 8;
const reportsMax = Number(process.env.HEARTH_REPORTS ?? 5);

let target;
let emulator;
before(async () => {
  [target, emulator] = await Promise.all([startTarget(), startEmulator()]);
});
after(async () => {
  await Promise.all([target?.stop(), emulator?.stop()]);
});

// The parts of an answer that two servers can be compared by.
function normal({code, message, response = []}) {
  if (code !== 'OK') return {code, message};
  const documents = response.filter(({document}) => document).map(({document: {name, fields = {}}}) => [name, fields]);
  const values = response.filter(({result}) => result).map(({result}) => result.aggregateFields);
  return {code, documents, values};
}

const show = (x) =>
  JSON.stringify(x, (_, value) => {
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
      return Object.is(value, -0) ? '-0' : String(value);
    return value?.type === 'Buffer' ? `bytes ${Buffer.from(value.data).toString('hex')}` : value;
  });

// One database on both servers.
class Round {
  constructor(random) {
    this.names = new Names(newProject());
    this.raws = [new Raw(target.address), new Raw(emulator.address)];
    this.generator = new QueryGenerator(random, this.names.root);
    this.tally = {queries: 0, errors: 0, empty: 0, accepted: 0};
  }

  close() {
    for (const raw of this.raws) raw.close();
  }

  async load() {
    this.documents = this.generator.documents(documentsInOneDatabase);
    const writes = [...this.documents].map(([path, data]) => this.names.set(path, data));
    await Promise.all(this.raws.map((raw) => raw.must('Commit', this.names.commit(...writes))));
  }

  // A report of the difference that the query causes, or null.
  async compare({method, request}) {
    const [ours, theirs] = (await Promise.all(this.raws.map((raw) => raw.call(method, request)))).map(normal);
    this.tally.queries += 1;
    if (theirs.code !== 'OK') this.tally.errors += 1;
    else if (!theirs.documents.length && !theirs.values.length) this.tally.empty += 1;
    if (isDeepStrictEqual(ours, theirs)) return null;
    if (isAcceptedForQueries(ours, theirs, request)) {
      this.tally.accepted += 1;
      return null;
    }
    return [show({method, ...request}), ...this.#explain(ours, theirs)].join('\n').replaceAll(this.names.root, 'ROOT');
  }

  #explain(ours, theirs) {
    const brief = ({code, message, documents, values}) =>
      code === 'OK' ? show(values.length ? values : documents.map(([name]) => name)) : show({code, message});
    const names = [ours, theirs].map(({documents = []}) => documents.map(([name]) => name));
    const at = names[0].findIndex((name, n) => name !== names[1][n]);
    const concerned = new Set(names.flatMap((each) => each.slice(Math.max(at, 0), Math.max(at, 0) + 2)));
    return [
      `hearth:   ${brief(ours)}`,
      `emulator: ${brief(theirs)}`,
      ...[...concerned].map((name) => `${name}: ${show(this.documents.get(name.slice(this.names.root.length + 1)))}`),
    ];
  }
}

test('Hearth answers queries as the official emulator does', async (t) => {
  if (!emulator) return t.skip('the official emulator is not installed here');
  console.log(`HEARTH_SEED=${seed}`);
  const random = new Random(seed);
  const deadline = Date.now() + msMax;
  const reports = [];
  const total = {queries: 0, errors: 0, empty: 0, accepted: 0};
  while (total.queries < queriesInAll && reports.length < reportsMax && Date.now() < deadline) {
    const round = new Round(random);
    try {
      await round.load();
      while (round.tally.queries < queriesInOneDatabase && reports.length < reportsMax && Date.now() < deadline) {
        const queries = Array.from({length: queriesAtOnce}, () => round.generator.query());
        const found = await Promise.all(queries.map((query) => round.compare(query)));
        reports.push(...found.filter((report) => report));
      }
    } finally {
      round.close();
    }
    for (const key of Object.keys(total)) total[key] += round.tally[key];
  }
  console.log(
    `${total.queries} queries, ${total.errors} errors, ${total.empty} without results, ${total.accepted} accepted differences`,
  );
  assert.equal(reports.length, 0, `HEARTH_SEED=${seed}:\n${reports.join('\n\n')}`);
});
