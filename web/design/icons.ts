// Line icons on a grid of 24, drawn for Hearth. Inlined rather than in files, so that they take the text's colour.

const svgNamespace = 'http://www.w3.org/2000/svg';

const paths = {
  alert: 'M12 4 2.8 19.5h18.4zM12 10v4.5M12 17v.2',
  back: 'M15 5.5 8.5 12 15 18.5',
  check: 'M5 12.5 10 17.5 19.5 7',
  close: 'M6 6 18 18M18 6 6 18',
  comments: 'M4.5 5.5h15v10.5h-8.5L6.5 20v-4H4.5z',
  copy: 'M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1',
  edit: 'M4.5 19.5v-4L15.8 4.2l4 4L8.5 19.5zM13 7l4 4',
  heart: 'M12 20C5.5 15.3 3.2 12 3.2 8.8A4.6 4.6 0 0 1 12 6.9a4.6 4.6 0 0 1 8.8 1.9c0 3.2-2.3 6.5-8.8 11.2z',
  help: 'M9.2 9.2a2.9 2.9 0 1 1 4.3 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.6v.2',
  hide: 'M4 4 20 20M10 6.2A9 9 0 0 1 12 6c4.5 0 7.6 3.3 9 6a15 15 0 0 1-2.2 3M6.3 7.8A14 14 0 0 0 3 12c1.4 2.7 4.5 6 9 6a9 9 0 0 0 4.2-1.1',
  home: 'M4 11 12 4l8 7v8.5h-5.5v-5.5h-5v5.5H4z',
  images: 'M7.5 4.5h12v12h-12zM4.5 8v11.5H16M10.5 13.5l2.5-3 2 2.2 1.5-1.5 3 3.3',
  moon: 'M19.5 14.2A8 8 0 0 1 9.8 4.5 8 8 0 1 0 19.5 14.2z',
  next: 'M9 5.5 15.5 12 9 18.5',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5a7.5 7.5 0 0 1 15 0',
  plug: 'M9 3.5v4M15 3.5v4M6.5 7.5h11v3.5a5.5 5.5 0 0 1-11 0zM12 16.5v4',
  plus: 'M12 5v14M5 12h14',
  refresh: 'M19.5 5v4.5H15M19 9.5A7.6 7.6 0 1 0 19.6 13',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.3 15.3 20.5 20.5',
  signOut: 'M14 4.5H5v15h9M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.8v1.7M12 19.5v1.7M2.8 12h1.7M19.5 12h1.7M5.5 5.5l1.2 1.2M17.3 17.3l1.2 1.2M5.5 18.5l1.2-1.2M17.3 6.7l1.2-1.2',
  trash: 'M4.5 6.5h15M9.5 6.5V4h5v2.5M6.5 6.5l.8 13.5h9.4l.8-13.5M10.2 10.5v6M13.8 10.5v6',
  tray: 'M3.5 14 6.5 5.5h11L20.5 14v4.5h-17zM3.5 14h5l1 2h5l1-2h5',
} as const;

export type IconName = keyof typeof paths;

function shape(tag: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function icon(name: IconName, size = 20): SVGElement {
  const svg = shape('svg', {
    viewBox: '0 0 24 24',
    width: String(size),
    height: String(size),
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': '1.75',
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
    'aria-hidden': 'true',
  });
  svg.append(shape('path', {d: paths[name]}));
  return svg;
}

// Hearth's logo: a fire in a fireplace. Decorative: the name is always next to it.
export function mark(): SVGElement {
  const svg = shape('svg', {viewBox: '0 0 32 32', class: 'mark', 'aria-hidden': 'true'});
  svg.append(
    shape('path', {class: 'arch', d: 'M3 27V15a13 13 0 0 1 26 0v12a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z'}),
    shape('path', {
      class: 'flame',
      d: 'M16.6 6.5c.5 4.2 6.4 6.6 6.4 13.1 0 4.3-3 7.4-7 7.4s-7-3-7-7c0-3.2 1.9-5 3.2-6.9.5 1.5 1.2 2.3 2.2 2.8-.3-3.6.3-6.9 2.2-9.4z',
    }),
    shape('path', {
      class: 'core',
      d: 'M16.2 17.5c.4 2 3.1 3 3.1 5.7 0 2-1.4 3.4-3.3 3.4s-3.3-1.4-3.3-3.2c0-2.2 2.4-3.2 3.5-5.9z',
    }),
  );
  return svg;
}
