// WebChannel spoken by hand: one streaming call over plain HTTP requests.

import {request} from 'node:http';
import {patienceMs} from './patience.js';

function ask(address, method, path, body, headers = {}) {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    const asked = request(
      {host, port, method, path, agent: false, headers: {origin: 'http://localhost:3000', ...headers}},
      (response) => resolve({asked, response}),
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

// A whole answer.
export async function askWhole(address, method, path, body, headers) {
  const {response} = await ask(address, method, path, body, headers);
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return {status: response.statusCode, headers: response.headers, body: text};
}

// The arrays of the complete `<length>
// <json>` chunks, and the remaining text.
export function parseChunks(text) {
  const arrays = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\n');
    const length = Number(rest.slice(0, end));
    if (end < 0 || Number.isNaN(length) || rest.length < end + 1 + length) return {arrays, rest};
    arrays.push(...JSON.parse(rest.slice(end + 1, end + 1 + length)));
    rest = rest.slice(end + 1 + length);
  }
}

// The answer that carries arrays, while it arrives.
export class BackChannel {
  #asked;
  #text = '';
  #wake = () => {};
  arrays = []; // All [id, array] pairs, in order of arrival.
  chunks = 0;
  ended = false;

  constructor({asked, response}) {
    this.#asked = asked;
    this.status = response.statusCode;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (piece) => {
      const {arrays, rest} = parseChunks(this.#text + piece);
      this.#text = rest;
      this.arrays.push(...arrays);
      this.chunks += 1;
      this.#wake();
    });
    const end = () => {
      this.ended = true;
      this.#wake();
    };
    response.once('end', end);
    response.once('error', end);
    this.failed = (error) => {
      this.error = error;
      end();
    };
    asked.on('error', this.failed);
  }

  get messages() {
    return this.arrays.map(([, array]) => array[0]).filter((message) => message !== 'noop');
  }

  get lastId() {
    return this.arrays.at(-1)?.[0];
  }

  // Waits until `met` holds for this back channel.
  async until(met) {
    const end = Date.now() + patienceMs;
    while (!met(this)) {
      if (this.ended || Date.now() > end) {
        throw new Error(`the back channel has only ${JSON.stringify(this.arrays).slice(0, 2_000)}`);
      }
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this;
  }

  untilMessages(count) {
    return this.until(({messages}) => messages.length >= count);
  }

  async untilEnd() {
    if (!this.ended) await this.until(({ended}) => ended);
    return this;
  }

  drop() {
    this.#asked.destroy();
  }
}

export class Channel {
  #next = 0; // The index of the next message.
  #requestId = 5_000;

  constructor(address, method, database) {
    this.address = address;
    this.path = `/google.firestore.v1.Firestore/${method}/channel?VER=8&database=${encodeURIComponent(database)}`;
  }

  static body(first, messages, headers) {
    const fields = [`count=${messages.length}`, `ofs=${first}`];
    if (headers) fields.unshift(`headers=${encodeURIComponent(headers)}`);
    messages.forEach((message, i) => {
      const json = typeof message === 'string' ? message : JSON.stringify(message);
      fields.push(`req${i}___data__=${encodeURIComponent(json)}`);
    });
    return fields.join('&');
  }

  post(query, body) {
    return askWhole(this.address, 'POST', `${this.path}&${query}&zx=a&t=1`, body, {
      'content-type': 'application/x-www-form-urlencoded',
    });
  }

  async open(messages = [], headers = 'Authorization:Bearer owner\r\n') {
    const answer = await this.post(
      `RID=${this.#requestId++}&CVER=22&X-HTTP-Session-Id=gsessionid`,
      Channel.body(0, messages, headers),
    );
    this.#next = messages.length;
    this.handshake = parseChunks(answer.body).arrays[0];
    this.id = this.handshake?.[1][1];
    return answer;
  }

  // `first`: the index of the first message, if it is not the next one.
  async send(messages, {acknowledged = 0, first = this.#next} = {}) {
    this.#next = Math.max(this.#next, first + messages.length);
    const answer = await this.post(
      `SID=${encodeURIComponent(this.id)}&RID=${this.#requestId++}&AID=${acknowledged}`,
      Channel.body(first, messages),
    );
    const json = answer.body.slice(answer.body.indexOf('\n') + 1);
    return {...answer, state: answer.status === 200 ? JSON.parse(json) : undefined};
  }

  async back({acknowledged = 0, buffered = 0} = {}) {
    const query = `RID=rpc&SID=${encodeURIComponent(this.id)}&AID=${acknowledged}&CI=${buffered}&TYPE=xmlhttp&zx=a&t=1`;
    return new BackChannel(await ask(this.address, 'GET', `${this.path}&${query}`));
  }

  terminate() {
    return this.post(`SID=${encodeURIComponent(this.id)}&RID=${this.#requestId++}&TYPE=terminate`, '');
  }
}
