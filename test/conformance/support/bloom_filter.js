// Membership in a google.firestore.v1.BloomFilter.

import {createHash} from 'node:crypto';

export function mayContain({bits, hashCount = 0}, name) {
  const {bitmap = Buffer.alloc(0), padding = 0} = bits ?? {};
  const size = BigInt(bitmap.length * 8 - padding);
  if (size === 0n) return false;
  const digest = createHash('md5').update(name).digest();
  const [first, second] = [digest.readBigUInt64LE(0), digest.readBigUInt64LE(8)];
  for (let i = 0n; i < BigInt(hashCount); ++i) {
    const bit = Number(BigInt.asUintN(64, first + i * second) % size);
    if (!((bitmap[bit >> 3] >> (bit & 7)) & 1)) return false;
  }
  return true;
}
