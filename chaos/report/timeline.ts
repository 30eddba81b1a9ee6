import type { History, Intent } from '../load/history.js';
import type { Run } from '../run.js';

/** Maximum number of intents in the page: first those that a finding names, then those with the most answers. */
const ROWS = 1500;

/**
 * A self-contained page with a row for each instance and party, and for each intent that is shown at the current zoom. The
 * wheel zooms, dragging scrolls.
 */
export function renderTimeline(run: Run, history: History, findings: readonly string[]): string {
  const named = findings.join('\n');
  const isNamed = ({ request }: Intent) => new RegExp(`\\b${request.transactionId}\\b`).test(named);
  const intents = [...history.intents.values()].filter(({ answers }) => answers.length > 0);
  const shown = intents
    .map((intent) => ({
      intent,
      weight: (named !== '' && isNamed(intent) ? 1e6 : 0) + intent.answers.length,
    }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, ROWS)
    .map(({ intent }) => intent)
    .sort((one, other) => one.answers[0]!.sent - other.answers[0]!.sent);
  const firsts = [
    ...intents.map(({ answers }) => answers[0]!.sent),
    ...history.faults.map(({ from }) => from),
  ];
  const start = firsts.reduce((earliest, at) => Math.min(earliest, at), Infinity);
  const data = {
    instances: run.parts.instances,
    faults: history.faults.map(({ fault, from, to }) => ({ ...fault, from: from - start, to: to - start })),
    intents: shown.map(({ request, session, answers }) => ({
      id: request.transactionId,
      kind: request.kind,
      of: `${session.providerId}, ${session.operatorId}, ${session.playerRef}`,
      answers: answers.map(({ sent, answered, instance, status, code, body }) => {
        const outcome = body === undefined ? (code ?? '') : (JSON.parse(body) as { status: string }).status;
        return [sent - start, answered - start, instance, status, outcome];
      }),
    })),
    findings: findings.slice(0, 100),
    left: intents.length - shown.length,
  };
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return PAGE.replace('SEED', String(run.seed)).replace('null/*DATA*/', () => json);
}

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Seed SEED</title>
<style>
  body { font: 13px system-ui, sans-serif; margin: 0; color: #222; background: #fff; }
  header { padding: 8px 12px; border-bottom: 1px solid #ccc; }
  #findings { color: #b00; white-space: pre-wrap; max-height: 8em; overflow: auto; }
  #view { position: relative; height: calc(100vh - 130px); overflow-y: auto; }
  canvas { display: block; }
  #hint { position: fixed; background: #222; color: #fff; padding: 4px 8px; border-radius: 4px; pointer-events: none; display: none; max-width: 60ch; }
  b { font-weight: 600; }
</style></head><body>
<header><b>Faults and intents</b> <span id="about"></span><br>
Wheel: zoom · drag: move · Shift and wheel: rows · green approved, blue declined, yellow 409, orange 500, red no answer
<div id="findings"></div></header>
<div id="view"><canvas id="canvas"></canvas></div><div id="hint"></div>
<script>
const data = null/*DATA*/;
const canvas = document.getElementById('canvas'), view = document.getElementById('view'), hint = document.getElementById('hint');
const context = canvas.getContext('2d');
const ROW = 16, LABEL = 190;
const lanes = [];
for (let n = 0; n < data.instances; n += 1) lanes.push({ name: 'instance ' + n, has: f => (f.instances || []).includes(n) || f.kind === 'rolling-restart' || (f.instance === n && f.link && f.link !== 'wallet') });
lanes.push({ name: 'PostgreSQL', has: f => f.kind.startsWith('database') || f.kind === 'fail-over' });
lanes.push({ name: 'Redis', has: f => f.kind.startsWith('redis') });
lanes.push({ name: 'wallets', has: f => f.link === 'wallet' });
lanes.push({ name: 'names', has: f => f.kind.startsWith('name-') });
lanes.push({ name: 'readers', has: f => f.kind.startsWith('reader') });
const parties = lanes.map(lane => ({ label: lane.name, bars: data.faults.filter(lane.has).map(f => ({ from: f.from, to: Math.max(f.to, f.from + 20), colour: '#a3a', text: f.kind + [f.link, f.name, ...(f.settings || [])].filter(Boolean).map(word => ' ' + word).join('') })) }));
const intents = data.intents.map(intent => ({ label: intent.id, bars: intent.answers.map(([from, to, instance, status, outcome]) => ({ from, to: Math.max(to, from + 1), colour: colourOf(status, outcome), text: intent.kind + ' of ' + intent.of + ': ' + (status || 'no answer') + ' ' + outcome + ', instance ' + instance + ', ' + (to - from) + ' ms' })) }));
let from = 0, to = Math.max(1000, ...[...parties, ...intents].flatMap(row => row.bars.map(bar => bar.to)));
let rows = [];
document.getElementById('about').textContent = data.intents.length + ' intents shown, ' + data.left + ' more in history.jsonl';
document.getElementById('findings').textContent = data.findings.join('\\n');
function colourOf(status, outcome) {
  if (status === 200) return outcome === 'APPROVED' ? '#2a2' : '#36c';
  if (status === 409) return '#cb0';
  return status === 0 ? '#d22' : '#e80';
}
const x = at => LABEL + (at - from) / (to - from) * (canvas.clientWidth - LABEL);
const at = px => from + (px - LABEL) / (canvas.clientWidth - LABEL) * (to - from);
function draw() {
  const ratio = devicePixelRatio || 1, width = view.clientWidth, height = view.clientHeight;
  canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  canvas.width = width * ratio; canvas.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '11px system-ui, sans-serif';
  const visible = Math.ceil(height / ROW) - parties.length;
  const active = intents.filter(({ bars }) => bars.some(bar => bar.from <= to && bar.to >= from));
  first = Math.max(0, Math.min(first, active.length - visible));
  rows = [...parties, ...active.slice(first, first + visible)];
  const step = 10 ** Math.floor(Math.log10((to - from) / 5));
  context.fillStyle = '#eee';
  for (let tick = Math.ceil(from / step) * step; tick < to; tick += step) context.fillRect(x(tick), 0, 1, height);
  context.fillStyle = '#777';
  for (let tick = Math.ceil(from / step) * step; tick < to; tick += step * 5) context.fillText((tick / 1000).toFixed(step < 1000 ? 3 : 0) + ' s', x(tick) + 2, height - 3);
  rows.forEach((row, index) => {
    const y = index * ROW;
    context.fillStyle = '#222'; context.fillText(row.label.slice(0, 32), 4, y + 12);
    for (const bar of row.bars) {
      const left = Math.max(LABEL, x(bar.from)), right = Math.min(width, x(bar.to));
      if (right < LABEL || left > width) continue;
      context.fillStyle = bar.colour; context.fillRect(left, y + 2, Math.max(2, right - left), ROW - 4);
    }
  });
}
let first = 0;
view.addEventListener('wheel', event => {
  event.preventDefault();
  if (event.shiftKey) first += Math.round((event.deltaY || event.deltaX) / ROW);
  else {
    const middle = at(event.offsetX), factor = event.deltaY > 0 ? 1.25 : 0.8;
    from = middle - (middle - from) * factor; to = middle + (to - middle) * factor;
  }
  draw();
}, { passive: false });
let grabbed;
view.addEventListener('mousedown', event => (grabbed = { px: event.offsetX, py: event.offsetY, from, to, first }));
addEventListener('mouseup', () => (grabbed = undefined));
view.addEventListener('mousemove', event => {
  if (grabbed) {
    const moved = (event.offsetX - grabbed.px) / (canvas.clientWidth - LABEL) * (grabbed.to - grabbed.from);
    from = grabbed.from - moved; to = grabbed.to - moved;
    first = grabbed.first - Math.round((event.offsetY - grabbed.py) / ROW);
    return draw();
  }
  const row = rows[Math.floor(event.offsetY / ROW)], time = at(event.offsetX);
  const slack = (to - from) / 400;
  const bar = row && row.bars.find(bar => bar.from - slack <= time && time <= bar.to + slack);
  hint.style.display = bar ? 'block' : 'none';
  if (bar) { hint.textContent = row.label + ': ' + bar.text + ' (' + (bar.from / 1000).toFixed(3) + ' s)'; hint.style.left = Math.min(event.clientX + 12, innerWidth - 400) + 'px'; hint.style.top = event.clientY + 12 + 'px'; }
});
addEventListener('resize', draw);
draw();
</script></body></html>
`;
