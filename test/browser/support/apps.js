// The pages that Hearth itself serves: one server with all applications and one Chromium per test file.
//
// HEARTH_APPS_ADDRESS  a running server to use instead of starting one

import assert from 'node:assert/strict';
import {after, before} from 'node:test';
import {patienceMs} from '../../conformance/support/patience.js';
import {startHearth} from '../../conformance/support/server.js';
import {launch} from './browser.js';

export {patienceMs};

async function startApps(flags) {
  const address = process.env.HEARTH_APPS_ADDRESS;
  return address ? {address, stop: async () => {}} : startHearth({flags});
}

// `ready(context)`: what else the tests wait for before they start.
export function useApps({flags = ['--apps', 'all'], ready} = {}) {
  const context = {};
  before(async () => {
    context.server = await startApps(flags);
    context.origin = `http://${context.server.address}`;
    context.browser = await launch();
    await ready?.(context);
  });
  after(async () => {
    await context.browser?.close();
    await context.server?.stop();
  });
  return context;
}

// The browser's own console message for every answer of 400 and above.
const refusalNote = /^Failed to load resource: the server responded with a status of (\d+)/;

// A page in a separate browser context. `close` fails if the page wrote to the console, threw, or contacted another
// host. `allow`: statuses that the test provokes. `prepare(page)` runs before the page is loaded.
export async function openApp(
  context,
  path,
  {allow = [], prepare, viewport = {width: 1280, height: 800}, ...options} = {},
) {
  const owner = options.owner ?? (await context.browser.newContext({viewport, ...options}));
  const page = await owner.newPage();
  page.setDefaultTimeout(patienceMs);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    const status = refusalNote.exec(message.text())?.[1];
    if (!allow.includes(Number(status))) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== context.origin) problems.push(`asked ${request.url()}`);
  });
  await prepare?.(page);
  await page.goto(`${context.origin}${path}`);
  return {
    page,
    owner,
    async close() {
      await owner.close();
      assert.deepEqual(problems, []);
    },
  };
}

export const answer =
  (json, status = 200) =>
  (route) =>
    route.fulfill({status, contentType: 'application/json', body: JSON.stringify(json)});

// Stops the page's clock: no timer fires unless the test calls `page.clock.runFor(ms)`. For `prepare`.
export async function stillClock(page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
}

// Waits until pending changes are drawn. One frame reports scrolling and new sizes, the next one shows what follows
// from them.
export const frames = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 3; ++i) await new Promise((resolve) => requestAnimationFrame(resolve));
  });

// Waits until no transition is running.
export const untilStill = (page) =>
  page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.all(transitions.map(({finished}) => finished.catch(() => {})));
  });

// Nothing overflows horizontally. Phones zoom out until the whole page is visible, so their window width is no measure.
export const fitsWidth = (page) =>
  page.evaluate(
    (width) => Math.max(innerWidth, document.scrollingElement.scrollWidth) <= width,
    page.viewportSize().width,
  );

// Interactive elements without an accessible name.
export const nameless = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, a[href], input, dialog, [tabindex="0"]')]
      .filter((element) => {
        const labelled = (element.getAttribute('aria-labelledby') ?? '')
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent)
          .join('');
        const label = element.labels?.[0]?.textContent ?? '';
        return !(element.getAttribute('aria-label') || labelled || label || element.textContent.trim());
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );

// The lowest contrast of text against its background among the elements that match. WCAG requires 4.5.
export const contrast = (page, selector) =>
  page.evaluate((selector) => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const components = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (colour) => {
      const [r, g, b] = components(colour).map((v) =>
        v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (components(colour)[3] === 255) return colour;
      }
      return 'white';
    };
    return Math.min(
      ...[...document.querySelectorAll(selector)].map((element) => {
        const [low, high] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort(
          (a, b) => a - b,
        );
        return (high + 0.05) / (low + 0.05);
      }),
    );
  }, selector);
