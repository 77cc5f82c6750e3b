import { useRouter } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { plainOf } from '../domain/format.js';
import { LOOKS, type Task } from '../domain/status.js';
import { wordOf } from './badge.js';
import { Loaded, Panel } from './parts.js';

type Neighbour = components['schemas']['NeighbourDto'];

const BOX = { width: 190, height: 40, gap: 10, between: 60 };
/** So many are drawn on each side. */
const DRAWN = 12;

/** The stream tells of the task itself, and not of its neighbours. */
const EVERY_MS = 10_000;

/** What the task waits for, and what waits for it, drawn from left to right. */
export function TaskGraph({ task }: { task: Task }) {
  const { id } = task;
  const neighbours = useRead(
    ['task', id, 'dependencies'],
    (api, signal) => {
      const params = { path: { id }, query: { limit: 50 } };
      return api.get('/api/v1/agent-tasks/{id}/dependencies', { params, signal });
    },
    { every: EVERY_MS },
  );
  const isAlone = neighbours.data?.dependsOn.length === 0 && neighbours.data.blocks.length === 0;
  if (isAlone) return null;
  return (
    <Panel title="Dependencies">
      <Loaded query={neighbours}>
        {({ dependsOn, blocks }) => <Drawing task={task} before={dependsOn} after={blocks} />}
      </Loaded>
    </Panel>
  );
}

interface Placed {
  x: number;
  y: number;
}

function Drawing({ task, before, after }: { task: Task; before: Neighbour[]; after: Neighbour[] }) {
  const rows = Math.max(1, Math.min(DRAWN, before.length), Math.min(DRAWN, after.length));
  const height = rows * (BOX.height + BOX.gap) + BOX.gap;
  const xOf = (column: number) => 1 + column * (BOX.width + BOX.between);
  const offset = before.length > 0 ? 1 : 0;
  const width = xOf(offset + (after.length > 0 ? 1 : 0)) + BOX.width + 1;
  const self = { x: xOf(offset), y: (height - BOX.height) / 2 };
  const placed = (list: Neighbour[], column: number) =>
    list.slice(0, DRAWN).map((neighbour, index) => {
      const all = Math.min(DRAWN, list.length) * (BOX.height + BOX.gap) - BOX.gap;
      const y = (height - all) / 2 + index * (BOX.height + BOX.gap);
      return { neighbour, place: { x: xOf(column), y } };
    });
  const left = placed(before, 0);
  const right = placed(after, offset + 1);
  const hidden = before.length - left.length + (after.length - right.length);
  return (
    <div className="graph" tabIndex={0} role="group" aria-label="Graph of dependencies">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {left.map(({ neighbour, place }) => (
          <Edge key={neighbour.taskId} from={place} to={self} />
        ))}
        {right.map(({ neighbour, place }) => (
          <Edge key={neighbour.taskId} from={self} to={place} />
        ))}
        <g className="self">
          <Box place={self} title={task.title} status={task.status} />
        </g>
        {[...left, ...right].map(({ neighbour, place }) => (
          <Node key={neighbour.taskId} neighbour={neighbour} place={place} />
        ))}
      </svg>
      {hidden > 0 && <p className="muted">{hidden} more are not drawn.</p>}
    </div>
  );
}

function Node({ neighbour, place }: { neighbour: Neighbour; place: Placed }) {
  const router = useRouter();
  const { taskId, title, status } = neighbour;
  const target = { to: '/tasks/$id', params: { id: taskId } } as const;
  return (
    <a
      href={router.buildLocation(target).href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void router.navigate(target);
      }}
    >
      <Box place={place} title={title} status={status} />
    </a>
  );
}

function Box({ place: { x, y }, title, status }: { place: Placed; title: string; status: string }) {
  const plain = plainOf(title);
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <text x="10" y="17">
        {plain.length > 26 ? `${plain.slice(0, 25)}…` : plain}
      </text>
      <text x="10" y="32" className={`ink-text ink-${LOOKS[status]?.tone ?? 'gray'}`}>
        {wordOf(status)}
      </text>
    </g>
  );
}

function Edge({ from, to }: { from: Placed; to: Placed }) {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return <path d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
}
