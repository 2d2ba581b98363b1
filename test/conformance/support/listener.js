// A client of Listen: sends targets, and maintains their results as an SDK would.

import assert from 'node:assert/strict';
import {fieldsOf, microsOf} from './values.js';

export const queryOf = (collectionId, more = {}) => ({from: [{collectionId}], ...more});

// `'n'`, `'n desc'` or `'__name__'` as an order.
export function orderOf(...texts) {
  return texts.map((text) => {
    const [fieldPath, direction] = text.split(' ');
    return {field: {fieldPath}, direction: direction === 'desc' ? 'DESCENDING' : 'ASCENDING'};
  });
}

export const typeOf = (targetChange) => targetChange.targetChangeType ?? 'NO_CHANGE';
export const isSnapshot = ({targetChange}) =>
  Boolean(
    targetChange && typeOf(targetChange) === 'NO_CHANGE' && !targetChange.targetIds?.length && targetChange.readTime,
  );

// A message in short form, for assertions, such as "ADD 2", "CURRENT 2", "snapshot", "change c/a 2", "delete c/a 2",
// "remove c/a 2". Further targets follow after commas; in a change `!` marks the targets that the document has left.
function inShort(message, root) {
  const {targetChange, documentChange, documentDelete, documentRemove, filter} = message;
  const path = (name) => name.slice(root.length + 1);
  const sorted = (list) => [...(list ?? [])].sort((a, b) => a - b);
  const ids = (stays, leaves) => [...sorted(stays), ...sorted(leaves).map((id) => `!${id}`)].join(',');
  if (isSnapshot(message)) return 'snapshot';
  if (targetChange) return [typeOf(targetChange), ids(targetChange.targetIds)].filter(Boolean).join(' ');
  if (documentChange)
    return `change ${path(documentChange.document.name)} ${ids(documentChange.targetIds, documentChange.removedTargetIds)}`;
  if (documentDelete) return `delete ${path(documentDelete.document)} ${ids(documentDelete.removedTargetIds)}`;
  if (documentRemove) return `remove ${path(documentRemove.document)} ${ids(documentRemove.removedTargetIds)}`;
  return `filter ${filter.targetId}`;
}

export class Listener {
  // The results of each target by path, the causes of targets that ended, and all messages since the last `take`.
  results = new Map();
  causes = new Map();
  #messages = [];
  #stream;
  #names;

  // `names`: of the database. `database`, `headers`: sent with the requests, if not the default.
  constructor(
    raw,
    names,
    {database = names.database, headers = {'google-cloud-resource-prefix': names.database}} = {},
  ) {
    this.#stream = raw.open('Listen', {headers});
    this.#names = names;
    this.database = database;
  }

  get stream() {
    return this.#stream;
  }

  get ended() {
    return this.#stream.ended;
  }

  cancel() {
    return this.#stream.cancel();
  }

  send(request) {
    this.#stream.send({...(this.database && {database: this.database}), ...request});
    return this;
  }

  add(targetId, target) {
    return this.send({addTarget: {...target, ...(targetId && {targetId})}});
  }

  addQuery(targetId, structuredQuery, {parent = this.#names.root, ...more} = {}) {
    return this.add(targetId, {query: {parent, structuredQuery}, ...more});
  }

  addDocuments(targetId, paths, more = {}) {
    return this.add(targetId, {documents: {documents: paths.map((path) => this.#names.doc(path))}, ...more});
  }

  remove(targetId) {
    return this.send({removeTarget: targetId});
  }

  // The messages since the last call, in short form, and as received.
  take() {
    const messages = this.#messages;
    this.#messages = [];
    return {messages, short: messages.map((message) => inShort(message, this.#names.root))};
  }

  async until(isWanted) {
    for (;;) {
      const message = await this.#stream.next();
      this.#apply(message);
      this.#messages.push(message);
      if (isWanted(message)) return message;
    }
  }

  // Reads until all targets are at this time or later; returns that snapshot.
  async snapshotAt({commitTime}) {
    const {targetChange} = await this.until(
      (message) => isSnapshot(message) && microsOf(message.targetChange.readTime) >= microsOf(commitTime),
    );
    return targetChange;
  }

  // Reads until the target has its first results, and all targets are at that moment or later.
  async current(targetId) {
    const {targetChange} = await this.until(
      (message) =>
        message.targetChange &&
        typeOf(message.targetChange) === 'CURRENT' &&
        message.targetChange.targetIds.includes(targetId),
    );
    return this.snapshotAt({commitTime: targetChange.readTime});
  }

  // Reads until the target has ended; returns the cause.
  async removed(targetId) {
    const {targetChange} = await this.until(
      (message) =>
        message.targetChange &&
        typeOf(message.targetChange) === 'REMOVE' &&
        message.targetChange.targetIds.includes(targetId),
    );
    return targetChange.cause;
  }

  // Reads to the end of the stream; returns how it ended.
  async end() {
    for (let message = await this.#stream.nextOrEnd(); message !== null; message = await this.#stream.nextOrEnd()) {
      this.#apply(message);
      this.#messages.push(message);
    }
    return this.ended;
  }

  // The paths of a target's results, in order of their names.
  paths(targetId) {
    return [...(this.results.get(targetId)?.keys() ?? [])].sort();
  }

  // A target's results as {path: fields}.
  fields(targetId) {
    return Object.fromEntries(
      [...(this.results.get(targetId) ?? [])].map(([path, document]) => [path, fieldsOf(document)]),
    );
  }

  #apply({targetChange, documentChange, documentDelete, documentRemove, filter}) {
    if (targetChange) return this.#applyTargetChange(targetChange);
    if (filter) return undefined;
    const name = documentChange?.document.name ?? documentDelete?.document ?? documentRemove.document;
    const path = name.slice(this.#names.root.length + 1);
    for (const id of documentChange?.targetIds ?? []) {
      assert.ok(this.results.has(id), `a result of target ${id}, which is not there`);
      this.results.get(id).set(path, documentChange.document);
    }
    const removed = (documentChange ?? documentDelete ?? documentRemove).removedTargetIds ?? [];
    for (const id of removed) this.results.get(id)?.delete(path);
    return undefined;
  }

  #applyTargetChange({targetIds = [], cause, ...change}) {
    for (const id of targetIds) {
      // A target that resumes from a token adds to the known results.
      if (typeOf(change) === 'RESET' || (typeOf(change) === 'ADD' && !this.results.has(id)))
        this.results.set(id, new Map());
      if (typeOf(change) === 'REMOVE') {
        this.results.delete(id);
        this.causes.set(id, cause);
      }
    }
  }
}
