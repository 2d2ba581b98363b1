// JSON over HTTP, with errors that can be shown to people.

export class HttpError extends Error {
  // `status` is 0 where there was no answer.
  constructor(message: string, readonly status: number, readonly retryAfterSeconds?: number) {
    super(message);
    this.name = 'HttpError';
  }

  get isUnreachable() { return this.status === 0; }
}

export interface RequestOptions {
  body?: unknown;
  timeoutMs?: number;
  signal?: AbortSignal;
  keepalive?: boolean;  // Let it arrive even when the page is closed meanwhile.
}

const timeoutMsDefault = 15_000;

// Relative paths start at the page, wherever it is mounted. Rejects with HttpError; with an AbortError only when the
// caller's own signal ended it.
export async function requestJson<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
  const init: RequestInit = {
    method,
    headers: {accept: 'application/json', ...(options.body === undefined ? {} : {'content-type': 'application/json'})},
    signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
    credentials: 'same-origin',
    keepalive: options.keepalive ?? false,
  };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  try {
    const response = await fetch(path, init);
    const text = await response.text();
    if (!response.ok) throw refusal(response, text);
    return parse(text, response.status) as T;
  } catch (error) {
    if (error instanceof HttpError || options.signal?.aborted) throw error;
    throw new HttpError(timeout.aborted ? 'The server took too long to answer.' : 'The server cannot be reached.', 0);
  }
}

export const getJson = <T>(path: string, options?: RequestOptions) => requestJson<T>('GET', path, options);

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError('The server sent an answer that makes no sense.', status);
  }
}

function refusal(response: Response, text: string): HttpError {
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  return new HttpError(
    messageOf(text) ?? `The server answered with an error (${response.status}).`, response.status,
    Number.isFinite(seconds) ? seconds : undefined);
}

// {error: "..."} or {error: {message: "..."}}: the applications have both.
export function messageOf(text: string): string | undefined {
  try {
    const {error} = JSON.parse(text) as {error?: unknown};
    if (typeof error === 'string') return error;
    const message = (error as {message?: unknown} | undefined)?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
