// A chat room: one listener for all messages, one write per message.
//
// ?server=127.0.0.1:8080&project=demo-chat&room=lobby&name=Ada select the server, project, room and user; all are
// optional.

import {initializeApp} from 'firebase/app';
import {
  addDoc,
  collection,
  connectFirestoreEmulator,
  getFirestore,
  limitToLast,
  onSnapshot,
  orderBy,
  query,
  serverTimestamp,
} from 'firebase/firestore';

const shownMax = 200;
const parameters = new URLSearchParams(location.search);
const parameter = (name, otherwise) => parameters.get(name) ?? otherwise;
const element = (id) => document.getElementById(id);

const room = parameter('room', 'lobby');
const [host, port] = parameter('server', '127.0.0.1:8080').split(':');
const db = getFirestore(initializeApp({projectId: parameter('project', 'demo-chat')}));
connectFirestoreEmulator(db, host, Number(port));
const messages = collection(db, 'rooms', room, 'messages');

element('room').textContent = `#${room}`;
element('name').value = parameter('name', localStorage.getItem('name') ?? '');

function show(message) {
  const {author, text} = message.data();
  const item = document.createElement('li');
  item.classList.toggle('mine', author === element('name').value);
  item.classList.toggle('pending', message.metadata.hasPendingWrites);
  const by = document.createElement('span');
  by.className = 'author';
  by.textContent = author;
  item.append(by, text);
  return item;
}

onSnapshot(
  query(messages, orderBy('sent'), limitToLast(shownMax)),
  {includeMetadataChanges: true},
  (snapshot) => {
    const list = element('messages');
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
    list.replaceChildren(...snapshot.docs.map(show));
    if (atEnd) list.scrollTop = list.scrollHeight;
    element('state').textContent = snapshot.metadata.fromCache ? 'offline' : 'online';
  },
  (error) => {
    element('state').textContent = error.message;
  },
);

element('compose').addEventListener('submit', (event) => {
  event.preventDefault();
  const author = element('name').value.trim();
  const text = element('text').value.trim();
  if (!author || !text) return;
  localStorage.setItem('name', author);
  element('text').value = '';
  // Shown at once, and sent when there is a connection: no need to wait for it here.
  addDoc(messages, {author, text, sent: serverTimestamp()}).catch(
    (error) => (element('state').textContent = error.message),
  );
});
