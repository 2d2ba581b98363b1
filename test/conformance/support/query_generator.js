// Random documents and queries for the differential test of queries: plain data, the same for every server.

import {double, geo, reference, time, toValue, unset, vector} from './values.js';

const ids = [
  'a',
  'a!',
  'b',
  'c',
  'é',
  '😀',
  '\uffee',
  '__id7__',
  '__id10__',
  '__id-7__',
  'Z',
  'aa',
  '~',
  'm 1',
  'n0',
  'n1',
  'n2',
  'n3',
  'n4',
  'n5',
  'n6',
  'n7',
];
const collections = ['c', 'c', 'c', 'c', 'c', 'c', 'd', 'c/a/s', 'c/a/c', 'c/b/s', 'd/a/s', 's', 'c/a!/s', 'c/a/s/x/s'];
const fieldPaths = [
  'a',
  'a',
  'a',
  'b',
  'b',
  'b',
  'c',
  'n',
  'n',
  't',
  'm',
  'm.x',
  'm.x',
  'm.y',
  '`q.r`',
  'm.`a b`',
  'm.x.z',
  'l',
];
const badPaths = ['', 'a..b', '1a', '__x__', '`a', 'a.__name__', '__name__.a', '__type__'];
const scalars = [
  0,
  1,
  2,
  3,
  0,
  1,
  2,
  3,
  0,
  1,
  2,
  0.5,
  1.5,
  double(1),
  double(2),
  'a',
  'b',
  'ab',
  '',
  'a\0',
  null,
  NaN,
  true,
  false,
  -1,
  double(0),
  -0,
  Infinity,
  -Infinity,
  2n ** 63n - 1n,
  2n ** 63n - 2n,
  -(2n ** 63n),
  2n ** 53n + 1n,
  double(2 ** 53),
  double(2 ** 63),
  double(-(2 ** 63)),
  1e300,
  'é',
  '\uffee',
  '😀',
  Buffer.from([]),
  Buffer.from([0]),
  Buffer.from([255]),
  time(0),
  time(0, 1000),
  time(-1),
  time(5),
  geo(0, 0),
  geo(0, 1),
  geo(90, -90),
  geo(-90, 0.5),
  vector(1),
  vector(0),
  vector(1, 2),
  vector(0.5, 1, 2),
  {},
  {a: 1},
  {a: double(1)},
  {b: 0},
  {a: 1, b: 1},
  [],
];
const isListOrVector = (x) => Array.isArray(x) || x?.__type__ !== undefined;
const ranges = ['LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL'];
export const inequalities = [...ranges, 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NULL', 'IS_NOT_NAN'];

// The value at a path of plain segments, undefined if there is none.
function valueAt(data, path) {
  const segments = [...path.matchAll(/`([^`]*)`|[^.`]+/g)].map(([plain, quoted]) => quoted ?? plain);
  return segments.reduce(
    (value, segment) => (value?.constructor === Object && !isListOrVector(value) ? value[segment] : undefined),
    data,
  );
}

export class QueryGenerator {
  #random;
  #root;
  #documents = new Map(); // By path: the documents that queries are about.
  #inScope = [];

  constructor(random, root) {
    this.#random = random;
    this.#root = root;
  }

  // Some documents by path, with data for toFields.
  documents(count) {
    while (this.#documents.size < count) this.#documents.set(this.#path(), this.#data());
    return this.#documents;
  }

  // {method, request}; the parent is below the root of the database.
  query() {
    const random = this.#random;
    if (random.chance(6)) return this.#faulty();
    const [parent, from] = this.#scope();
    this.#inScope = [...this.#documents].filter(([path]) => {
      const segments = path.split('/');
      if (!from.allDescendants && !parent && segments.length > 2) return false;
      return !from.collectionId || segments.at(-2) === from.collectionId;
    });
    const structuredQuery = {from: [from]};
    const namesOnly = !from.collectionId || (from.allDescendants && parent);
    const allowed = {negation: true, contains: true, notIn: true};
    if (namesOnly && !random.chance(10)) {
      if (random.chance(60)) structuredQuery.where = this.#nameFilter(allowed);
      if (random.chance(20)) structuredQuery.orderBy = [this.#order('__name__', 'ASCENDING')];
    } else {
      if (random.chance(85))
        structuredQuery.where = random.chance(50) ? this.#filter(allowed) : this.#composite(2, allowed);
      const orderBy = this.#orders();
      if (orderBy.length) structuredQuery.orderBy = orderBy;
    }
    if (structuredQuery.orderBy && random.chance(25)) structuredQuery.startAt = this.#cursor(structuredQuery.orderBy);
    if (structuredQuery.orderBy && random.chance(20)) structuredQuery.endAt = this.#cursor(structuredQuery.orderBy);
    if (random.chance(15)) structuredQuery.offset = random.below(6);
    if (random.chance(35)) structuredQuery.limit = {value: random.below(10)};
    if (random.chance(8))
      structuredQuery.select = {fields: random.some(fieldPaths, 3).map((fieldPath) => ({fieldPath}))};
    const where = {parent: parent ? `${this.#root}/${parent}` : this.#root};
    if (!random.chance(20)) return {method: 'RunQuery', request: {...where, structuredQuery}};
    return {
      method: 'RunAggregationQuery',
      request: {...where, structuredAggregationQuery: {structuredQuery, aggregations: this.#aggregations()}},
    };
  }

  // A query with exactly one thing wrong, so that there is one error to report.
  #faulty() {
    const random = this.#random;
    const structuredQuery = {from: [{collectionId: 'c', ...(random.chance(30) ? {allDescendants: true} : {})}]};
    const path = random.pick(fieldPaths);
    const value = () => this.#value();
    const both = (op, ...filters) => ({where: {compositeFilter: {op, filters}}});
    const where = (...filter) => ({where: this.#fieldFilter(...filter)});
    const change = random.pick([
      () => ({limit: {value: -1}}),
      () => ({offset: -1}),
      () => ({from: [{collectionId: '__x__'}]}),
      () => ({from: [{collectionId: 'a/b'}]}),
      () => ({from: [{collectionId: 'c'}, {collectionId: 'd'}]}),
      () => where(random.pick(badPaths), 'EQUAL', value()),
      () => ({orderBy: [this.#order(random.pick(badPaths))]}),
      () => ({select: {fields: [{fieldPath: random.pick(badPaths)}]}}),
      () => where(path, random.pick(['IN', 'NOT_IN', 'ARRAY_CONTAINS_ANY']), []),
      () => where(path, 'IN', 1),
      () => where(path, 'EQUAL', unset),
      () =>
        where(
          path,
          'IN',
          Array.from({length: 31}, (_, n) => n),
        ),
      () =>
        where(
          path,
          'NOT_IN',
          Array.from({length: 11}, (_, n) => n),
        ),
      () => where('__name__', random.pick([...ranges, 'EQUAL', 'NOT_EQUAL']), random.pick([null, 1, 'a', NaN])),
      () => where('__name__', 'IN', [1]),
      () => where('__name__', 'ARRAY_CONTAINS', 1),
      () => where(path, 'OPERATOR_UNSPECIFIED', 1),
      () => both('OR'),
      () => both('OPERATOR_UNSPECIFIED'),
      () => ({where: {}}),
      () =>
        both('AND', this.#fieldFilter('t', 'ARRAY_CONTAINS', 1), this.#fieldFilter(path, 'ARRAY_CONTAINS_ANY', [1, 2])),
      () => both('AND', this.#fieldFilter('a', 'NOT_EQUAL', 1), this.#fieldFilter(path, 'NOT_EQUAL', 2)),
      () => both('OR', this.#fieldFilter('a', 'NOT_IN', [1]), this.#fieldFilter('b', 'EQUAL', value())),
      () =>
        both('AND', this.#fieldFilter('a', 'IN', [1, 2, 3, 4]), this.#fieldFilter('b', 'IN', [1, 2, 3, 4, 5, 6, 7, 8])),
      () => ({orderBy: [this.#order(path), this.#order(path)]}),
      () => ({orderBy: [this.#order('__name__', 'ASCENDING'), this.#order(path)]}),
      () => ({...where('a', 'GREATER_THAN', 1), orderBy: [this.#order('__name__', 'ASCENDING')]}),
      () => ({orderBy: [this.#order(path)], startAt: {values: [toValue(1), toValue(2)]}}),
      () => ({orderBy: [this.#order(path), this.#order('__name__')], endAt: {values: [toValue(1), toValue(2)]}}),
      () => ({from: [{}], ...where(path, 'EQUAL', value())}),
      () => ({from: [{}], orderBy: [this.#order(path)]}),
    ])();
    return {method: 'RunQuery', request: {parent: this.#root, structuredQuery: {...structuredQuery, ...change}}};
  }

  #path() {
    return `${this.#random.pick(collections)}/${this.#random.pick(ids)}`;
  }

  #reference() {
    return reference(`${this.#random.chance(80) ? this.#root : 'projects/p/databases/d/documents'}/${this.#path()}`);
  }

  #scalar() {
    return this.#random.chance(4) ? this.#reference() : this.#random.pick(scalars);
  }

  #list() {
    return Array.from({length: this.#random.below(4)}, () => this.#scalar()).filter((x) => !isListOrVector(x));
  }

  #value(depth = 1) {
    const random = this.#random;
    if (depth && random.chance(14)) return this.#list();
    if (depth && random.chance(8)) return {x: this.#value(0), ...(random.chance(50) ? {y: this.#value(0)} : {})};
    return this.#scalar();
  }

  #data() {
    const random = this.#random;
    const data = {};
    for (const name of ['a', 'b', 'c', 'q.r']) if (random.chance(80)) data[name] = this.#value();
    if (random.chance(85)) data.n = random.chance(50) ? random.below(3) : this.#scalar();
    if (random.chance(70)) data.t = this.#list();
    // Around 1,500 bytes, where indexes cut values off.
    if (random.chance(15)) data.l = 'k'.repeat(1490 + random.below(20)) + random.pick(['', 'a', 'b']);
    if (random.chance(80)) {
      data.m = {};
      for (const name of ['x', 'y', 'a b']) if (random.chance(70)) data.m[name] = this.#value();
      if (random.chance(15)) data.m.x = {z: this.#scalar()};
    }
    return data;
  }

  #scope() {
    const random = this.#random;
    const kind = random.below(100);
    const deep = () => (random.chance(60) ? 's' : 'c');
    if (kind < 60) return ['', {collectionId: 'c'}];
    if (kind < 82) return ['', {collectionId: deep(), allDescendants: true}];
    if (kind < 88) return [random.pick(['c/a', 'c/a', 'c/b', 'c/a!', 'd/a']), {collectionId: deep()}];
    if (kind < 91) return ['', {collectionId: random.pick(['d', 'd', 'none'])}];
    if (kind < 95)
      return [random.pick(['c/a', 'd/a']), {...(random.chance(50) ? {collectionId: 's'} : {}), allDescendants: true}];
    return [random.chance(40) ? 'c/a' : '', random.chance(60) ? {allDescendants: true} : {}];
  }

  // The value of some document in scope at that path; otherwise any value.
  #operand(path) {
    for (let attempt = 0; attempt < 4 && this.#inScope.length && !this.#random.chance(8); ++attempt) {
      const value = valueAt(this.#random.pick(this.#inScope)[1], path);
      if (value !== undefined) return value;
    }
    return this.#value();
  }

  #item(path) {
    for (let attempt = 0; attempt < 6 && this.#inScope.length && !this.#random.chance(8); ++attempt) {
      const value = valueAt(this.#random.pick(this.#inScope)[1], path);
      if (Array.isArray(value) && value.length) return this.#random.pick(value);
    }
    return this.#scalar();
  }

  #fieldFilter(path, op, value) {
    return {fieldFilter: {field: {fieldPath: path}, op, value: toValue(value)}};
  }

  #nameFilter(allowed) {
    const random = this.#random;
    let op = random.pick([...ranges, 'GREATER_THAN', 'EQUAL', 'IN', 'NOT_EQUAL']);
    if (op === 'NOT_EQUAL' && !allowed.negation) op = 'LESS_THAN';
    if (op === 'NOT_EQUAL') allowed.negation = false;
    const name = () => {
      const existing = this.#inScope.length && !random.chance(25);
      return reference(`${this.#root}/${existing ? random.pick(this.#inScope)[0] : this.#path()}`);
    };
    return this.#fieldFilter('__name__', op, op === 'IN' ? Array.from({length: 1 + random.below(4)}, name) : name());
  }

  #filter(allowed) {
    const random = this.#random;
    if (random.chance(7)) return this.#nameFilter(allowed);
    const path = random.pick(fieldPaths);
    const kind = random.below(100);
    const items = (count, item) => Array.from({length: 1 + random.below(count)}, () => item(path));
    if (kind < 30) return this.#fieldFilter(path, 'EQUAL', this.#operand(path));
    if (kind < 60) return this.#fieldFilter(path, random.pick(ranges), this.#operand(path));
    if (kind < 68)
      return this.#fieldFilter(
        path,
        'IN',
        items(5, (at) => this.#operand(at)),
      );
    if (kind < 74) return {unaryFilter: {field: {fieldPath: path}, op: random.pick(['IS_NULL', 'IS_NAN'])}};
    if (kind < 86 && allowed.contains) {
      allowed.contains = false;
      const list = random.chance(80) ? 't' : path;
      if (random.chance(60)) return this.#fieldFilter(list, 'ARRAY_CONTAINS', this.#item(list));
      return this.#fieldFilter(
        list,
        'ARRAY_CONTAINS_ANY',
        items(4, () => this.#item(list)),
      );
    }
    if (kind < 97 && allowed.negation) {
      allowed.negation = false;
      if (allowed.notIn && random.chance(40)) {
        return this.#fieldFilter(
          path,
          'NOT_IN',
          items(4, (at) => this.#operand(at)),
        );
      }
      if (random.chance(50)) return this.#fieldFilter(path, 'NOT_EQUAL', this.#operand(path));
      return {unaryFilter: {field: {fieldPath: path}, op: random.pick(['IS_NOT_NULL', 'IS_NOT_NAN'])}};
    }
    return this.#fieldFilter(path, 'GREATER_THAN_OR_EQUAL', this.#operand(path));
  }

  #composite(depth, allowed) {
    const random = this.#random;
    const op = random.chance(55) ? 'AND' : 'OR';
    if (op === 'OR') allowed.notIn = false;
    const filters = Array.from({length: 1 + random.below(3)}, () =>
      depth > 0 && random.chance(35) ? this.#composite(depth - 1, allowed) : this.#filter(allowed),
    );
    return {compositeFilter: {op, filters}};
  }

  #order(fieldPath, direction) {
    return {field: {fieldPath}, direction: direction ?? (this.#random.chance(60) ? 'ASCENDING' : 'DESCENDING')};
  }

  #orders() {
    const random = this.#random;
    const chosen = random.chance(45) ? [] : random.some(fieldPaths, 3);
    const orders = [...new Set(chosen)].map((path) => this.#order(path));
    if (random.chance(orders.length ? 30 : 12)) orders.push(this.#order('__name__'));
    return orders;
  }

  #cursor(orderBy) {
    const random = this.#random;
    const length = random.chance(4) ? 0 : 1 + random.below(orderBy.length);
    const at = this.#inScope.length ? random.pick(this.#inScope) : ['c/a', {}];
    const values = Array.from({length}, (_, n) => {
      const path = orderBy[n]?.field.fieldPath;
      if (path === '__name__') {
        return toValue(reference(`${this.#root}/${random.chance(80) ? at[0] : this.#path()}`));
      }
      const value = random.chance(85) ? valueAt(at[1], path ?? 'a') : undefined;
      return toValue(value === undefined ? this.#value() : value);
    });
    return {values, before: random.chance(50)};
  }

  #aggregations() {
    const random = this.#random;
    return Array.from({length: 1 + random.below(3)}, (_, n) => {
      const alias = random.chance(70) ? {alias: `r${n}`} : {};
      if (random.chance(40)) return {...alias, count: random.chance(40) ? {upTo: {value: random.below(6)}} : {}};
      const field = {fieldPath: random.pick(['n', 'n', 'n', 'a', 'm.x'])};
      return {...alias, [random.pick(['sum', 'avg'])]: {field}};
    });
  }
}
