import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Schema } from '../../api/schemas.ts';
import { LOCALE, overview as words } from '../../strings.ts';

type Minute = Schema<'OverviewMinute'>;
type Count = 'bets' | 'wins' | 'declined' | 'undecided';

const HEIGHT = 110;

/** The last hour, a small plot for each count, all with the same minutes. */
export function Minutes({ perMinute }: { readonly perMinute: readonly Minute[] }) {
  return (
    <section class="multiples" aria-label={words.perMinuteTitle}>
      <Multiple perMinute={perMinute} count="bets" title={words.bets} />
      <Multiple perMinute={perMinute} count="wins" title={words.wins} />
      <Multiple perMinute={perMinute} count="declined" title={words.declined} />
      <Multiple perMinute={perMinute} count="undecided" title={words.undecided} alarming />
    </section>
  );
}

interface MultipleProps {
  readonly perMinute: readonly Minute[];
  readonly count: Count;
  readonly title: string;
  /** Whether each of these is bad news. */
  readonly alarming?: boolean;
}

function Multiple({ perMinute, count, title, alarming = false }: MultipleProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const values = perMinute.map((minute) => minute[count]);
  const sum = values.reduce((total, value) => total + value, 0);
  useEffect(() => {
    const element = place.current!;
    plot.current = new uPlot(options(element.clientWidth, alarming), [[], []], element);
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    // The colours are read from the style when the plot is drawn.
    const colours = new MutationObserver(() => plot.current?.redraw());
    colours.observe(document.documentElement, { attributeFilter: ['data-bs-theme'] });
    return () => {
      resized.disconnect();
      colours.disconnect();
      plot.current?.destroy();
    };
  }, [alarming]);
  useEffect(() => {
    plot.current?.setData([perMinute.map(({ minute }) => Date.parse(minute) / 1_000), values]);
  });
  // The minute that is under way is not complete.
  const [last = 0] = values.slice(-2);
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong>{' '}
        <span class={alarming && sum > 0 ? 'alarm' : 'text-body-secondary'}>
          {words.perMinuteSum(last, sum)}
        </span>
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

function options(width: number, alarming: boolean): uPlot.Options {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const line = () => colour(alarming ? '--attention' : '--bs-link-color');
  const axis: uPlot.Axis = {
    stroke: () => colour('--bs-secondary-color'),
    grid: { stroke: () => colour('--bs-border-color'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(4, most * 1.1)] } },
    series: [
      {},
      { stroke: line, width: 2, points: { show: false }, paths: uPlot.paths.stepped!({ align: 1 }) },
    ],
    axes: [
      { ...axis, size: 24, values: (_plot, times) => times.map((time) => CLOCK.format(time * 1_000)) },
      {
        ...axis,
        size: 44,
        incrs: WHOLE,
        values: (_plot, counts) => counts.map((count) => COMPACT.format(count)),
      },
    ],
  };
}

const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' });
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact' });
/** Half a transaction has no line. */
const WHOLE = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 9 }, (_, power) => digit * 10 ** power))
  .sort((a, b) => a - b);
