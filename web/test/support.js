// Bundles one TypeScript file and loads it here, without a browser.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {build} from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

// `path` from the repository's root.
export async function load(path) {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-web-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    await build({entryPoints: [join(root, path)], bundle: true, format: 'esm', target: 'es2022', outfile, logLevel: 'error'});
    return await import(pathToFileURL(outfile));
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
