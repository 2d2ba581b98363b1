// REST as any HTTP client uses it: one database, requests sent unchanged.

import assert from 'node:assert/strict';
import {newProject} from './check.js';
import {Names} from './values.js';

// The parts of a path, encoded as they are in a URL.
const encodePath = (path) => path.split('/').map(encodeURIComponent).join('/');

export class Rest extends Names {
  #address;

  constructor({address}, {project = newProject(), database} = {}) {
    super(project, database);
    this.#address = address;
  }

  url(path, query = '') {
    // The emulator does not accept + for a space.
    const text = typeof query === 'string' ? query : String(new URLSearchParams(query)).replaceAll('+', '%20');
    return `http://${this.#address}${path}${text && `?${text}`}`;
  }

  // A request to a full path. `body` is an object, or text that is sent unchanged.
  async send(method, path, {query, body, headers = {}} = {}) {
    const response = await fetch(this.url(path, query), {
      method,
      headers: {authorization: 'Bearer owner', 'content-type': 'application/json', ...headers},
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return {status: response.status, headers: response.headers, text, json};
  }

  // A request to a document, a collection or a verb: 'rooms/r1', 'rooms', ':commit', 'rooms/r1:runQuery'.
  ask(method, rest, options) {
    const [, path, verb] = /^([^:]*)(:\w+)?$/.exec(rest);
    return this.send(method, `/v1/${encodePath(this.root)}${path && `/${encodePath(path)}`}${verb ?? ''}`, options);
  }

  // The answer, which must be a success.
  async must(method, rest, options) {
    const {status, json, text} = await this.ask(method, rest, options);
    assert.equal(status, 200, text);
    return json;
  }

  post(rest, body, options = {}) {
    return this.ask('POST', rest, {body, ...options});
  }

  mustPost(rest, body, options = {}) {
    return this.must('POST', rest, {body, ...options});
  }

  put(path, fields, query) {
    return this.must('PATCH', path, {body: {fields}, query});
  }

  async commitAll(...writes) {
    return this.mustPost(':commit', {writes});
  }
}

// Fails unless `answer` is that error, in a list if the method answers with one.
export function expectError({status, json, text}, {code, name, message}) {
  assert.equal(status, code, text);
  const {error} = Array.isArray(json) ? json[0] : json;
  assert.equal(error.code, code, text);
  if (name) assert.equal(error.status, name, text);
  if (message instanceof RegExp) assert.match(error.message, message);
  else if (message !== undefined) assert.equal(error.message, message);
}

export const invalidRequest = (message) => ({code: 400, name: 'INVALID_ARGUMENT', message});

export const integer = (n) => ({integerValue: String(n)});
export const text = (s) => ({stringValue: s});
