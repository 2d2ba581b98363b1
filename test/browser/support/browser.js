// One server, one Chromium and one web server for the pages, per test file.

import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before} from 'node:test';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {chromium} from 'playwright-core';
import {Fixture} from '../../conformance/support/check.js';
import {patienceMs} from '../../conformance/support/patience.js';
import {Raw} from '../../conformance/support/raw.js';
import {startTarget} from '../../conformance/support/server.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');

export const launch = (flags = []) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });

// Bundles the test page and the chat example into `folder`.
async function bundle(folder) {
  await build({
    entryPoints: {page: join(here, 'page.js'), chat: join(root, 'examples', 'chat', 'chat.js')},
    bundle: true,
    format: 'esm',
    outdir: folder,
    logLevel: 'error',
  });
}

async function servePages(folder) {
  const files = {
    '/': ['text/html', () => '<!doctype html><title>test</title><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', () => readFileSync(join(folder, 'page.js'))],
    '/chat/': ['text/html', () => readFileSync(join(root, 'examples', 'chat', 'index.html'))],
    '/chat/chat.js': ['text/javascript', () => readFileSync(join(folder, 'chat.js'))],
  };
  const server = createServer((request, response) => {
    const [type, content] = files[new URL(request.url, 'http://page').pathname] ?? ['text/plain', () => ''];
    response.setHeader('content-type', `${type}; charset=utf-8`);
    response.end(content());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

// Starts everything before the file's tests and stops it after them. `startServer`: for tests that need a server other
// than the target. `browserFlags`: in addition to the usual ones.
export function useBrowser({startServer = startTarget, browserFlags} = {}) {
  const context = {};
  const folder = mkdtempSync(join(tmpdir(), 'hearth-browser-'));
  before(async () => {
    await bundle(folder);
    context.server = await startServer();
    context.address = context.server.address;
    context.raw = new Raw(context.address);
    context.pages = await servePages(folder);
    context.origin = `http://127.0.0.1:${context.pages.address().port}`;
    context.browser = await launch(browserFlags);
  });
  after(async () => {
    await context.browser?.close();
    context.pages?.closeAllConnections();
    context.pages?.close();
    context.raw?.close();
    await context.server?.stop();
    rmSync(folder, {recursive: true, force: true});
  });
  return context;
}

// A page with its own project, connected to the server. `address`: how it reaches the server, if not directly.
export class Pages extends Fixture {
  constructor(context) {
    super(context);
    this.context = context;
  }

  async newContext() {
    return this.context.browser.newContext();
  }

  // `requests` of the page has the URLs that it requested from the server.
  async open({browserContext, settings, cache, address = this.context.address} = {}) {
    const owner = browserContext ?? (await this.newContext());
    const page = await owner.newPage();
    page.setDefaultTimeout(patienceMs);
    page.requests = [];
    page.on('request', (request) => page.requests.push(request.url()));
    page.on('pageerror', (error) => console.error(`page: ${error.message}`));
    await page.goto(this.context.origin);
    const [host, port] = address.split(':');
    await page.evaluate((options) => window.connect(options), {
      project: this.project,
      host,
      port: Number(port),
      settings,
      cache,
    });
    return page;
  }

  async openChat(room, name) {
    const page = await (await this.newContext()).newPage();
    page.setDefaultTimeout(patienceMs);
    const query = new URLSearchParams({server: this.context.address, project: this.project, room, name});
    await page.goto(`${this.context.origin}/chat/?${query}`);
    return page;
  }
}

// Closes a tab as a user does, and waits until it is gone: until then it keeps listening.
export async function closeTab(page) {
  const closed = page.waitForEvent('close');
  await page.close({runBeforeUnload: true});
  await closed;
}

// Whether the page's streams polled or streamed: the values of CI that it used, in order of first use.
export const buffering = ({requests}) =>
  [...new Set(requests.map((url) => new URL(url).searchParams.get('CI')))].filter((value) => value !== null);

// Listens in the page to the collection `path`.
export const watch = (page, name, path) =>
  page.evaluate(([name, path]) => void window.watch(name, sdk.collection(db, path)), [name, path]);

// Waits until the data that the page watches under `name` comes from the server and `met` holds for it.
export const until = (page, name, met, argument) =>
  page.waitForFunction(
    `settled(${JSON.stringify(name)}) && (${met})(watched[${JSON.stringify(name)}], ${JSON.stringify(argument)})`,
    undefined,
    {timeout: patienceMs, polling: 50},
  );
