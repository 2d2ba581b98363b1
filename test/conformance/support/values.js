// Short notations for protocol values, writes and names.

class Literal {
  constructor(value) {
    this.value = value;
  }
}

// Numbers that are zero are not sent, so they are absent in answers.
const withoutZeros = (message) =>
  Object.fromEntries(Object.entries(message).filter(([, x]) => !Object.is(x, 0) && x !== '0'));

const literal = (value) => new Literal(value);
export const double = (x) => literal({doubleValue: x});
export const int = (x) => literal({integerValue: String(x)});
export const time = (seconds, nanos = 0) => literal({timestampValue: withoutZeros({seconds: String(seconds), nanos})});
export const geo = (latitude, longitude) => literal({geoPointValue: withoutZeros({latitude, longitude})});
export const reference = (name) => literal({referenceValue: name});
export const unset = literal({});
export const vector = (...components) => ({__type__: '__vector__', value: components.map(double)});

// A JavaScript value as a protocol value. Whole numbers become integers, others and -0 doubles.
export function toValue(x) {
  if (x instanceof Literal) return x.value;
  if (x === null) return {nullValue: 'NULL_VALUE'};
  if (typeof x === 'boolean') return {booleanValue: x};
  if (typeof x === 'string') return {stringValue: x};
  if (typeof x === 'bigint') return {integerValue: String(x)};
  if (typeof x === 'number') {
    return Number.isSafeInteger(x) && !Object.is(x, -0) ? {integerValue: String(x)} : {doubleValue: x};
  }
  if (Buffer.isBuffer(x)) return {bytesValue: x};
  if (Array.isArray(x)) return {arrayValue: x.length ? {values: x.map(toValue)} : {}};
  return {mapValue: Object.keys(x).length ? {fields: toFields(x)} : {}};
}

export function toFields(object) {
  return Object.fromEntries(Object.entries(object).map(([name, x]) => [name, toValue(x)]));
}

// The fields of a document as returned: in no particular order, absent if there are none.
export const fieldsOf = (document) => document.fields ?? {};

export const microsOf = ({seconds = '0', nanos = 0}) => BigInt(seconds) * 1_000_000n + BigInt(nanos) / 1000n;

export function timeOf(micros) {
  return {seconds: String(micros / 1_000_000n), nanos: Number(micros % 1_000_000n) * 1000};
}

// Names and requests of one database.
export class Names {
  constructor(project, database = '(default)') {
    this.project = project;
    this.database = `projects/${project}/databases/${database}`;
    this.root = `${this.database}/documents`;
  }

  doc(path) {
    return `${this.root}/${path}`;
  }

  set(path, data, more = {}) {
    return {update: {name: this.doc(path), fields: toFields(data)}, ...more};
  }

  patch(path, data, fieldPaths, more = {}) {
    return this.set(path, data, {updateMask: {fieldPaths}, ...more});
  }

  remove(path, more = {}) {
    return {delete: this.doc(path), ...more};
  }

  // An update that consists only of these transforms.
  transform(path, ...updateTransforms) {
    return this.patch(path, {}, [], {updateTransforms});
  }

  commit(...writes) {
    return {database: this.database, writes};
  }
}

export const increment = (fieldPath, x) => ({fieldPath, increment: toValue(x)});
export const maximum = (fieldPath, x) => ({fieldPath, maximum: toValue(x)});
export const minimum = (fieldPath, x) => ({fieldPath, minimum: toValue(x)});
export const union = (fieldPath, ...xs) => ({fieldPath, appendMissingElements: {values: xs.map(toValue)}});
export const without = (fieldPath, ...xs) => ({fieldPath, removeAllFromArray: {values: xs.map(toValue)}});
export const serverTime = (fieldPath) => ({fieldPath, setToServerValue: 'REQUEST_TIME'});
