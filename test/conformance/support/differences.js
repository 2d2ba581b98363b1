// The intended differences between Hearth and the official emulator: the executable side of docs/compatibility.md.

const otherVersion = 'the stored version (*) does not match the required base version (*)';

// The emulator's message, and Hearth's: the text, and the code if that differs too.
const words = [
  [
    /^no entity to update: app: "[^"]*"\npath <\n([\s\S]*)>\n$/,
    ([, elements]) => ({message: `No document to update: ${elementsToName(elements)}`}),
  ],
  [
    /^entity already exists: EntityRef\{partitionRef=[^,]*, path=\/(.*)\}$/,
    ([, path]) => ({message: `Document already exists: ROOT/${path.replace(/(^|\/)(-?\d+)L(?=\/|$)/g, '$1__id$2__')}`}),
  ],
  [/^Document \((.*)\) not found\.$/, ([, name]) => ({message: `Document "${name}" not found.`})],
  [
    /^Transaction is invalid or closed\.$/,
    () => ({message: 'The referenced transaction has expired or is no longer valid.'}),
  ],
  [
    /^Invalid base version, it is greater than the stored version: app: "[^"]*"\npath <\n([\s\S]*)>\n$/,
    ([, elements]) => ({
      message: `Invalid base version, it is greater than the stored version: ${elementsToName(elements)}`,
    }),
  ],
  // In the emulator a deleted document has the version of its deletion.
  [/^the stored version \(\d+\) does not match the required base version \(\d+\)$/, () => ({message: otherVersion})],
];

function elementsToName(elements) {
  const parts = [...elements.matchAll(/type: "([^"]*)"\s+(?:name: "([^"]*)"|id: (-?\d+))/g)];
  const path = parts.map(([, type, name, id]) => `${type}/${name ?? `__id${id}__`}`).join('/');
  return `ROOT/${path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))}`;
}

// An error of the emulator as Hearth would report it. Hearth's own errors are returned unchanged.
export function inOurWords({code, message}) {
  for (const [pattern, ours] of words) {
    const match = pattern.exec(message);
    if (match) return {code, message, ...ours(match)};
  }
  return {code, message};
}

// For a deleted document that is listed as missing, the emulator reports when it was deleted.
export function withoutDeletionTime(message) {
  const {updateTime, ...rest} = message;
  return 'name' in message && updateTime !== undefined && !('createTime' in message) ? rest : message;
}

// The emulator checks two writes of one document against each other before it looks at the document; Hearth evaluates
// them one after the other. Both refuse.
const staticCheck = /^Cannot \w+ then \w+ an entity in the same request\.$|^Cannot collapse mutations/;

// Whether two unequal outcomes differ only in permitted ways.
export function isAccepted(ours, theirs) {
  return (
    theirs.code === 'INVALID_ARGUMENT' &&
    staticCheck.test(theirs.message) &&
    (['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'].includes(ours.code) ||
      ours.message.startsWith('Invalid base version, '))
  );
}
