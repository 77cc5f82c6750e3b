import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface ChartProps {
  /** Describes the chart for screen readers. */
  label: string;
  /** Unix seconds, ascending. */
  times: number[];
  values: number[];
  /** The red part at the foot of each bar, which `values` includes. */
  bad?: number[] | undefined;
  format: (value: number) => string;
  /** Formats the label of a time, in Unix milliseconds. */
  timeFormat: (ms: number) => string;
}

const HEIGHT = 132;
/** The steps of the scale are whole numbers, because counts have no fractions. */
const WHOLE = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((n) => n * 10 ** power),
).flat();

/** Draws bars over time in the colours of the theme. */
export function Chart({ label, times, values, bad, format, timeFormat }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const draw = () => plotIn(element, { label, times, values, bad, format, timeFormat });
    let plot = draw();
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    const themed = new MutationObserver(() => {
      plot.destroy();
      plot = draw();
    });
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      plot.destroy();
    };
  }, [times, values, bad, label, format, timeFormat]);
  const sum = values.reduce((all, value) => all + value, 0);
  return (
    <figure>
      <div
        ref={frame}
        className="chart"
        role="img"
        aria-label={`${label}: ${format(sum)} in total`}
      />
    </figure>
  );
}

function plotIn(
  element: HTMLElement,
  { label, times, values, bad, format, timeFormat }: ChartProps,
): uPlot {
  const colour = (name: string) =>
    getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = {
    stroke: colour('--muted'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  const drawn = { ...(bars && { paths: bars }), points: { show: false } };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { show: false },
      legend: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          values: (_, splits) => splits.map((seconds) => timeFormat(seconds * 1000)),
        },
        { ...axis, size: 48, incrs: WHOLE, values: (_, splits) => splits.map(format) },
      ],
      series: [
        {},
        { label, fill: colour('--accent'), ...drawn },
        ...(bad ? [{ label: 'Failed', fill: colour('--red'), ...drawn }] : []),
      ],
    },
    bad ? [times, values, bad] : [times, values],
    element,
  );
}
