// gRPC by hand over an HTTP/2 session, for requests that no client library would send.

import http2 from 'node:http2';
import {patienceMs} from './patience.js';
import {codeName} from './raw.js';

// A length-prefixed message. `length` and `flag` can be wrong on purpose.
export function frame(body, {flag = 0, length = body.length} = {}) {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, body]);
}

export class Session {
  #session;

  constructor(address) {
    this.#session = http2.connect(`http://${address}`, {maxSessionMemory: 100}); // MB: requests beyond the server's limit must fit.
    this.#session.on('error', () => {});
  }

  close() {
    this.#session.destroy();
  }

  // Sends `body` and ends the stream, unless `keepOpen`. Returns the HTTP status, the headers, the body, and the name
  // of the gRPC code and its message; or `reset` if the stream or the connection broke.
  post(path, body, {headers = {}, keepOpen = false, method = 'POST'} = {}) {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(
        {
          ':method': method,
          ':path': path,
          'content-type': 'application/grpc',
          te: 'trailers',
          authorization: 'Bearer owner',
          ...headers,
        },
        {endStream: body === undefined},
      );
      const answer = {headers: {}, trailers: {}};
      const chunks = [];
      const timer = setTimeout(() => {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        reject(new Error(`no answer within ${patienceMs} ms`));
      }, patienceMs);
      stream.on('response', (received) => {
        answer.headers = received;
      });
      stream.on('trailers', (received) => {
        answer.trailers = received;
      });
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('error', (error) => {
        answer.reset = error.message;
      });
      // The answer may be complete before the request is; then the rest of the request is not awaited.
      stream.on('end', () => setImmediate(() => stream.destroy()));
      stream.on('close', () => {
        clearTimeout(timer);
        const {'grpc-status': status, 'grpc-message': message = ''} = {...answer.headers, ...answer.trailers};
        resolve({
          ...answer,
          status: answer.headers[':status'],
          body: Buffer.concat(chunks),
          code: status === undefined ? undefined : codeName(Number(status)),
          message: decodeURIComponent(message),
        });
      });
      if (body !== undefined && keepOpen) stream.write(body);
      else if (body !== undefined) stream.end(body);
    });
  }

  // Opens a request, sends `body`, and resets the stream.
  abandon(path, body) {
    return new Promise((resolve) => {
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      stream.on('error', () => {});
      stream.on('close', resolve);
      stream.write(body, () => stream.close(http2.constants.NGHTTP2_CANCEL));
    });
  }
}
