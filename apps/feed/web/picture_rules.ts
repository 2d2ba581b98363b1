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
const megabytes = (bytes: number) => `${(Math.ceil(bytes / 1024 / 1024 * 10) / 10).toFixed(1)} MB`;

// Which of the candidates join `chosen` pictures, and what is to be said about the others.
export function admit<T extends Candidate>(chosen: number, candidates: readonly T[]): {accepted: T[]; complaints: string[]} {
  const accepted: T[] = [];
  const complaints: string[] = [];
  let surplus = 0;
  for (const candidate of candidates) {
    if (!pictureTypes.includes(candidate.type)) {
      complaints.push(`“${candidate.name}” is not a JPEG, PNG, GIF or WebP picture.`);
    } else if (candidate.size > pictureBytesMax) {
      complaints.push(`“${candidate.name}” has ${megabytes(candidate.size)}; a picture may have 5 MB.`);
    } else if (candidate.size === 0) {
      complaints.push(`“${candidate.name}” is empty.`);
    } else if (chosen + accepted.length >= picturesMax) {
      ++surplus;
    } else {
      accepted.push(candidate);
    }
  }
  if (surplus > 0) complaints.push(`A post has at most ${picturesMax} pictures: ${surplus === 1 ? 'one was' : `${surplus} were`} left out.`);
  return {accepted, complaints};
}
