// Random steps for the differential test. A step is plain data: paths, values and symbolic times, the same for every
// server. Times are symbolic because each server has its own: {commit: id} is when step `id` was committed,
// {documentAt: path} is the stored update time of a document.

import {
  double,
  geo,
  increment,
  int,
  maximum,
  minimum,
  reference,
  serverTime,
  time,
  toValue,
  toFields,
  union,
  unset,
  vector,
  without,
} from './values.js';

const paths = [
  'c/a',
  'c/b',
  'c/c',
  'c/d',
  'c/é',
  'c/__id7__',
  'c/__id-7__',
  'c/a/s/x',
  'c/a/s/y',
  'c/gone/s/x',
  'c/gone/s/x/t/z',
  'd/a',
  'd/b',
  'e/only',
];
const parents = ['', 'c/a', 'c/gone', 'c/gone/s/x', 'd/none'];
const collections = ['c', 'd', 's', 't', 'none'];
const fieldPaths = ['a', 'b', 'n', 'l', 'm', 'm.x', 'm.y', 'm.x.z', '`q.r`', 'm.`q.r`', 'absent', 'a.deep'];
const orders = [
  'a',
  'b desc',
  'n',
  'm.x',
  'l desc',
  'a, b desc',
  'n desc, a',
  '__name__',
  'm',
  'a, __name__ desc',
  '`q.r`',
];
const badPaths = ['', 'a..b', '1a', '__x__', '`a'];
const scalars = [
  null,
  true,
  false,
  0,
  1,
  -1,
  7,
  1.5,
  double(1),
  double(0),
  -0,
  NaN,
  Infinity,
  -Infinity,
  2n ** 63n - 1n,
  -(2n ** 63n),
  9007199254740993n,
  double(9007199254740992),
  '',
  'a',
  'b',
  'é',
  '\uffee',
  '😀',
  Buffer.from([]),
  Buffer.from([1, 255]),
  time(5, 1000),
  time(5, 1999),
  time(-5),
  geo(1, 2),
  geo(-1, 0),
  reference('projects/p/databases/d/documents/x/y'),
  reference('projects/p/databases/d/documents/x/y/z/__id3__'),
  vector(1, 2),
  vector(3),
  {},
  [],
];
const badValues = [unset, [[1]], geo(91, 0), time(0, -1), {__x__: 1}, [vector(1)], {__type__: '__vector__', value: []}];
const numbers = [
  0,
  1,
  -1,
  5,
  0.5,
  double(1),
  -0,
  NaN,
  Infinity,
  -Infinity,
  int(2n ** 62n),
  int(-(2n ** 62n)),
  double(2 ** 62),
];

export class Generator {
  // The ids of steps whose commit times can be used as read times.
  committed = [];
  #random;
  #next = 0;
  #canFail;

  constructor(random) {
    this.#random = random;
  }

  // A step with at most one thing that makes the request itself invalid, so that there is one error to report.
  step() {
    this.#canFail = this.#random.chance(12);
    const kinds = [
      ['commit', 34],
      ['batchWrite', 8],
      ['create', 5],
      ['update', 8],
      ['remove', 4],
      ['transaction', 10],
      ['snapshot', 4],
      ['get', 7],
      ['batchGet', 8],
      ['list', 9],
      ['collections', 3],
    ];
    let rest = this.#random.below(100);
    const [kind] = kinds.find(([, weight]) => {
      rest -= weight;
      return rest < 0;
    });
    return {id: this.#next++, kind, ...this[kind]()};
  }

  #bad(percent) {
    if (!this.#canFail || !this.#random.chance(percent)) return false;
    this.#canFail = false;
    return true;
  }

  #value(depth = 0) {
    const random = this.#random;
    if (this.#bad(10)) return random.pick(badValues);
    if (depth < 2 && random.chance(12))
      return {x: this.#value(depth + 1), ...(random.chance(50) ? {y: this.#value(depth + 1)} : {})};
    if (depth < 2 && random.chance(10)) return [this.#value(2), this.#value(2)].filter((x) => !isListOrVector(x));
    return random.pick(scalars);
  }

  #data() {
    const data = {};
    for (const name of this.#random.some(['a', 'b', 'n', 'l', 'm', 'q.r'], 4)) data[name] = this.#value();
    if (this.#bad(10)) data.__x__ = 1;
    return data;
  }

  #fieldPaths(most) {
    if (this.#random.chance(8)) return [];
    const chosen = [...new Set(this.#random.some(fieldPaths, most))];
    if (this.#bad(30)) chosen.push(this.#random.pick(badPaths));
    return chosen;
  }

  #mask() {
    return this.#random.chance(30) ? {mask: {fieldPaths: this.#fieldPaths(3)}} : {};
  }

  #transform() {
    const random = this.#random;
    const fieldPath = random.pick(fieldPaths);
    const elements = () =>
      random.some(
        scalars.filter((x) => !isListOrVector(x)),
        3,
      );
    if (this.#bad(20)) return {fieldPath, increment: toValue('x')};
    return random.pick([
      () => increment(fieldPath, random.pick(numbers)),
      () => increment(fieldPath, random.pick(numbers)),
      () => maximum(fieldPath, random.pick(numbers)),
      () => minimum(fieldPath, random.pick(numbers)),
      () => union(fieldPath, ...elements()),
      () => without(fieldPath, ...elements()),
      () => serverTime(fieldPath),
    ])();
  }

  #precondition(path, {times = true} = {}) {
    const random = this.#random;
    if (random.chance(65)) return {};
    if (times && random.chance(40)) {
      // A time that is no document's: in the emulator the time of a deletion is the version of the deleted document.
      const isRight = random.chance(70) || !this.committed.length;
      return {
        updateTime: isRight ? {documentAt: path} : {commit: random.pick(this.committed), minus: random.pick([1, -1])},
      };
    }
    return {exists: random.chance(60)};
  }

  // `avoid`: documents that must not be written. `times`: whether the precondition may name a time.
  #write({path = this.#random.pick(paths), times = true} = {}) {
    const random = this.#random;
    const write = {path, precondition: this.#precondition(path, {times})};
    if (random.chance(15)) return {...write, operation: 'delete'};
    if (random.chance(8)) return {...write, operation: 'transform', transforms: [this.#transform()]};
    const transforms = random.chance(35) ? Array.from({length: 1 + random.below(3)}, () => this.#transform()) : [];
    const updateMask = random.chance(45) ? {updateMask: {fieldPaths: this.#fieldPaths(3)}} : {};
    return {...write, operation: 'update', fields: toFields(this.#data()), transforms, ...updateMask};
  }

  // Writes for one commit. A document may occur twice; then only its first write may name a time.
  #writes(most, {allowRepeats = true, avoid = []} = {}) {
    const seen = new Set(avoid);
    const writes = [];
    for (let count = 1 + this.#random.below(most); count > 0; --count) {
      const path = this.#random.pick(paths);
      if (avoid.includes(path) || (seen.has(path) && !allowRepeats)) continue;
      writes.push(this.#write({path, times: !seen.has(path)}));
      seen.add(path);
    }
    return writes.length ? writes : [this.#write({path: 'f/extra'})];
  }

  #readTime() {
    if (!this.committed.length || !this.#random.chance(30)) return {};
    return {readTime: {commit: this.#random.pick(this.committed), minus: this.#random.below(2)}};
  }

  commit() {
    return {writes: this.#writes(this.#random.chance(50) ? 1 : 5)};
  }

  batchWrite() {
    return {writes: this.#writes(5, {allowRepeats: false})};
  }

  create() {
    const [parent, collectionId] = this.#random.pick([
      ['', 'c'],
      ['', 'd'],
      ['c/a', 's'],
      ['c/gone', 's'],
    ]);
    return {
      parent,
      collectionId,
      documentId: this.#random.pick(['a', 'b', 'x', 'é']),
      fields: toFields(this.#data()),
      ...this.#mask(),
    };
  }

  update() {
    const {path, precondition, fields, updateMask} = {fields: {}, ...this.#write()};
    return {path, precondition, fields, ...(updateMask ? {updateMask} : {}), ...this.#mask()};
  }

  remove() {
    const path = this.#random.pick(paths);
    return {path, precondition: this.#precondition(path)};
  }

  get() {
    return {path: this.#random.pick(paths), ...this.#mask(), ...this.#readTime()};
  }

  batchGet() {
    return {paths: this.#random.some(paths, 6), ...this.#mask(), ...this.#readTime()};
  }

  list() {
    const random = this.#random;
    const request = {
      parent: random.pick(parents),
      collectionId: random.pick(collections),
      pageSize: 1 + random.below(6),
      ...this.#readTime(),
    };
    if (random.chance(30)) return {...request, showMissing: true};
    return {...request, ...this.#mask(), ...(random.chance(50) ? {orderBy: random.pick(orders)} : {})};
  }

  collections() {
    return {parent: this.#random.pick(parents), pageSize: 1 + this.#random.below(3), ...this.#readTime()};
  }

  // A read-write transaction. Only the transaction itself may write what it read: other writers would wait.
  transaction() {
    const reads = this.#random.some(paths, 4);
    const outside = this.#random.chance(40) ? this.#writes(2, {avoid: reads}) : [];
    const writes = this.#random.chance(85) ? this.#writes(3) : [];
    return {
      reads,
      outside,
      writes,
      ending: this.#random.chance(80) ? 'commit' : 'rollback',
      readsAgain: this.#random.chance(20),
    };
  }

  // A read-only transaction, of now or of an earlier time, with concurrent writes by others.
  snapshot() {
    return {reads: this.#random.some(paths, 4), outside: this.#writes(3), list: this.list(), ...this.#readTime()};
  }
}

function isListOrVector(x) {
  const value = toValue(x);
  return 'arrayValue' in value || value.mapValue?.fields?.__type__ !== undefined;
}
