// Code snippets that connect to this server.

export const languages = ['node', 'web', 'cpp'] as const;
export type Language = (typeof languages)[number];

export interface Snippet {
  label: string;
  about: string;
  code: string;
}

// "[::1]:8080" or "127.0.0.1:8080".
export function splitAddress(address: string): {host: string; port: string} {
  const at = address.lastIndexOf(':');
  if (at < 0) return {host: address, port: '80'};
  return {host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: address.slice(at + 1)};
}

const node = (address: string, project: string) => `import {Firestore} from '@google-cloud/firestore';

process.env.FIRESTORE_EMULATOR_HOST = '${address}';
const db = new Firestore({projectId: '${project}'});

await db.doc('rooms/r1').set({topic: 'fire', size: 3});
console.log((await db.doc('rooms/r1').get()).data());`;

function web(address: string, project: string) {
  const {host, port} = splitAddress(address);
  return `import {initializeApp} from 'firebase/app';
import {connectFirestoreEmulator, doc, getFirestore, onSnapshot} from 'firebase/firestore';

const db = getFirestore(initializeApp({projectId: '${project}'}));
connectFirestoreEmulator(db, '${host}', ${port});

onSnapshot(doc(db, 'rooms', 'r1'), (room) => console.log(room.data()));`;
}

const cpp = (address: string, project: string) => `#include <hearth/hearth.h>

using namespace hearth::client;

auto db = Connect({.address = "${address}", .project = "${project}"});
if (!db.ok()) return 1;

auto written = db->Doc("rooms/r1").Set({{"topic", "fire"}, {"size", 3}});
auto room = db->Doc("rooms/r1").Get();`;

export function snippet(language: Language, address: string, project: string): Snippet {
  switch (language) {
    case 'node':
      return {
        label: 'Node',
        code: node(address, project),
        about: 'The server SDK as it is on npm; Python, Go and Java take the same variable.',
      };
    case 'web':
      return {
        label: 'Web',
        code: web(address, project),
        about: 'The web SDK, with listeners, offline persistence and several tabs.',
      };
    case 'cpp':
      return {
        label: 'C++',
        code: cpp(address, project),
        about: 'Hearth’s own client, in another process or inside the server.',
      };
  }
}
