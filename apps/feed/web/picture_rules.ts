// What can be posted. The server looks at the content and has the last word; this saves an upload that it would refuse.

export const picturesMax = 10;
export const pictureBytesMax = 5 * 1024 * 1024;
export const pictureTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

export interface Candidate {
  name: string;
  size: number;
  type: string;
}

// Rounded up: what is too large never reads as if it were not.
const megabytes = (bytes: number) => `${(Math.ceil((bytes / 1024 / 1024) * 10) / 10).toFixed(1)} MB`;

// Why a file is not among the pictures: “name” reason.
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

// Which of the candidates join `chosen` pictures, and what is to be said about each of the others.
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

// Which of the sent pictures the server has refused, and why. None: it refused the post for another reason.
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
