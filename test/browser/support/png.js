// Generated pictures: a PNG of one colour, with a stripe that makes it unique.

import {deflateSync} from 'node:zlib';

const crcTable = Array.from({length: 256}, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc(bytes) {
  let c = ~0;
  for (const byte of bytes) c = crcTable[(c ^ byte) & 0xff] ^ (c >>> 8);
  return ~c >>> 0;
}

function chunk(type, content) {
  const typed = Buffer.concat([Buffer.from(type), content]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(content.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc(typed), typed.length + 4);
  return framed;
}

export function png(width, height, [red, green, blue] = [200, 120, 80]) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // Eight bits per colour.
  const row = Buffer.alloc(1 + width * 3);
  const rows = Array.from({length: height}, (_, y) => {
    const line = Buffer.from(row);
    for (let x = 0; x < width; ++x) line.set(y < height / 8 ? [blue, red, green] : [red, green, blue], 1 + x * 3);
    return line;
  });
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
