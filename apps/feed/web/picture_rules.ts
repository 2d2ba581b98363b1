// Limits of uploads. The server checks the content and decides; this avoids uploads that it would reject.

export const picturesMax = 10;
export const pictureBytesMax = 5 * 1024 * 1024;
export const pictureTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

export interface Candidate {
  name: string;
  size: number;
  type: string;
}

// Rounded up, so that an oversized file never appears to be within the limit.
const megabytes = (bytes: number) => `${(Math.ceil((bytes / 1024 / 1024) * 10) / 10).toFixed(1)} MB`;

// Why a file was rejected: “name” reason.
export interface Complaint {
  name: string;
  reason: string;
}

function complaintAbout({type, size}: Candidate, isFull: boolean): string | undefined {
  if (!pictureTypes.includes(type)) return 'is not a JPEG, PNG, GIF or WebP picture.';
  if (size > pictureBytesMax) return `has ${megabytes(size)}; a picture may have 5 MB.`;
  if (size === 0) return 'is empty.';
  if (isFull) return `was left out: a post has at most ${picturesMax} pictures.`;
  return undefined;
}

// Which candidates are added to the `chosen` pictures, and an error for each of the others.
export function admit<T extends Candidate>(
  chosen: number,
  candidates: readonly T[],
): {accepted: T[]; complaints: Complaint[]} {
  const accepted: T[] = [];
  const complaints: Complaint[] = [];
  for (const candidate of candidates) {
    const reason = complaintAbout(candidate, chosen + accepted.length >= picturesMax);
    if (reason === undefined) accepted.push(candidate);
    else complaints.push({name: candidate.name, reason});
  }
  return {accepted, complaints};
}

// The pictures that the server rejected, and why. Empty: it rejected the post for another reason.
export function refusedBy<T extends Candidate>(
  details: Record<string, unknown>,
  sent: readonly T[],
): {candidate: T; complaint: Complaint}[] {
  const images = Array.isArray(details.images) ? (details.images as {position?: unknown; message?: unknown}[]) : [];
  return images.flatMap(({position, message}) => {
    const candidate = sent[Number(position)];
    if (!candidate) return [];
    const reason = typeof message === 'string' ? `cannot be posted: ${message}.` : 'cannot be posted.';
    return [{candidate, complaint: {name: candidate.name, reason}}];
  });
}
