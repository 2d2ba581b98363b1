// One server of the differential test: turns steps into requests, and answers into outcomes that can be compared
// between servers. Times become the id of the step that caused them.

import {setImmediate} from 'node:timers/promises';
import {inOurWords, withoutDeletionTime} from './differences.js';
import {codeName} from './raw.js';
import {Names, microsOf, timeOf} from './values.js';

const recentSeconds = 1_600_000_000;
const serverTimeApartMs = 10;

// Consecutive server times must differ in their milliseconds, or the second is no change.
let lastServerTime = 0;
export async function separateServerTimes(step) {
  if (!JSON.stringify(step).includes('REQUEST_TIME')) return;
  while (Date.now() < lastServerTime + serverTimeApartMs) await setImmediate();
  lastServerTime = Date.now();
}

export class Side {
  #raw;
  #names;
  #isEmulator;
  #labels = new Map();
  #commits = new Map();
  #step;

  constructor(raw, {project, isEmulator}) {
    this.#raw = raw;
    this.#names = new Names(project);
    this.#isEmulator = isEmulator;
  }

  // When the step was committed; undefined if it was not.
  committed(id) {
    return this.#commits.has(id);
  }

  // The outcomes of the step's requests.
  async run(step) {
    this.#step = step.id;
    return this[`_${step.kind}`](step);
  }

  #label(when) {
    const micros = String(microsOf(when));
    return this.#labels.get(micros) ?? 'a time of no step';
  }

  // Records the times of an answer to a write as those of this step.
  #learn({commitTime, updateTime, writeResults = []}) {
    for (const when of [commitTime, updateTime, ...writeResults.map((result) => result.updateTime)]) {
      const micros = when && String(microsOf(when));
      if (micros && !this.#labels.has(micros)) this.#labels.set(micros, `step ${this.#step}`);
    }
  }

  #time(symbol) {
    const commit = this.#commits.get(symbol.commit);
    return commit === undefined ? undefined : timeOf(commit - BigInt(symbol.minus ?? 0));
  }

  // The code and the message of an answer, or of one write's status.
  #error({code, message = ''}) {
    return inOurWords({code, message: message.replaceAll(this.#names.root, 'ROOT')});
  }

  // Names without the project, times as labels; times from the server's clock are just "now".
  #normal(x, asked) {
    if (Buffer.isBuffer(x)) return x;
    if (Array.isArray(x)) return x.map((each) => this.#normal(each, asked));
    if (typeof x === 'string') return x.startsWith(this.#names.root) ? `ROOT${x.slice(this.#names.root.length)}` : x;
    if (typeof x !== 'object' || x === null) return x;
    const entries = Object.entries(withoutDeletionTime(x)).map(([key, value]) => {
      if (['createTime', 'updateTime', 'commitTime'].includes(key)) return [key, this.#label(value)];
      if (key === 'readTime')
        return [key, asked === undefined ? 'now' : microsOf(value) === microsOf(asked) ? 'as asked' : 'another time'];
      if (key === 'timestampValue' && Number(value.seconds ?? 0) > recentSeconds) return [key, 'now'];
      if (key === 'transaction') return [key, 'a transaction'];
      if (key === 'status') return [key, value.map(({code, message}) => this.#error({code: codeName(code), message}))];
      return [key, this.#normal(value, asked)];
    });
    return Object.fromEntries(entries);
  }

  #outcome({code, message, response}, asked) {
    return {...this.#error({code, message}), ...(code === 'OK' ? {response: this.#normal(response, asked)} : {})};
  }

  // A precondition in the request's form; the time of a missing document becomes that of a step long ago.
  async #precondition(precondition) {
    const {updateTime, exists} = precondition;
    if (exists !== undefined) return {currentDocument: {exists}};
    if (updateTime === undefined) return {};
    if (updateTime.documentAt === undefined)
      return {currentDocument: {updateTime: this.#time(updateTime) ?? {seconds: '1000'}}};
    const {response} = await this.#raw.call('GetDocument', {name: this.#names.doc(updateTime.documentAt)});
    return {currentDocument: {updateTime: response?.updateTime ?? {seconds: '1000'}}};
  }

  async #write({operation, path, precondition, fields, transforms, updateMask}) {
    const name = this.#names.doc(path);
    const guard = await this.#precondition(precondition);
    if (operation === 'delete') return {delete: name, ...guard};
    if (operation === 'transform') return {transform: {document: name, fieldTransforms: transforms}, ...guard};
    return {update: {name, fields}, updateTransforms: transforms, ...(updateMask ? {updateMask} : {}), ...guard};
  }

  async #writes(writes) {
    const request = {database: this.#names.database, writes: []};
    for (const write of writes) request.writes.push(await this.#write(write));
    return request;
  }

  async #commit(writes, more = {}) {
    const outcome = await this.#raw.call('Commit', {...(await this.#writes(writes)), ...more});
    if (outcome.code === 'OK') {
      this.#learn(outcome.response);
      // Without writes the emulator returns no time.
      if (writes.length) this.#commits.set(this.#step, microsOf(outcome.response.commitTime));
      else delete outcome.response.commitTime;
    }
    return this.#outcome(outcome);
  }

  async _commit({writes}) {
    return [await this.#commit(writes)];
  }

  async _batchWrite({writes}) {
    const outcome = await this.#raw.call('BatchWrite', await this.#writes(writes));
    if (outcome.code === 'OK') this.#learn(outcome.response);
    return [this.#outcome(outcome)];
  }

  async _create({parent, collectionId, documentId, fields, mask}) {
    const outcome = await this.#raw.call('CreateDocument', {
      parent: this.#parent(parent),
      collectionId,
      documentId,
      document: {fields},
      ...(mask ? {mask} : {}),
    });
    if (outcome.code === 'OK') this.#learn(outcome.response);
    return [this.#outcome(outcome)];
  }

  async _update({path, precondition, fields, updateMask, mask}) {
    const outcome = await this.#raw.call('UpdateDocument', {
      document: {name: this.#names.doc(path), fields},
      ...(updateMask ? {updateMask} : {}),
      ...(mask ? {mask} : {}),
      ...(await this.#precondition(precondition)),
    });
    if (outcome.code === 'OK') this.#learn(outcome.response);
    return [this.#outcome(outcome)];
  }

  async _remove({path, precondition}) {
    return [
      this.#outcome(
        await this.#raw.call('DeleteDocument', {
          name: this.#names.doc(path),
          ...(await this.#precondition(precondition)),
        }),
      ),
    ];
  }

  #parent(path) {
    return path ? this.#names.doc(path) : this.#names.root;
  }

  // When to read: as the step says, or in the transaction. Null if the step names a missing commit.
  #when({readTime}, transaction) {
    if (transaction) return {transaction};
    if (!readTime) return {};
    const when = this.#time(readTime);
    return when ? {readTime: when} : null;
  }

  async _get(step, transaction) {
    const when = this.#when(step, transaction);
    if (!when) return [];
    const request = {name: this.#names.doc(step.path), ...(step.mask ? {mask: step.mask} : {}), ...when};
    return [this.#outcome(await this.#raw.call('GetDocument', request))];
  }

  async _batchGet(step, transaction) {
    const when = this.#when(step, transaction);
    if (!when) return [];
    const request = {
      database: this.#names.database,
      documents: step.paths.map((path) => this.#names.doc(path)),
      ...(step.mask ? {mask: step.mask} : {}),
      ...when,
    };
    return [this.#outcome(await this.#raw.call('BatchGetDocuments', request), when.readTime)];
  }

  // All pages as one answer. The emulator cannot page through an ordered list.
  async #pages(method, items, request) {
    const all = [];
    const pageSize = this.#isEmulator && request.orderBy ? 150 : request.pageSize;
    for (let pageToken; ; ) {
      const outcome = await this.#raw.call(method, {...request, pageSize, pageToken});
      if (outcome.code !== 'OK') return this.#outcome(outcome);
      all.push(...(outcome.response[items] ?? []));
      pageToken = outcome.response.nextPageToken;
      if (!pageToken) return this.#outcome({...outcome, response: all});
    }
  }

  async _list(step, transaction) {
    const when = this.#when(step, transaction);
    if (!when) return [];
    const {parent, collectionId, pageSize, orderBy, showMissing, mask} = step;
    return [
      await this.#pages('ListDocuments', 'documents', {
        parent: this.#parent(parent),
        collectionId,
        pageSize,
        ...(orderBy ? {orderBy} : {}),
        ...(showMissing ? {showMissing} : {}),
        ...(mask ? {mask} : {}),
        ...when,
      }),
    ];
  }

  async _collections(step) {
    const when = this.#when(step);
    if (!when) return [];
    return [
      await this.#pages('ListCollectionIds', 'collectionIds', {
        parent: this.#parent(step.parent),
        pageSize: step.pageSize,
        ...when,
      }),
    ];
  }

  async _transaction({reads, outside, writes, ending, readsAgain}) {
    const {transaction} = await this.#raw.must('BeginTransaction', {database: this.#names.database});
    const outcomes = await this._batchGet({paths: reads}, transaction);
    if (outside.length) outcomes.push(await this.#commit(outside));
    if (readsAgain) outcomes.push(...(await this._batchGet({paths: reads}, transaction)));
    if (ending === 'commit') outcomes.push(await this.#commit(writes, {transaction}));
    // Idempotent, whatever happened before.
    outcomes.push(this.#outcome(await this.#raw.call('Rollback', {database: this.#names.database, transaction})));
    return outcomes;
  }

  async _snapshot({reads, outside, list, readTime}) {
    const when = this.#when({readTime});
    if (!when) return [];
    const options = {readOnly: when};
    const {transaction} = await this.#raw.must('BeginTransaction', {database: this.#names.database, options});
    const outcomes = [await this.#commit(outside)];
    outcomes.push(...(await this._batchGet({paths: reads}, transaction)));
    outcomes.push(...(await this._list({...list, orderBy: undefined, pageSize: 150}, transaction)));
    outcomes.push(await this.#commit([], {transaction}));
    return outcomes;
  }
}
