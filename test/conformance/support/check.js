// Shared by all test files: one server per file, a fresh project per test, and assertions on outcomes.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {Raw} from './raw.js';
import {startTarget, targetIsEmulator} from './server.js';
import {Names, fieldsOf, toFields} from './values.js';

let projects = 0;

// A project that no other test has used, even if several runs share a server.
export const newProject = () => `t${process.pid}-${Date.now().toString(36)}-${++projects}`;

// Starts the server before the file's tests, then runs `prepare`, and stops the server after them. The returned object
// is filled in when `prepare` runs.
export function useServer(prepare = async () => {}) {
  const context = {};
  before(async () => {
    context.server = await startTarget();
    context.address = context.server.address;
    context.raw = new Raw(context.address);
    await prepare(context);
  });
  after(async () => {
    context.raw?.close();
    await context.server?.stop();
  });
  return context;
}

// A test of behavior that the official emulator does not share; `why` describes the difference.
export function ownTest(name, why, body) {
  test(name, {skip: targetIsEmulator && `the emulator differs: ${why}`}, body);
}

const matches = (pattern, message) => (pattern instanceof RegExp ? pattern.test(message) : pattern === message);

// Fails unless `outcome` is `code` with `message`: exact text, or a pattern. `emulator` has the values that differ
// there, `about` is added to the failure message.
export function expectOutcome(outcome, {code, message, emulator}, about = '') {
  const expected = targetIsEmulator && emulator ? {code, message, ...emulator} : {code, message};
  const got = `${outcome.code}: ${JSON.stringify(outcome.message)} ${about && JSON.stringify(about).slice(0, 500)}`;
  assert.equal(outcome.code, expected.code, `expected ${expected.code}, got ${got}`);
  if (expected.message === undefined) return;
  assert.ok(matches(expected.message, outcome.message), `expected ${expected.message}, got ${got}`);
}

export const invalid = (message, emulator) => ({code: 'INVALID_ARGUMENT', message, emulator});

// Raw calls on one fresh database.
export class Fixture extends Names {
  constructor(context, database) {
    super(newProject(), database);
    this.raw = context.raw;
  }

  call(method, request, options) {
    return this.raw.call(method, request, options);
  }

  must(method, request, options) {
    return this.raw.must(method, request, options);
  }

  write(...writes) {
    return this.must('Commit', this.commit(...writes));
  }

  tryWrite(...writes) {
    return this.call('Commit', this.commit(...writes));
  }

  // The stored document, or null.
  async get(path, more = {}) {
    const {code, message, response} = await this.call('GetDocument', {name: this.doc(path), ...more});
    if (code === 'NOT_FOUND') return null;
    assert.equal(code, 'OK', message);
    return response;
  }

  async expectFields(path, data) {
    const document = await this.get(path);
    if (data === null) return assert.equal(document, null);
    assert.ok(document, `${path} is missing`);
    assert.deepStrictEqual(fieldsOf(document), toFields(data));
  }

  async begin(options) {
    const {transaction} = await this.must('BeginTransaction', {database: this.database, options});
    assert.ok(transaction.length > 0);
    return transaction;
  }

  list(more) {
    return this.must('ListDocuments', {parent: this.root, ...more});
  }

  // The ids of a listing.
  async listIds(more) {
    const {documents = []} = await this.list(more);
    return documents.map(({name}) => name.slice(name.lastIndexOf('/') + 1));
  }
}
