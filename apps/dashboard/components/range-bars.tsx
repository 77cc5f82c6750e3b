import { type Bar, barsOf, type CostGroup, type Measured } from '../domain/change-costs.js';
import { stripControls } from '../domain/format.js';
import { Panel } from './parts.js';

interface RangeBarsProps {
  title: string;
  groups: readonly CostGroup[];
  measure: Measured;
  format: (value: string | number) => string;
}

/** The ranges of single changes of each group, on one scale. */
export function RangeBars({ title, groups, measure, format }: RangeBarsProps) {
  const bars = barsOf(groups, measure);
  return (
    <Panel title={title}>
      <ul className="ranges">
        {groups.map((group, index) => {
          const bar = bars[index];
          const range = group.ranges?.[measure];
          if (!bar || !range) return null;
          const name = nameOfGroup(group);
          const words = `${format(range.p50)} (${format(range.p10)} to ${format(range.p90)})`;
          return (
            <li key={group.key}>
              <bdi className="clip" title={name}>
                {name}
              </bdi>
              <RangeBar bar={bar} label={`${name}: ${words}, ${group.merged} merged`} />
              <span className="nowrap">{words}</span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function RangeBar({ bar: { start, median, end }, label }: { bar: Bar; label: string }) {
  return (
    <span className="range" role="img" aria-label={label}>
      <span className="spread" style={{ left: `${start}%`, width: `${end - start}%` }} />
      <span className="median" style={{ left: `${median}%` }} />
    </span>
  );
}

export function nameOfGroup({ name, key }: CostGroup): string {
  return stripControls(name ?? key ?? 'Unknown');
}
