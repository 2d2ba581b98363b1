// Starts and stops the servers under test: Hearth from its binary, and the official emulator if it is installed.
//
// HEARTH_BINARY   the server to start; otherwise build/release/hearth, then build/dev/hearth
// HEARTH_ADDRESS  talk to this running server instead of starting one
// HEARTH_TARGET   `emulator` when that server is the official emulator: it checks the tests themselves

import {spawn} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {eventually, patienceMs, within} from './patience.js';
import {Raw} from './raw.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const emulatorIsMissing = 3; // The exit code of tools/official-emulator.

export const targetIsEmulator = process.env.HEARTH_TARGET === 'emulator';

function binary() {
  const candidates = process.env.HEARTH_BINARY
    ? [process.env.HEARTH_BINARY]
    : ['release', 'dev'].map((preset) => join(root, 'build', preset, 'hearth'));
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`no server to test: build one of ${candidates.join(', ')}`);
  return found;
}

function exitOf(child) {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({code, signal})));
}

// No server outlives the test process.
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

function start(command, args, stdio) {
  const child = spawn(command, args, {stdio});
  running.add(child);
  const exited = exitOf(child);
  void exited.then(() => running.delete(child));
  return {child, exited};
}

function firstAddress(child, exited) {
  return new Promise((resolve, reject) => {
    createInterface({input: child.stdout}).on('line', (line) => {
      const match = /^listening on (\S+)$/.exec(line);
      if (match) resolve(match[1]);
    });
    exited.then(({code, signal}) => reject(new Error(`hearth exited early: ${code ?? signal}`)));
  });
}

// The log of the process so far. It is also copied to our own log.
function logOf(child) {
  const log = {text: ''};
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    log.text += piece;
    process.stderr.write(piece);
  });
  return log;
}

// Asks the process to stop and waits for it; a server that does not stop is killed and reported.
async function terminate(child, exited, signal) {
  child.kill(signal);
  try {
    return await within(exited, `stopping process ${child.pid}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

// A program that prints its address. `atEnd` runs when it is stopped, not when it is killed.
async function startProgram(args, atEnd = () => {}) {
  const {child, exited} = start(binary(), args, ['ignore', 'pipe', 'pipe']);
  const log = logOf(child);
  try {
    const address = await within(firstAddress(child, exited), `starting hearth ${args[0]}`);
    return {
      address,
      pid: child.pid,
      // Makes it reread its files.
      hangUp: () => child.kill('SIGHUP'),
      // Waits until it has logged this.
      async untilLogged(text) {
        if (!(await eventually(() => log.text.includes(text)))) throw new Error(`never logged: ${text}`);
      },
      // Ends it like a crash. Its data stays.
      async kill() {
        await terminate(child, exited, 'SIGKILL');
      },
      async stop() {
        const {code, signal} = await terminate(child, exited, 'SIGTERM');
        atEnd();
        if (code !== 0) throw new Error(`hearth ended with ${code ?? signal}`);
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    atEnd();
    throw error;
  }
}

// Hearth on a free loopback port, unless `listen` names another. Without `data` its data is in a temporary directory,
// which is removed with it. `admin` has the headers of its administrator.
export async function startHearth({data, listen = '127.0.0.1:0', flags = []} = {}) {
  const directory = data ?? mkdtempSync(join(tmpdir(), 'hearth-conformance-'));
  const server = await startProgram(
    ['serve', '--data', directory, '--listen', listen, ...flags],
    () => data === undefined && rmSync(directory, {recursive: true, force: true}),
  );
  const token = readFileSync(join(directory, 'admin.token'), 'utf8').trim();
  return {...server, data: directory, admin: {authorization: `Bearer ${token}`}};
}

// An application as a separate process, on a free loopback port.
export async function startApp(name, {firestore, data}) {
  return startProgram(['app', name, '--firestore', firestore, '--listen', '127.0.0.1:0', '--data', data]);
}

// A command such as `hearth indexes`, run to its end.
export async function runHearth(...args) {
  const {child, exited} = start(binary(), args, ['ignore', 'pipe', 'pipe']);
  const texts = {stdout: '', stderr: ''};
  const closed = Object.keys(texts).map((name) => {
    child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
    return new Promise((resolve) => child[name].once('close', resolve));
  });
  const {code} = await within(exited, `hearth ${args.join(' ')}`);
  await Promise.all(closed);
  return {code, ...texts};
}

// Whether this process can listen there. If so, `server` keeps listening, without keeping the process alive.
function takes(server, ...where) {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(...where, () => resolve(true));
    server.unref();
  });
}

// A loopback port for a server that cannot select one and report it. The port is below those that Linux hands out by
// default, and reserved by a name that only one process can have, and that ends with the process.
async function freePort() {
  for (;;) {
    const port = randomInt(16_384, 32_768);
    const probe = createServer();
    if ((await takes(createServer(), `\0hearth-test-port-${port}`)) && (await takes(probe, port, '127.0.0.1'))) {
      await new Promise((resolve) => probe.close(resolve));
      return port;
    }
  }
}

// The official emulator, or null if it is not installed. HEARTH_EMULATOR_ADDRESS names a running one.
export async function startEmulator() {
  const address = process.env.HEARTH_EMULATOR_ADDRESS;
  if (address) return {address, stop: async () => {}};
  return startEmulatorAt(await freePort());
}

async function startEmulatorAt(port) {
  const {child, exited} = start(join(root, 'tools', 'official-emulator'), [String(port)], 'ignore');
  const address = `127.0.0.1:${port}`;
  const raw = new Raw(address);
  try {
    const outcome = await Promise.race([raw.ready(patienceMs).then(() => 'ready'), exited]);
    if (outcome.code === emulatorIsMissing) return null;
    if (outcome !== 'ready') throw new Error(`the official emulator ended with ${outcome.code ?? outcome.signal}`);
    return {address, stop: () => terminate(child, exited, 'SIGTERM')};
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    raw.close();
  }
}

// The server that this run tests.
export async function startTarget() {
  const address = process.env.HEARTH_ADDRESS;
  return address ? {address, stop: async () => {}} : startHearth();
}
