// JSON over HTTP, with errors that can be shown to users.

export class HttpError extends Error {
  // `status` is 0 if there was no answer. `details` is the server's machine-readable description, `code` its name for
  // the kind of error; a server may omit both.
  constructor(
    message: string,
    readonly status: number,
    readonly retryAfterSeconds?: number,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = 'HttpError';
  }

  get isUnreachable() {
    return this.status === 0;
  }
  get code(): string | undefined {
    return typeof this.details.code === 'string' ? this.details.code : undefined;
  }
}

export interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs?: number;
  signal?: AbortSignal;
  keepalive?: boolean; // Complete the request even if the page is closed.
}

const timeoutMsDefault = 15_000;

// Relative paths start at the page, wherever it is mounted. Rejects with HttpError, or with an AbortError only if the
// caller's own signal aborted it. An answer without content (204) is undefined.
export async function requestJson<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
  const init: RequestInit = {
    method,
    headers: {
      accept: 'application/json',
      ...(options.body === undefined ? {} : {'content-type': 'application/json'}),
      ...options.headers,
    },
    signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
    credentials: 'same-origin',
    keepalive: options.keepalive ?? false,
  };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  try {
    const response = await fetch(path, init);
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, text, response.headers.get('retry-after'));
    if (response.status === 204) return undefined as T;
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

// The error in an answer of 400 and above, for users and for programs.
export function refusal(status: number, text: string, retryAfter: string | null = null): HttpError {
  const seconds = Number(retryAfter ?? NaN);
  return new HttpError(
    messageOf(text) ?? `The server answered with an error (${status}).`,
    status,
    Number.isFinite(seconds) ? seconds : undefined,
    detailsOf(text),
  );
}

function errorOf(text: string): unknown {
  try {
    return (JSON.parse(text) as {error?: unknown}).error;
  } catch {
    return undefined;
  }
}

// {error: "..."} or {error: {message: "...", code: "..."}}: applications use both forms.
export function messageOf(text: string): string | undefined {
  const error = errorOf(text);
  if (typeof error === 'string') return error;
  const message = (error as {message?: unknown} | undefined)?.message;
  return typeof message === 'string' ? message : undefined;
}

function detailsOf(text: string): Record<string, unknown> {
  const error = errorOf(text);
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
}
