// Previews of files. Drawn on a canvas, because the page's policy allows only pictures from its server.

const sidePixels = 320;
let queue: Promise<unknown> = Promise.resolve();

// Fills the square. Rejects if the file is not a picture. One at a time: a large one takes a hundred megabytes while it
// is drawn.
export function preview(file: File, canvas: HTMLCanvasElement): Promise<void> {
  const drawn = queue.then(() => draw(file, canvas));
  queue = drawn.catch(() => undefined);
  return drawn;
}

async function draw(file: File, canvas: HTMLCanvasElement) {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  canvas.width = canvas.height = sidePixels;
  canvas
    .getContext('2d')
    ?.drawImage(
      bitmap,
      (bitmap.width - side) / 2,
      (bitmap.height - side) / 2,
      side,
      side,
      0,
      0,
      sidePixels,
      sidePixels,
    );
  bitmap.close();
}
