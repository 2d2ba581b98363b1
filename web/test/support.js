// Bundles TypeScript files and loads them into this process, without a browser.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {build} from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

// `paths` are relative to the repository's root. Several are bundled together, so that they share classes such as
// errors.
export async function load(...paths) {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-web-'));
  const contents = paths.map((path) => `export * from ${JSON.stringify(`./${path}`)};`).join('\n');
  try {
    const outfile = join(folder, 'bundle.mjs');
    await build({
      stdin: {contents, resolveDir: root},
      bundle: true,
      format: 'esm',
      target: 'es2022',
      outfile,
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile));
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
