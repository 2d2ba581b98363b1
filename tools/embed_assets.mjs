#!/usr/bin/env node
// Bundles a page and writes it as C++, so that the program contains it.
//
// Usage: embed_assets.mjs FOLDER NAMESPACE FUNCTION OUT.h OUT.cc DEPFILE ENTRY...
//
// Entries are TypeScript or CSS files of FOLDER; HTML, images and the like are copied unchanged. DEPFILE lists the
// sources for the build.

import {createHash} from 'node:crypto';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {basename, extname, join, resolve} from 'node:path';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const contentTypes = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};
const copied = new Set(['.html', '.svg', '.png', '.ico', '.woff2', '.txt', '.webmanifest']);
const bytesPerLine = 64;

async function bundle(folder, entries) {
  const result = await build({
    absWorkingDir: folder,
    entryPoints: entries,
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  return {
    files: result.outputFiles.map(({path, contents}) => ({path: basename(path), content: Buffer.from(contents)})),
    sources: Object.keys(result.metafile.inputs).map((path) => resolve(folder, path)),
  };
}

// The pages' security policy would block these only at run time, in a user's browser.
function refuseOtherHosts({path, content}) {
  const text = content.toString();
  const loads = {
    '.html': /<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)\s*=\s*["']?(?:https?:)?\/\/[^"'\s>]*/i,
    '.css': /(?:url\(\s*["']?|@import\s*["'])(?:https?:)?\/\/[^"')\s]*/i,
  }[extname(path)];
  const found = loads?.exec(text);
  if (found) throw new Error(`${path} loads from another host: ${found[0]}`);
}

function toAsset(file) {
  const contentType = contentTypes[extname(file.path)];
  if (!contentType) throw new Error(`${file.path}: no content type is known for this`);
  refuseOtherHosts(file);
  const gzip = gzipSync(file.content, {level: 9});
  const etag = `"${createHash('sha256').update(file.content).digest('hex').slice(0, 32)}"`;
  return {...file, contentType, etag, gzip: gzip.length < file.content.length ? gzip : Buffer.alloc(0)};
}

// Octal, because a hexadecimal escape would swallow the digits that follow it.
const escapeByte = (byte) =>
  byte >= 0x20 && byte < 0x7f && !'"\\?'.includes(String.fromCharCode(byte))
    ? String.fromCharCode(byte)
    : `\\${byte.toString(8).padStart(3, '0')}`;

function literal(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += bytesPerLine) {
    lines.push(`    "${[...bytes.subarray(i, i + bytesPerLine)].map(escapeByte).join('')}"`);
  }
  return lines.join('\n') || '    ""';
}

const view = (name, bytes) => `constexpr std::string_view ${name}(\n${literal(bytes)},\n    ${bytes.length});\n`;

function toSource(namespace, name, header, assets) {
  const rows = assets.map(
    ({path, contentType, etag}, i) => `    {.path = ${JSON.stringify(path)},
     .content_type = ${JSON.stringify(contentType)},
     .etag = ${JSON.stringify(etag)},
     .content = kContent${i},
     .gzip = kGzip${i}},`,
  );
  return `// Made by tools/embed_assets.mjs.
#include "${header}"

namespace hearth::${namespace} {
namespace {

${assets.map(({content, gzip}, i) => view(`kContent${i}`, content) + view(`kGzip${i}`, gzip)).join('')}
constexpr kit::Asset kAssets[] = {
${rows.join('\n')}
};

}  // namespace

kit::AssetBundle ${name}() { return kAssets; }

}  // namespace hearth::${namespace}
`;
}

const toHeader = (namespace, name) => `// Made by tools/embed_assets.mjs.
#pragma once

#include "kit/web/assets.h"

namespace hearth::${namespace} {

kit::AssetBundle ${name}();

}  // namespace hearth::${namespace}
`;

const [folder, namespace, name, header, source, depfile, ...entries] = process.argv.slice(2);
if (entries.length === 0) {
  console.error('usage: embed_assets.mjs FOLDER NAMESPACE FUNCTION OUT.h OUT.cc DEPFILE ENTRY...');
  process.exit(2);
}
try {
  const bundled = await bundle(resolve(folder), entries);
  const plain = readdirSync(folder).filter((file) => copied.has(extname(file)));
  const files = [...bundled.files, ...plain.map((path) => ({path, content: readFileSync(join(folder, path))}))];
  const assets = files.map(toAsset).sort((a, b) => (a.path < b.path ? -1 : 1));
  writeFileSync(header, toHeader(namespace, name));
  writeFileSync(source, toSource(namespace, name, basename(header), assets));
  const sources = [...bundled.sources, ...plain.map((path) => resolve(folder, path))];
  writeFileSync(depfile, `${source}: ${sources.map((path) => path.replaceAll(' ', '\\ ')).join(' \\\n  ')}\n`);
} catch (error) {
  // esbuild has already reported the error.
  if (!error.errors) console.error(`embed_assets: ${error.message}`);
  process.exit(1);
}
