// Uploads pictures with progress, which fetch does not support.

import {HttpError, refusal} from '#design/http';
import type {Post} from './api';

export interface Upload {
  files: readonly File[];
  caption: string;
  headers: Record<string, string>;
  onProgress: (sent: number) => void; // 0 to 1; at 1 the server has everything and processes it.
  signal: AbortSignal;
}

const uploadTimeoutMs = 5 * 60_000;

// Rejects with HttpError; with an AbortError only if `signal` ended it.
export function upload({files, caption, headers, onProgress, signal}: Upload): Promise<Post> {
  const body = new FormData();
  body.append('caption', caption);
  for (const file of files) body.append('images', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (message: string) => reject(new HttpError(message, 0));
    request.open('POST', 'posts');
    request.timeout = uploadTimeoutMs;
    request.setRequestHeader('accept', 'application/json');
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({loaded, total}) => onProgress(total > 0 ? loaded / total : 0));
    request.upload.addEventListener('load', () => onProgress(1));
    request.addEventListener('load', () => {
      if (request.status !== 201)
        return reject(refusal(request.status, request.responseText, request.getResponseHeader('retry-after')));
      try {
        resolve(JSON.parse(request.responseText) as Post);
      } catch {
        reject(new HttpError('The server sent an answer that makes no sense.', request.status));
      }
    });
    request.addEventListener('error', () => fail('The server cannot be reached.'));
    request.addEventListener('timeout', () => fail('The server took too long to answer.'));
    request.addEventListener('abort', () => reject(new DOMException('The upload was cancelled.', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), {once: true});
    if (signal.aborted) return reject(new DOMException('The upload was cancelled.', 'AbortError'));
    request.send(body);
  });
}
