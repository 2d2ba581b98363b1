// For tests of flags and commands: separate servers, and waiting for background work.

import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after} from 'node:test';
import {startHearth} from './server.js';

export {eventually} from './patience.js';

// A folder for the files of one test file, removed at its end.
export const folder = mkdtempSync(join(tmpdir(), 'hearth-files-'));
const running = new Set();
after(async () => {
  await Promise.all([...running].map((server) => server.stop()));
  rmSync(folder, {recursive: true, force: true});
});

// Writes `content` as JSON; a string is written unchanged. Returns the path.
export function writeFile(name, content) {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

// A server with these flags. It is stopped at the end of the test file, if not before.
export async function serve({data, flags = []} = {}) {
  const server = await startHearth({data, flags});
  const own = {...server, stop: async () => running.delete(own) && server.stop()};
  running.add(own);
  return own;
}
