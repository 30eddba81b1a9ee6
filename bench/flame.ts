import { escaped } from './plot.js';
import { type Frame, selfTimes } from './profile.tree.js';

const WIDTH = 1400;
const MARGIN = 16;
const ROW = 17;
const TOP = 92;
/** Frames with a smaller share are left out. */
const NARROWEST = 0.002;
/** Width of a character in pixels, and the shortest label in characters. */
const CHARACTER = 6;
const SHORTEST = 3;

const COLOURS = [
  '#f28b66',
  '#7cc79a',
  '#f0c24b',
  '#c3a1f5',
  '#6fcfc2',
  '#e79ab2',
  '#bcc86f',
  '#9db8e0',
  '#d9a679',
];
const FIXED: Readonly<Record<string, string>> = {
  croupier: '#6cb0ff',
  node: '#c4ccd4',
  '(garbage collector)': '#f5b5b0',
};
const OTHERS = '#e4e8ec';

/**
 * A flame graph as an SVG: callers are above their callees, as wide as their share of the time, in the colour of their
 * package; a tooltip has details.
 * @param requests number of requests in the profile; times are shown per request
 */
export function flameGraph(root: Frame, requests: number, title: string): string {
  const colours = coloursOf(root);
  const frames: string[] = [];
  const scale = (WIDTH - 2 * MARGIN) / root.us;
  let deepest = 0;
  const draw = (frame: Frame, leftUs: number, depth: number): void => {
    if (frame.us < root.us * NARROWEST) return;
    deepest = Math.max(deepest, depth);
    frames.push(drawFrame(frame, MARGIN + leftUs * scale, depth, frame.us * scale, colourOf(frame.owner)));
    let at = leftUs;
    for (const child of [...frame.children.values()].sort((a, b) => b.us - a.us)) {
      draw(child, at, depth + 1);
      at += child.us;
    }
  };
  const colourOf = (owner: string) => colours.get(owner) ?? OTHERS;
  const drawFrame = (frame: Frame, x: number, depth: number, width: number, fill: string): string => {
    const y = TOP + depth * ROW;
    const perRequest = (us: number) => `${(us / requests).toFixed(1)} µs`;
    const tooltip = `${frame.name} — ${frame.owner}\n${frame.place}\n${perRequest(frame.us)} per request, ${perRequest(frame.selfUs)} of it self time (${((100 * frame.us) / root.us).toFixed(1)} %)`;
    const room = Math.floor((width - 5) / CHARACTER);
    const name = frame.name.length > room ? `${frame.name.slice(0, room - 1)}…` : frame.name;
    const text =
      room < SHORTEST ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(name)}</text>`;
    return `<g><title>${escaped(tooltip)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(width - 0.5, 0.5).toFixed(1)}" height="${ROW - 1}" rx="1.5" fill="${fill}"/>${text}</g>`;
  };
  draw(root, 0, 0);
  const height = TOP + (deepest + 1) * ROW + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="10.5" fill="#1f2328">
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10" fill="#ffffff" stroke="#d0d7de"/>
<text x="${MARGIN}" y="28" font-size="16" font-weight="600">${escaped(title)}</text>
${legend(colours, root, requests)}
${frames.join('\n')}
</svg>
`;
}

/** A colour for each of the packages that take most of the time. */
function coloursOf(root: Frame): Map<string, string> {
  const owners = selfTimes(root).map(([owner]) => owner);
  const packages = owners.filter((owner) => !(owner in FIXED) && !owner.startsWith('('));
  return new Map([
    ...Object.entries(FIXED),
    ...packages.slice(0, COLOURS.length).map((owner, index) => [owner, COLOURS[index]!] as const),
  ]);
}

/** The colours of the packages and their self times. */
function legend(colours: ReadonlyMap<string, string>, root: Frame, requests: number): string {
  const known = selfTimes(root).filter(([owner]) => colours.has(owner));
  const rest = root.us - known.reduce((sum, [, us]) => sum + us, 0);
  let [x, y] = [MARGIN, 44];
  const entries = [...known, ['others', rest] as const].map(([owner, us]) => {
    const label = `${owner} ${(us / requests).toFixed(0)} µs`;
    const width = 26 + label.length * 6.2;
    if (x + width > WIDTH - MARGIN) [x, y] = [MARGIN, y + 18];
    const entry = `<rect x="${x}" y="${y}" width="11" height="11" rx="2" fill="${colours.get(owner) ?? OTHERS}"/><text x="${x + 16}" y="${y + 9.5}" font-size="11.5">${escaped(label)}</text>`;
    x += width;
    return entry;
  });
  return entries.join('\n');
}
