import type { Name } from './contestants.js';
import type { Case, Measured } from './measure.js';
import { milliseconds, whole } from './report.js';
import type { Results } from './results.js';

const WIDTH = 1060;
const HEIGHT = 430;
/** The baseline of all bars, and the height of the highest. */
const GROUND = 346;
const TALLEST = 196;

const LABELS: Record<Name, string> = {
  service: 'Croupier',
  traced: 'Croupier with tracing',
  watched: 'Croupier with 200 streams',
  previous: 'Croupier before',
  floor: 'the floor: the minimum that the contract requires',
  lean: 'the lean floor',
  usual: 'the usual stack: NestJS as in a tutorial',
};
const COLOURS: Record<Name, { full: string; pale: string }> = {
  service: { full: '#1f6feb', pale: '#a5c8fb' },
  traced: { full: '#1a7f37', pale: '#aceebb' },
  watched: { full: '#8250df', pale: '#ecd8ff' },
  previous: { full: '#8250df', pale: '#d8b9ff' },
  floor: { full: '#6e7781', pale: '#c8ced4' },
  lean: { full: '#32383f', pale: '#afb8c1' },
  usual: { full: '#d9822b', pale: '#f3cf9f' },
};

/** A bar of two parts: the lower one in full colour, the upper one pale. */
interface Bar {
  readonly name: Name;
  readonly full: number;
  readonly whole: number;
  readonly label: string;
  readonly title: string;
}

interface Group {
  readonly label: string;
  readonly bars: readonly Bar[];
}

interface Panel {
  readonly left: number;
  readonly width: number;
  readonly title: string;
  readonly subtitle: string;
  readonly axis: string;
  readonly groups: readonly Group[];
}

/** BETs of all contestants: throughput and CPU over connections, and latency at a low rate, as an SVG. */
export function draw(results: Results): string {
  const bets = results.cases.filter(({ workload }) => workload === 'BET');
  const closed = bets.filter(({ connections }) => connections !== undefined);
  const slowest = bets.filter(({ pace }) => pace !== undefined).sort((a, b) => a.pace! - b.pace!)[0];
  const panels: Panel[] = [
    {
      left: 30,
      width: 370,
      title: 'Throughput',
      subtitle: 'BETs per second; more is better',
      axis: 'connections',
      groups: closed.map((each) => groupOf(each, throughput)),
    },
    {
      left: 430,
      width: 370,
      title: 'CPU for each BET',
      subtitle: 'microseconds: server, pale PostgreSQL; less is better',
      axis: 'connections',
      groups: closed.map((each) => groupOf(each, cpu)),
    },
    {
      left: 830,
      width: 200,
      title: 'Latency',
      subtitle: 'ms: p50, pale p99; less is better',
      axis: 'arrivals at a fixed rate',
      groups: slowest ? [groupOf(slowest, latency)] : [],
    },
  ];
  const { cores, node, postgres } = results.machine;
  const caption = `${cores} cores for the server, PostgreSQL ${postgres}, operator and load together; Node ${node}; synchronous_commit ${results.settings['synchronous_commit']}; ${results.at.slice(0, 10)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" fill="#1f2328">
<title>BET: Croupier, the floors and the usual stack</title>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10" fill="#ffffff" stroke="#d0d7de"/>
${legend(results.contestants)}
${panels.map(drawPanel).join('\n')}
<text x="30" y="${HEIGHT - 16}" font-size="11" fill="#656d76">${escaped(caption)}</text>
</svg>
`;
}

function groupOf(measured: Case, barOf: (measured: Measured) => Omit<Bar, 'name'>): Group {
  const label =
    measured.pace === undefined ? String(measured.connections) : `${measured.pace} BETs per second`;
  return { label, bars: measured.of.map((each) => ({ name: each.name, ...barOf(each) })) };
}

function throughput({ perSecond, ratio }: Measured): Omit<Bar, 'name'> {
  return {
    full: perSecond,
    whole: perSecond,
    label: whole(perSecond),
    title: `${whole(perSecond)}/s, ${ratio.throughput.toFixed(2)} of the floor`,
  };
}

function cpu({ serverCpu, postgresCpu }: Measured): Omit<Bar, 'name'> {
  const both = serverCpu + postgresCpu;
  const title = `server ${whole(serverCpu)} µs, PostgreSQL ${whole(postgresCpu)} µs`;
  return { full: serverCpu, whole: both, label: whole(both), title };
}

function latency({ p50, p99, p999 }: Measured): Omit<Bar, 'name'> {
  const [first, second, third] = [p50, p99, p999].map(milliseconds);
  const title = `p50 ${first} ms, p99 ${second} ms, p99.9 ${third} ms`;
  return { full: p50, whole: p99, label: `${first} · ${second}`, title };
}

function legend(names: readonly Name[]): string {
  let x = 30;
  return names
    .map((name) => {
      const entry = `<rect x="${x}" y="20" width="12" height="12" rx="2" fill="${COLOURS[name].full}"/><text x="${x + 18}" y="30.5" font-size="13">${LABELS[name]}</text>`;
      x += 52 + LABELS[name].length * 6.4;
      return entry;
    })
    .join('\n');
}

function drawPanel({ left, width, title, subtitle, axis, groups }: Panel): string {
  const highest = Math.max(1e-9, ...groups.flatMap(({ bars }) => bars.map((bar) => bar.whole)));
  const step = width / Math.max(1, groups.length);
  const gap = 14;
  const barWidth = (step - gap) / Math.max(1, groups[0]?.bars.length ?? 1);
  const drawn = groups.map((group, index) => {
    const start = left + index * step + gap / 2;
    const bars = group.bars.map((bar, n) =>
      drawBar(bar, start + n * barWidth, barWidth, TALLEST / highest, groups.length > 1 ? 9.5 : 11),
    );
    const label = `<text x="${left + (index + 0.5) * step}" y="${GROUND + 18}" font-size="12" text-anchor="middle">${group.label}</text>`;
    return [...bars, label].join('\n');
  });
  return `<text x="${left}" y="72" font-size="16" font-weight="600">${title}</text>
<text x="${left}" y="92" font-size="12" fill="#656d76">${subtitle}</text>
${drawn.join('\n')}
<line x1="${left}" y1="${GROUND}" x2="${left + width}" y2="${GROUND}" stroke="#8c959f"/>
<text x="${left + width / 2}" y="${GROUND + 36}" font-size="12" fill="#656d76" text-anchor="middle">${axis}</text>`;
}

function drawBar(bar: Bar, x: number, width: number, scale: number, fontSize: number): string {
  const { full, pale } = COLOURS[bar.name];
  const part = (from: number, to: number, fill: string) =>
    `<rect x="${(x + 1).toFixed(1)}" y="${(GROUND - to * scale).toFixed(1)}" width="${(width - 2).toFixed(1)}" height="${((to - from) * scale).toFixed(1)}" fill="${fill}"/>`;
  const label = `<text x="${(x + width / 2).toFixed(1)}" y="${(GROUND - bar.whole * scale - 5).toFixed(1)}" font-size="${fontSize}" text-anchor="middle">${bar.label}</text>`;
  const parts = part(0, bar.full, full) + (bar.whole > bar.full ? part(bar.full, bar.whole, pale) : '');
  return `<g><title>${escaped(bar.title)}</title>${parts}${label}</g>`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
