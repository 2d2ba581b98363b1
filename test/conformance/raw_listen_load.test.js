// Listen: many targets, and clients that do not read.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {Fixture, ownTest, useServer} from './support/check.js';
import {Listener, orderOf, queryOf} from './support/listener.js';
import {serve} from './support/own_server.js';
import {Raw} from './support/raw.js';
import {toValue} from './support/values.js';

const context = useServer();
const memoryMiBMax = 300;

// The server's memory use now, and its peak so far.
function residentMiB({pid}) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [now, most] = ['VmRSS', 'VmHWM'].map(
    (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)[1]) / 1024,
  );
  return {now, most};
}

ownTest(
  '10,000 targets over 100 streams receive exactly the changes that affect them',
  'it is too slow for this many',
  async () => {
    const fixture = new Fixture(context);
    const [streams, perStream] = [100, 100];
    const raws = Array.from({length: 10}, () => new Raw(context.address));
    const listeners = Array.from({length: streams}, (_, i) => new Listener(raws[i % raws.length], fixture));
    const room = (number) =>
      queryOf('rooms', {where: {fieldFilter: {field: {fieldPath: 'room'}, op: 'EQUAL', value: toValue(number)}}});
    // Every third is a document.
    await Promise.all(
      listeners.map(async (listener, i) => {
        for (let j = 0; j < perStream; ++j) {
          const number = i * perStream + j;
          if (number % 3) listener.addQuery(j + 1, room(number));
          else listener.addDocuments(j + 1, [`rooms/r${number}`]);
        }
        await listener.current(perStream);
        listener.take();
      }),
    );

    const chosen = Array.from({length: 200}, (_, i) => (i * 47) % (streams * perStream));
    const pick = (i) => chosen.slice(i * 20, i * 20 + 20);
    for (let i = 0; i < 10; ++i) {
      await fixture.write(...pick(i).map((number) => fixture.set(`rooms/r${number}`, {room: number})));
    }
    // A change for all streams, so that each is known to have received the others.
    for (const listener of listeners) listener.addDocuments(1000, ['all/a']);
    await Promise.all(listeners.map((listener) => listener.current(1000)));
    const last = await fixture.write(fixture.set('all/a', {}));
    await Promise.all(listeners.map((listener) => listener.snapshotAt(last)));
    const heard = listeners.flatMap((listener, i) =>
      listener
        .take()
        .short.filter((each) => each.startsWith('change rooms'))
        .map((each) => [i, each]),
    );
    const expected = chosen.map((number) => [
      Math.floor(number / perStream),
      `change rooms/r${number} ${(number % perStream) + 1}`,
    ]);
    const inOrder = (list) => list.map(String).sort();
    assert.deepStrictEqual(inOrder(heard), inOrder(expected));
    await Promise.all(listeners.map((listener) => listener.cancel()));
    for (const raw of raws) raw.close();
  },
);

// Clients that have stopped reading, while documents of 1 MB change `rounds` times each.
async function listenSlowly({documents, rounds}) {
  const server = await serve({flags: ['--cache-mib', '32']});
  const [reader, writer] = [new Raw(server.address), new Raw(server.address)];
  const fixture = new Fixture({raw: writer});
  const listeners = Array.from({length: 3}, () => new Listener(reader, fixture));
  for (const listener of listeners) {
    listener.addQuery(2, queryOf('c'));
    await listener.current(2);
    listener.stream.pause();
  }
  const text = 'x'.repeat(1_000_000);
  for (let round = 0; round < rounds; ++round) {
    for (let id = 0; id < documents; id += 2) {
      await Promise.all([id, id + 1].map((each) => fixture.write(fixture.set(`c/${each}`, {round, text}))));
    }
  }
  const last = await fixture.write(fixture.set('c/last', {round: rounds - 1}));
  const paused = residentMiB(server);
  for (const listener of listeners) {
    listener.stream.resume();
    await listener.snapshotAt(last);
    assert.equal(listener.paths(2).length, documents + 1);
    for (const {fields} of listener.results.get(2).values())
      assert.equal(Number(fields.round.integerValue), rounds - 1);
    await listener.cancel();
  }
  const after = residentMiB(server);
  reader.close();
  writer.close();
  await server.stop();
  assert.ok(
    after.most < memoryMiBMax,
    `${Math.round(paused.now)} MiB with clients that wait, ${Math.round(after.most)} MiB at most`,
  );
}

const why = 'it keeps everything in memory';

ownTest('clients that do not read cost no memory, and catch up: few documents, often', why, () =>
  listenSlowly({documents: 4, rounds: 100}),
);

ownTest('clients that do not read cost no memory, and catch up: many documents', why, () =>
  listenSlowly({documents: 200, rounds: 3}),
);

ownTest('a resumed limit query over large documents does not keep them all in memory', why, async () => {
  const server = await serve({flags: ['--cache-mib', '32']});
  const fixture = new Fixture({raw: new Raw(server.address)});
  const text = 'x'.repeat(1_000_000);
  const documents = 150;
  for (let n = 0; n < documents; ++n) await fixture.write(fixture.set(`c/${n}`, {n, text}));
  const query = queryOf('c', {orderBy: orderOf('n'), limit: {value: 1000}});
  const first = new Listener(fixture.raw, fixture);
  const {resumeToken} = await first.addQuery(2, query).current(2);
  await first.cancel();
  const again = async () => {
    const listener = new Listener(fixture.raw, fixture);
    listener.results.set(2, new Map(first.results.get(2)));
    await listener.addQuery(2, query, {resumeToken}).current(2);
    await listener.cancel();
    assert.deepStrictEqual(listener.paths(2), first.paths(2));
    return listener.take().short;
  };
  assert.deepStrictEqual(
    (await again()).filter((each) => each !== 'snapshot'),
    ['ADD 2', 'CURRENT 2'],
  );
  for (let n = 0; n < documents; ++n) await fixture.write(fixture.patch(`c/${n}`, {m: 1}, ['m']));
  assert.ok((await again()).includes('RESET 2'));
  const {most} = residentMiB(server);
  fixture.raw.close();
  await server.stop();
  assert.ok(most < memoryMiBMax, `${Math.round(most)} MiB at most`);
});
